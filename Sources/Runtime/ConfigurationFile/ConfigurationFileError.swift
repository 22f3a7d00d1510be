/// What is wrong with a configuration: as much of it at once as can be told.
public struct ConfigurationFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One fault.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The line, from 1; `nil` where it is the file as a whole.
        public let line: Int?
        /// What is wrong there.
        public let reason: String

        /// A fault in a line.
        public init(line: Int?, _ reason: String) {
            self.line = line
            self.reason = reason
        }

        /// `3: reason`
        public var description: String { line.map { "\($0): \(reason)" } ?? reason }
    }

    /// The file, as it was named.
    public let path: String
    /// By line; never empty.
    public let problems: [Problem]

    /// Faults of a file.
    public init(path: String, _ problems: [Problem]) {
        self.path = path
        self.problems = problems
    }

    /// `file:line: reason` for each.
    public var lines: [String] { problems.map { "\(path):\($0.line == nil ? " " : "")\($0)" } }

    /// All of them in one line.
    public var description: String { lines.joined(separator: "; ") }
}

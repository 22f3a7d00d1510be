/// Why a text is no document, or none that is read here.
public struct YAMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int
    /// What is wrong there.
    public let reason: String

    /// A fault at a place.
    public init(line: Int, column: Int, _ reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    /// `3:7: reason`
    public var description: String { "\(line):\(column): \(reason)" }
}

/// What a document may be at most.
public enum YAMLLimits {
    /// Bytes of the text.
    public static let bytesMax = 1 << 20
    /// Lists and maps within one another.
    public static let depthMax = 16
}

import Linux

/// A program of the system, run to its end.
public enum Tool {
    /// Its standard output; throws where it does not end with 0.
    @discardableResult
    public static func run(_ line: [String], input: [UInt8]? = nil) throws -> [UInt8] {
        guard let path = path(of: line[0]) else {
            throw StackFailure("there is no \(line[0]): run scripts/setup")
        }
        let end = try CommandLineRun(
            line: [path] + line.dropFirst(), environment: [:], input: input
        ).end()
        guard end.exitStatus == 0 else { throw StackFailure("\(line[0]): \(end)") }
        return end.output
    }

    /// Where it lies; nil where it is not on this machine.
    static func path(of name: String) -> String? {
        ["/usr/bin", "/usr/sbin"].map { "\($0)/\(name)" }
            .first { (try? FileDescriptor.open($0)) != nil }
    }
}

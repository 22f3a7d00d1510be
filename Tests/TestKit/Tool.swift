import Linux

/// Runs programs of the system to completion.
public enum Tool {
    /// Runs a program and returns its standard output; throws if it doesn't exit with 0. The
    /// timeout is generous: on a busy machine an encoder may take minutes.
    @discardableResult
    public static func run(_ line: [String], input: [UInt8]? = nil) throws -> [UInt8] {
        let end = try CommandLineRun(
            line: [path(of: line[0])] + line.dropFirst(), environment: [:], input: input
        ).end(timeout: .seconds(600))
        guard end.exitStatus == 0 else { throw StackFailure("\(line[0]): \(end)") }
        return end.output
    }

    /// The same as text.
    public static func text(_ line: [String], input: [UInt8]? = nil) throws -> String {
        String(decoding: try run(line, input: input), as: UTF8.self)
    }

    /// The path of a program. Throws a `StackFailure` of one line with its name if it isn't
    /// installed.
    static func path(of name: String) throws -> String {
        let places = ["/usr/bin", "/usr/sbin"].map { "\($0)/\(name)" }
        guard let path = places.first(where: { (try? FileDescriptor.open($0)) != nil }) else {
            throw StackFailure("\(name) is not installed: run scripts/setup --test")
        }
        return path
    }
}

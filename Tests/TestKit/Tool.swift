import Linux

/// A program of the system, run to its end.
public enum Tool {
    /// Its standard output; throws if it does not end with 0. An encoder that others keep from the
    /// processors may take minutes; the limit ends what hangs.
    @discardableResult
    public static func run(_ line: [String], input: [UInt8]? = nil) throws -> [UInt8] {
        let end = try CommandLineRun(
            line: [path(of: line[0])] + line.dropFirst(), environment: [:], input: input
        ).end(timeout: .seconds(600))
        guard end.exitStatus == 0 else { throw StackFailure("\(line[0]): \(end)") }
        return end.output
    }

    /// Where it lies. Throws a `StackFailure` of one line, which names it, if it is not on this
    /// machine.
    static func path(of name: String) throws -> String {
        let places = ["/usr/bin", "/usr/sbin"].map { "\($0)/\(name)" }
        guard let path = places.first(where: { (try? FileDescriptor.open($0)) != nil }) else {
            throw StackFailure("\(name) is not installed: run scripts/setup --test")
        }
        return path
    }
}

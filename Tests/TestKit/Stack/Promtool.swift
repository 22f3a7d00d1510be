import Linux

/// `promtool check metrics`, from PATH or where `scripts/promtool` installs it.
public enum Promtool {
    /// The path of promtool; nil if it isn't installed.
    public static let path: String? = {
        let folders = (CurrentProcess.environment("PATH") ?? "").split(separator: ":")
        let places =
            folders.map { "\($0)/promtool" } + [RepositoryRoot.file(".build/tools/promtool")]
        return places.first { (try? FileDescriptor.open($0)) != nil }
    }()

    /// The warnings and errors for an exposition, lint included; empty if there are none.
    public static func check(_ text: String) throws -> String {
        guard let path else { throw StackFailure("there is no promtool") }
        let run = try CommandLineRun(
            line: [path, "check", "metrics"], environment: [:], input: Array(text.utf8))
        let end = try run.end()
        return end.exitStatus == 0 && end.errorText.isEmpty && end.output.isEmpty
            ? "" : "\(end)"
    }
}

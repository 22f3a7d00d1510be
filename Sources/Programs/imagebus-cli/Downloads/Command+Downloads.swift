import CommandLineInterface
import StackAccess

extension Command {
    static let downloads = Command(
        name: "downloads",
        summary: "let no download begin for a while, or let them go on",
        usage: "suspend | resume [options]",
        operands: [.words(["suspend", "resume"])],
        options: [("", OperatorOptions.definitions)],
        notes: """
            While downloads are suspended, those that run go on, and those that wait keep waiting,
            each within the timeout of its request; what the caches have is delivered. imagebus
            status and the metrics say so. It lasts until resume, or until the coordinator ends.
            """,
        examples: [
            ("imagebus downloads suspend", "such as while an origin is maintained"),
            ("imagebus downloads resume", "what waited begins"),
        ])
}

import CommandLineInterface
import Messages
import StackAccess

extension Command {
    static let drain = Command(
        name: "drain",
        summary: "replace the processes of one kind, without losing a request",
        usage: "KIND|KIND/POOL [options]",
        operands: [.words(WorkerKind.allCases.map(\.name))],
        options: [("", OperatorOptions.definitions)],
        notes: """
            KIND is coordinator, download, cache, decode or transform, and POOL one pool of it, as
            imagebus status shows it. The processes that are meant take nothing new, finish what
            they hold, write what is unwritten, and end; their supervisors start the next ones at
            once. Waits until these are there, 8 s at most: then it ends with 124, and says what is
            missing. What a process cannot finish in that time another one begins again, within the
            request's own timeout.
            """,
        examples: [
            ("imagebus drain decode", "such as after an update of the programs"),
            ("imagebus drain decode/raw", "the pool raw of the configuration alone"),
            ("imagebus drain coordinator", "clients send the next one what this one refused"),
        ])
}

import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus drain`: replaces the processes of one kind.
enum DrainTool {
    /// All of it (SEMANTICS §14.10).
    private static let limitMilliseconds = 8_000
    private static let pause = Duration.milliseconds(20)

    static func run(_ options: DrainOptions) -> Int32 {
        OperatorQuery.run("drain") { try text(options) }
    }

    private static func text(_ options: DrainOptions) throws -> String {
        let kind = options.kind
        let replaced = try OperatorQuery.ask(
            options.stack, milliseconds: limitMilliseconds + OperatorQuery.answerMilliseconds
        ) { client throws(ImageError) in try await replace(kind, client) }
        if options.stack.printsJSON {
            return try JSONText.text(DrainAnswer(kind: kind.name, replaced: replaced))
        }
        return sentence(kind, replaced: replaced)
    }

    private static func replace(
        _ kind: WorkerKind, _ client: ImagebusClient
    ) async throws(ImageError) -> Int {
        let before = try await client.status()
        let told = Int(try await client.drain(kind))
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: .milliseconds(limitMilliseconds))
        while true {
            let missing = missing(kind, told: told, before, try await client.status())
            if missing == 0 { return told }
            guard clock.now < deadline else {
                throw ImageError(
                    .deadlineExceeded,
                    "\(missing) of \(told) \(kind.name) processes were not replaced within "
                        + "\(limitMilliseconds / 1_000) s; see imagebus status")
            }
            // Ends early only with the task, of which nobody waits then.
            try? await Task.sleep(for: pause)
        }
    }

    /// How many of the processes that were told to end still run, or have no successor yet.
    static func missing(
        _ kind: WorkerKind, told: Int, _ before: StatusReport, _ now: StatusReport
    ) -> Int {
        let rows = now.processes.filter { $0.kind == kind }
        if kind == .coordinator {
            let old = before.processes.filter { $0.kind == kind }.map(\.restarts)
            return rows.map(\.restarts) == old ? told : 0
        }
        let leaving = rows.count { $0.state == "draining" }
        let wanted = before.processes.count { $0.kind == kind && $0.state != "draining" }
        return min(told, max(leaving, wanted - (rows.count - leaving)))
    }

    static func sentence(_ kind: WorkerKind, replaced: Int) -> String {
        switch replaced {
        case 0: "there was no \(kind.name) process\n"
        case 1: "replaced 1 \(kind.name) process\n"
        default: "replaced \(replaced) \(kind.name) processes\n"
        }
    }
}

/// What `drain --json` prints.
struct DrainAnswer: Encodable {
    let kind: String
    let replaced: Int
}

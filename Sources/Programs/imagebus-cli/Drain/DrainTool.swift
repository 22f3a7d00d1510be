import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus drain`: replaces the processes of one kind, or of one pool of it.
enum DrainTool {
    /// All of it (SEMANTICS §14.10).
    private static let limitMilliseconds = 8_000
    private static let pause = Duration.milliseconds(20)

    static func run(_ options: DrainOptions) -> Int32 {
        OperatorQuery.run("drain") { try text(options) }
    }

    private static func text(_ options: DrainOptions) throws -> String {
        let target = options.target
        let replaced = try OperatorQuery.ask(
            options.stack, milliseconds: limitMilliseconds + OperatorQuery.answerMilliseconds
        ) { client throws(ImageError) in try await replace(target, client) }
        if options.stack.printsJSON {
            return try JSONText.text(
                DrainAnswer(
                    kind: target.kind.name, pool: target.pool?.text, replaced: replaced))
        }
        return sentence(target, replaced: replaced)
    }

    private static func replace(
        _ target: DrainTarget, _ client: ImagebusClient
    ) async throws(ImageError) -> Int {
        let before = try await client.status()
        try target.check(in: before)
        let told = Int(try await client.drain(target.kind, pool: target.pool))
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: .milliseconds(limitMilliseconds))
        while true {
            let missing = missing(target, told: told, before, try await client.status())
            if missing == 0 { return told }
            guard clock.now < deadline else {
                throw ImageError(
                    .deadlineExceeded,
                    "\(missing) of \(told) \(target.name) processes were not replaced within "
                        + "\(limitMilliseconds / 1_000) s; see imagebus status")
            }
            // Ends early only with the task, of which nobody waits then.
            try? await Task.sleep(for: pause)
        }
    }

    /// How many of the processes that were told to end still run, or have no successor yet.
    static func missing(
        _ target: DrainTarget, told: Int, _ before: StatusReport, _ now: StatusReport
    ) -> Int {
        let rows = now.processes.filter(target.includes)
        let old = before.processes.filter(target.includes)
        if target.kind == .coordinator {
            return rows.map(\.restarts) == old.map(\.restarts) ? told : 0
        }
        let leaving = rows.count { $0.state == "draining" }
        let wanted = old.count { $0.state != "draining" }
        return min(told, max(leaving, wanted - (rows.count - leaving)))
    }

    static func sentence(_ target: DrainTarget, replaced: Int) -> String {
        switch replaced {
        case 0: "there was no \(target.name) process\n"
        case 1: "replaced 1 \(target.name) process\n"
        default: "replaced \(replaced) \(target.name) processes\n"
        }
    }
}

/// What `drain --json` prints.
struct DrainAnswer: Encodable {
    let kind: String
    /// Absent: all pools of the kind.
    let pool: String?
    let replaced: Int
}

import ImageModel
import Messages

/// `imagebus status`: what the coordinator knows of its stack.
enum StatusCommand {
    static func run(_ options: OperatorOptions) -> Int32 {
        OperatorQuery.run("status") {
            let report = try OperatorQuery.ask(options) {
                client throws(ImageError) in try await client.status()
            }
            return options.printsJSON
                ? try JSONText.text(StatusAnswer(report)) : StatusTable.text(report)
        }
    }
}

/// `imagebus health`: whether the stack can load images.
enum HealthCommand {
    private static let answerMilliseconds = 2_000
    private static let unhealthyStatus: Int32 = 1

    static func run(_ options: OperatorOptions) -> Int32 {
        do throws(ImageError) {
            let report = try OperatorQuery.ask(options, milliseconds: answerMilliseconds) {
                client throws(ImageError) in try await client.status()
            }
            guard let complaint = complaint(report) else { return 0 }
            Terminal.error("imagebus health: \(complaint)\n")
        } catch {
            Terminal.error("imagebus health: \(error)\n")
        }
        return unhealthyStatus
    }

    /// What is missing; nil where nothing is.
    static func complaint(_ report: StatusReport) -> String? {
        let serving = Set(
            report.processes.filter { $0.state == "ready" || $0.state == "busy" }.map(\.kind))
        let missing = WorkerKind.workers.filter { !serving.contains($0) }.map(\.name)
        guard !missing.isEmpty else { return nil }
        return "no \(missing.joined(separator: ", no ")) process takes jobs"
    }
}

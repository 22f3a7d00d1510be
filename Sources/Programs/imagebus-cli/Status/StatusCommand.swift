import ImageModel
import Messages

/// `imagebus status`: what the coordinator knows of its stack.
enum StatusCommand {
    private static let answerMilliseconds = 5_000

    static func run(_ options: StatusOptions) -> Int32 {
        do {
            let report = try StatusQuery.report(options, milliseconds: answerMilliseconds)
            let text =
                options.printsJSON
                ? try JSONText.text(StatusAnswer(report)) : StatusTable.text(report)
            Terminal.out(text)
            return 0
        } catch let error as ImageError {
            Terminal.error("imagebus status: \(error)\n")
            return error.exitStatus
        } catch {
            Terminal.error("imagebus status: \(error)\n")
            return ImageError(.internalError, "").exitStatus
        }
    }
}

/// `imagebus health`: whether the stack can load images.
enum HealthCommand {
    private static let answerMilliseconds = 2_000
    private static let unhealthyStatus: Int32 = 1

    static func run(_ options: StatusOptions) -> Int32 {
        do throws(ImageError) {
            let report = try StatusQuery.report(options, milliseconds: answerMilliseconds)
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

import CommandLineInterface
import ImageModel
import Imagebus
import JSON
import Linux
import Messages
import SharedArena
import StackAccess
import Supervision

/// `imagebus health`: whether the stack can load images, or whether one kind does its part.
enum HealthCommand {
    private static let answerMilliseconds = 2_000
    private static let unhealthyStatus: Int32 = 1

    static func run(_ options: HealthOptions) -> Int32 {
        do throws(ImageError) {
            guard let complaint = try complaint(options) else { return 0 }
            Terminal.complain("health", complaint)
            Terminal.complain(
                "health", "next: imagebus status shows the processes, imagebus doctor what is wrong"
            )
        } catch {
            Terminal.complain("health", of: error)
        }
        return unhealthyStatus
    }

    private static func complaint(_ options: HealthOptions) throws(ImageError) -> String? {
        switch options.only {
        case nil:
            guard let limit = options.canaryMilliseconds else {
                return complaint(tellingOfOthers: try report(options.stack))
            }
            return try complaint(canaryWithin: limit, options.stack)
        case .coordinator:
            // Its answer is all that is asked for: workers answer for themselves.
            _ = try report(options.stack)
            return nil
        case .some(let kind): return try complaint(about: kind, options.stack)
        }
    }

    private static func complaint(tellingOfOthers report: StatusReport) -> String? {
        for missing in report.missingWorkers where missing.isForeign {
            Terminal.complain("health", missing.description)
        }
        return complaint(report)
    }

    /// What is missing is known at once; who hangs is not.
    private static func complaint(
        canaryWithin limit: Int, _ stack: OperatorOptions
    ) throws(ImageError) -> String? {
        let route = try stack.route()
        let start = MonotonicClock.now()
        do throws(ImageError) {
            if let complaint = complaint(tellingOfOthers: try report(stack)) { return complaint }
        } catch {
            let spent = Double(MonotonicClock.now() - start) / 1e6
            return StackCanary.Step(stage: .coordinator, milliseconds: spent, error: error).sentence
        }
        return complaint(StackCanary(milliseconds: limit).run(route))
    }

    /// Of the stage that did not do its part. One that has no room works, as others see.
    static func complaint(_ steps: [StackCanary.Step]) -> String? {
        guard let last = steps.last, let error = last.error else { return nil }
        guard ![.busy, .arenaFull].contains(error.code) else {
            Terminal.complain("health", "the stack is too busy for a canary: \(error)")
            return nil
        }
        return last.sentence
    }

    private static func report(_ stack: OperatorOptions) throws(ImageError) -> StatusReport {
        try OperatorQuery.ask(stack, milliseconds: answerMilliseconds) {
            client throws(ImageError) in try await client.status()
        }
    }

    /// What is missing; nil where nothing is. Somebody else's program does not decide whether the
    /// stack is well: whoever starts the stack anew for that would do so at its will.
    static func complaint(_ report: StatusReport) -> String? {
        let missing = missingKinds(report).map(\.name)
        let kinds =
            missing.isEmpty
            ? [] : ["no \(missing.joined(separator: ", no ")) process takes jobs"]
        let complaints = kinds + report.missingWorkers.filter { !$0.isForeign }.map(\.description)
        return complaints.isEmpty ? nil : complaints.joined(separator: "; ")
    }

    private static func missingKinds(_ report: StatusReport) -> [WorkerKind] {
        let serving = Set(
            report.processes.filter { $0.state == "ready" || $0.state == "busy" }.map(\.kind))
        return WorkerKind.workers.filter { !serving.contains($0) }
    }
}

extension HealthCommand {
    /// What the supervisors of a kind say: a container of workers has no other one to ask.
    private static func complaint(
        about kind: ProcessKind, _ stack: OperatorOptions
    ) throws(ImageError) -> String? {
        let root = try stack.root()
        let answers: [[UInt8]?]
        do throws(Errno) {
            answers = try HealthListener.ask(
                in: root, about: kind, milliseconds: answerMilliseconds)
        } catch {
            throw ImageError(.unavailable, "no supervisor can be found in \(root) (\(error))")
        }
        return complaint(about: kind, answers, in: root)
    }

    /// The first complaint about a kind among the answers of supervisors; nil where each says that
    /// all is well, and at least one knows the kind.
    static func complaint(
        about kind: ProcessKind, _ answers: [[UInt8]?], in root: String
    ) -> String? {
        var isKnown = false
        for answer in answers {
            guard let answer, let words = try? JSONReader.texts(answer) else {
                return "a supervisor in \(root) does not answer"
            }
            guard let word = words[kind.name] else { continue }
            guard word == "ok" else { return "\(kind.name): \(word)" }
            isKnown = true
        }
        return isKnown ? nil : "no supervisor of \(kind.name) runs in \(root)"
    }
}

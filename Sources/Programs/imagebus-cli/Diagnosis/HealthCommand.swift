import CommandLineInterface
import ImageModel
import Imagebus
import JSON
import Linux
import Messages
import SharedArena
import StackAccess
import Supervision

/// Whose health is asked for.
struct HealthOptions: Hashable {
    /// nil: whether the whole stack can load images.
    var only: ProcessKind?
    /// Whether an image has to go through it, and within which time; nil: it has not.
    var canaryMilliseconds: Int?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let within = try DoctorOptions.within(read)
        canaryMilliseconds = read.isSet("canary") ? within : nil
        guard canaryMilliseconds != nil || read.entries.allSatisfy({ $0.label != "--within" })
        else { throw UsageError("--within is the time of --canary: give both") }
        guard canaryMilliseconds == nil || !read.isSet("only") else {
            throw UsageError("--canary goes through all kinds of processes: leave out --only")
        }
        only = try read.parsed("only", OptionValue.kind)
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
    }
}

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

/// A small image that goes through a stack, one stage after the other, past the caches: who does
/// not answer is known by name.
struct StackCanary {
    /// Who has to answer, in this order.
    enum Stage: String, CaseIterable {
        case coordinator
        /// Its process says whether it has the canary.
        case cache
        case decode
        case transform
    }

    /// How one stage answered.
    struct Step {
        let stage: Stage
        let milliseconds: Double
        /// nil where it did as it should.
        let error: ImageError?
    }

    /// Within which all of them have to answer.
    let milliseconds: Int
    private let begin = MonotonicClock.now()

    static let usualMilliseconds = 5_000

    init(milliseconds: Int = usualMilliseconds) { self.milliseconds = milliseconds }

    /// Asks one stage after the other, up to the first that fails. `route` is the way of operators;
    /// images go to the same stack as those of everybody.
    func run(_ route: StackRoute) -> [Step] {
        var steps: [Step] = []
        do throws(ImageError) {
            let admin = try route.client(asOperator: true, connectMilliseconds: milliseconds)
            defer { admin.end() }
            let front = try route.client(connectMilliseconds: milliseconds)
            defer { front.end() }
            for stage in Stage.allCases {
                let step = step(stage, stage == .coordinator || stage == .cache ? admin : front)
                steps.append(step)
                if step.error != nil { break }
            }
        } catch {
            steps.append(Step(stage: .coordinator, milliseconds: 0, error: error))
        }
        return steps
    }

    private func step(_ stage: Stage, _ client: ImagebusClient) -> Step {
        let start = MonotonicClock.now()
        var failure: ImageError?
        do throws(ImageError) {
            try ask(stage, client, within: max(1, milliseconds - Int((start - begin) / 1_000_000)))
        } catch {
            failure = error
        }
        let spent = Double(MonotonicClock.now() - start) / 1e6
        return Step(stage: stage, milliseconds: spent, error: failure)
    }

    private func ask(
        _ stage: Stage, _ client: ImagebusClient, within left: Int
    ) throws(ImageError) {
        let answer: Bool? = try OperatorQuery.answer(of: client, within: left) {
            client throws(ImageError) in
            switch stage {
            case .coordinator: _ = try await client.status()
            case .cache: _ = try await client.contains(Self.key)
            case .decode:
                _ = try await client.load(Self.look(left), uploading: Self.picture).response
            case .transform:
                _ = try await client.load(Self.work(left), uploading: Self.picture).response
            }
            return true
        }
        guard answer != nil else {
            throw ImageError(.deadlineExceeded, "no answer within \(milliseconds) ms")
        }
    }

    /// Nobody stores it.
    private static let key = "https://canary.invalid/"

    /// A GIF of one pixel.
    private static let picture: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

    /// Its format and size: a decoder has to work.
    private static func look(_ milliseconds: Int) -> ImageRequest {
        var request = request(milliseconds)
        request.infoOnly = true
        return request
    }

    /// As a JPEG of another size: a decoder and a transformer have to work.
    private static func work(_ milliseconds: Int) -> ImageRequest {
        var request = request(milliseconds)
        request.output.format = .jpeg
        request.steps = [.resize(PixelSize(width: 2, height: 2), .stretch)]
        return request
    }

    private static func request(_ milliseconds: Int) -> ImageRequest {
        var request = ImageRequest(url: "")
        request.options = [.highPriority]
        request.queryCacheTypes = []
        request.storeCacheTypes = []
        request.originalQueryCacheTypes = []
        request.originalStoreCacheTypes = []
        request.timeoutMilliseconds = min(milliseconds, RequestLimits.timeoutMillisecondsMax)
        return request
    }
}

extension StackCanary.Step {
    /// One line for people.
    var sentence: String {
        let spent = "\(Int(milliseconds.rounded())) ms"
        guard let error else { return "\(stage.rawValue) answered in \(spent)" }
        return "\(stage.rawValue) did not do its part (after \(spent)): \(error)"
    }
}

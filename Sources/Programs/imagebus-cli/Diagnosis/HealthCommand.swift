import CommandLineInterface
import Imagebus
import JSON
import Linux
import Model
import ProcessRuntime
import Supervision

struct HealthOptions: Hashable {
    /// The kind to check; `nil` to check whether the whole stack can load images.
    var only: ProcessKind?
    /// The timeout for an image to pass through the stack, in milliseconds; `nil` to skip this
    /// probe.
    var canaryMilliseconds: Int?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let within = try DoctorOptions.within(read)
        canaryMilliseconds = read.isSet("canary") ? within : nil
        guard canaryMilliseconds != nil || read.entries.allSatisfy({ $0.label != "--within" })
        else { throw UsageError("--within requires --canary") }
        guard canaryMilliseconds == nil || !read.isSet("only") else {
            throw UsageError("--canary checks all kinds of processes: leave out --only")
        }
        only = try read.parsed("only", OptionValue.kind)
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
    }
}

/// `imagebus health`: whether the stack can load images, or whether one kind of process works.
enum HealthCommand {
    private static let answerMilliseconds = 2_000
    private static let unhealthyStatus: Int32 = 1

    static func run(_ options: HealthOptions) -> Int32 {
        do throws(ImageError) {
            guard let complaint = try complaint(options) else { return 0 }
            Terminal.complain("health", complaint)
            Terminal.complain(
                "health", "next: check imagebus status and imagebus doctor"
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
            // Any answer is sufficient: workers report their own health.
            _ = try report(options.stack)
            return nil
        case .some(let kind): return try complaint(about: kind, options.stack)
        }
    }

    private static func complaint(tellingOfOthers report: StatusReport) -> String? {
        for missing in report.missingWorkers where missing.isExternal {
            Terminal.complain("health", missing.description)
        }
        return complaint(report)
    }

    /// Returns what is wrong. Missing processes are detected immediately; hanging ones by the
    /// probe.
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

    /// Returns what is wrong with the stage that failed. A stage at capacity counts as working.
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

    /// Returns what is missing; `nil` if nothing is. Plug-ins don't count: otherwise a faulty
    /// plug-in could cause the stack to be restarted at will.
    static func complaint(_ report: StatusReport) -> String? {
        let missing = missingKinds(report).map(\.name)
        let kinds = missing.map { "no \($0) process accepts jobs" }
        let complaints = kinds + report.missingWorkers.filter { !$0.isExternal }.map(\.description)
        return complaints.isEmpty ? nil : complaints.joined(separator: "; ")
    }

    private static func missingKinds(_ report: StatusReport) -> [WorkerKind] {
        let serving = Set(
            report.processes.filter { $0.state == "ready" || $0.state == "busy" }.map(\.kind))
        return WorkerKind.workers.filter { !serving.contains($0) }
    }
}

extension HealthCommand {
    /// Returns what the supervisors of a kind report; in a container with only workers there is
    /// nothing else to query.
    private static func complaint(
        about kind: ProcessKind, _ stack: OperatorOptions
    ) throws(ImageError) -> String? {
        let root = try stack.root()
        let answers = try ImageError.wrap("no supervisor found in \(root)", as: .unavailable) {
            () throws(Errno) in
            try HealthListener.ask(in: root, about: kind, milliseconds: answerMilliseconds)
        }
        return complaint(about: kind, answers, in: root)
    }

    /// Returns the first problem with a kind among the answers of supervisors; `nil` if all report
    /// that it is healthy and at least one knows the kind.
    static func complaint(
        about kind: ProcessKind, _ answers: [[UInt8]?], in root: String
    ) -> String? {
        var isKnown = false
        for answer in answers {
            guard let answer, let words = try? JSONReader.texts(answer) else {
                return "a supervisor in \(root) is not answering"
            }
            guard let word = words[kind.name] else { continue }
            guard word == "ok" else { return "\(kind.name): \(word)" }
            isKnown = true
        }
        return isKnown ? nil : "no supervisor of \(kind.name) runs in \(root)"
    }
}

/// A small image that passes through a stack stage by stage, without the caches, so that a stage
/// that doesn't respond can be named.
struct StackCanary {
    /// The stages, in order.
    enum Stage: String, CaseIterable {
        case coordinator
        /// Its process checks whether it has the probe.
        case cache
        case decode
        case transform
    }

    /// The result of one stage.
    struct Step {
        let stage: Stage
        let milliseconds: Double
        /// `nil` if it succeeded.
        let error: ImageError?
    }

    /// The timeout for all stages together, in milliseconds.
    let milliseconds: Int
    private let begin = MonotonicClock.now()

    static let usualMilliseconds = 5_000

    init(milliseconds: Int = usualMilliseconds) { self.milliseconds = milliseconds }

    /// Probes the stages in order, up to the first failure. `route` leads to the operator socket;
    /// the image goes to the same stack's client socket.
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
        let operators = OperatorClient(client)
        let answer: Bool? = try OperatorQuery.answer(of: operators, within: left) {
            operators throws(ImageError) in
            switch stage {
            case .coordinator: _ = try await operators.status()
            case .cache: _ = try await operators.contains(Self.key)
            case .decode, .transform:
                let request = Self.request(left, transformed: stage == .transform)
                _ = try await client.load(request, uploading: Self.picture).response
            }
            return true
        }
        guard answer != nil else {
            throw ImageError(.deadlineExceeded, "no answer within \(milliseconds) ms")
        }
    }

    /// A key that is never stored.
    private static let key = "https://canary.invalid/"

    /// A GIF of one pixel.
    private static let picture: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

    /// Requests format and size, which requires a decoder, or a JPEG of another size, which also
    /// requires a transformer.
    private static func request(_ milliseconds: Int, transformed: Bool) -> ImageRequest {
        var request = ImageRequest(url: "")
        request.options = [.highPriority]
        request.queryCacheTypes = []
        request.storeCacheTypes = []
        request.originalQueryCacheTypes = []
        request.originalStoreCacheTypes = []
        request.timeoutMilliseconds = min(milliseconds, RequestLimits.timeoutMillisecondsMax)
        request.infoOnly = !transformed
        if transformed {
            request.output.format = .jpeg
            request.steps = [.resize(PixelSize(width: 2, height: 2), .stretch)]
        }
        return request
    }
}

extension StackCanary.Step {
    /// The result as a human-readable line.
    var sentence: String {
        let spent = "\(Int(milliseconds.rounded())) ms"
        guard let error else { return "\(stage.rawValue) answered in \(spent)" }
        return "\(stage.rawValue) failed (after \(spent)): \(error)"
    }
}

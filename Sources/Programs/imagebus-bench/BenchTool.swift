import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import Messages
import Reporting
import StackAccess
import Synchronization

/// Measures a stack.
enum BenchTool {
    static func run(_ options: BenchOptions) -> Int32 {
        OperatorQuery.run("bench") {
            guard let kind = BenchKinds.all.first(where: { $0.name == options.kind }) else {
                throw ImageError(.invalidRequest, "'\(options.kind)' cannot be measured")
            }
            let interruption = try Interruption.started()
            let origin = try BenchOrigin()
            var stackOptions = options.stack
            if options.url == nil { stackOptions.network.addresses.append(origin.authority) }
            let stack = try OpenStack(stackOptions, interruption)
            defer { stack.end(interruption) }
            let connect = stack.connectMilliseconds(OperatorQuery.answerMilliseconds)
            let route = stack.route
            let setting = try BenchSetting(
                options, origin,
                connect: { () throws(ImageError) in
                    try route.client(
                        repeatsAnswers: !options.byMessage, sharesLoads: false,
                        connectMilliseconds: connect)
                },
                watcher: route.client(asOperator: true, connectMilliseconds: connect))
            let report = try measure(kind, setting, interruption, isOwn: stack.isOwn)
            return options.printsJSON ? try JSONText.text(report) : report.text
        }
    }

    private static func report(
        _ value: Result<any BenchReport, ImageError>, isOwn: Bool
    ) throws -> any BenchReport {
        do throws(ImageError) {
            return try value.get()
        } catch {
            guard error.code == .addressForbidden, !isOwn else { throw error }
            throw ImageError(
                .addressForbidden,
                "the running stack may not reach the images that this command serves: "
                    + "--private starts one that may",
                details: error.details)
        }
    }

    /// Waits for the report. A first Ctrl-C asks for what there is, a second for nothing.
    private static func measure(
        _ kind: any BenchKind.Type, _ setting: BenchSetting, _ interruption: Interruption,
        isOwn: Bool
    ) throws -> any BenchReport {
        let completion = try Completion<any BenchReport>()
        completion.start { () throws(ImageError) in try await kind.init(setting).run() }
        while true {
            if let value = completion.value { return try report(value, isOwn: isOwn) }
            _ = try interruption.wait(for: [completion.number], milliseconds: nil)
            if interruption.count > 0 { setting.stop() }
            if interruption.count > 1 { throw ImageError(.cancelled, "cancelled") }
        }
    }
}

/// One kind of measurement: `imagebus bench NAME`. A new one is a type that is put into `all`.
protocol BenchKind: Sendable {
    /// On the command line and in the report.
    static var name: String { get }
    /// What is measured, for the list of kinds.
    static var summary: String { get }
    /// Loads at a time where nothing is said.
    static var concurrency: Int { get }
    /// Seconds where nothing is said.
    static var seconds: Int { get }
    /// Whether it takes the options of `get` that say what is loaded, and how.
    static var takesRequest: Bool { get }
    /// Processes that decode, and as many that transform, in a stack of its own.
    static var workers: Int { get }
    /// Whether it can end after a number of loads.
    static var takesRequestsMax: Bool { get }

    init(_ setting: BenchSetting)

    /// Measures, until the time is over or `setting.hasStopped`.
    func run() async throws(ImageError) -> any BenchReport
}

extension BenchKind {
    static var takesRequest: Bool { true }
    static var takesRequestsMax: Bool { false }
    /// One a core, as `serve` has them.
    static var workers: Int { CurrentProcess.processorCount }
}

/// What a measurement found; its JSON is one object with the names of SEMANTICS §15.5.
protocol BenchReport: Encodable, Sendable {
    /// For people.
    var text: String { get }
}

/// The kinds that there are.
enum BenchKinds {
    static let all: [any BenchKind.Type] = [
        HitBench.self, ColdBench.self, StormBench.self, CancelBench.self, FloodBench.self,
        MixedBench.self, PlayBench.self,
    ]
    static var names: String { all.map { $0.name }.joined(separator: ", ") }
}

/// What `bench` was told.
struct BenchOptions: Hashable {
    /// One of `BenchKinds`.
    var kind: String
    /// The image, with `{n}` or without; nil for those that the command serves by itself.
    var url: String? { request.url.isEmpty ? nil : request.url }
    /// What is wanted of each image. Its URL is empty where the command serves its own.
    var request: ImageRequest
    /// Whether more is said of the request than its URL.
    var isRequestChosen: Bool
    /// Whether the source as it is was asked for, and not merely no step.
    var wantsSource: Bool
    /// For each kind of work.
    var seconds: Int
    /// Loads at a time.
    var concurrency: Int
    /// Images of `hit`; nil: one, or as many as loads at a time.
    var hot: Int?
    /// Threads with blocking calls.
    var threads: Int?
    /// Whether each hit is asked for.
    var byMessage: Bool
    /// Loads after which it ends, if the time is not over before.
    var requestsMax: Int
    var printsJSON: Bool
    var stack: StackOptions

    private static let concurrencyMax = 10_000
    private static let hotMax = 100_000
    private static let threadsMax = 256

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let type = try Self.kind(read.operands.first)
        guard read.operands.count <= 2 else {
            throw UsageError("there is more than one URL: '\(read.operands[2])'")
        }
        kind = type.name
        let url = read.operands.count == 2 ? read.operands[1] : ""
        request = try RequestReader.request(read, url: url)
        var plain = ImageRequest(url: url)
        plain.options = request.options.intersection(.priorities)
        plain.timeoutMilliseconds = request.timeoutMilliseconds
        isRequestChosen = request != plain
        wantsSource = ["original", "info", "facts"].contains { read.isSet($0) }
        guard type.takesRequest || !isRequestChosen else {
            throw UsageError("\(type.name) chooses steps, output and options by itself")
        }
        seconds =
            try read.parsed("seconds") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: 1...3_600)
            } ?? type.seconds
        concurrency =
            try read.parsed("concurrency") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: 1...Self.concurrencyMax)
            } ?? type.concurrency
        hot = try Self.count(HitBench.name, read, "hot", type, Self.hotMax)
        threads = try Self.count(HitBench.name, read, "threads", type, Self.threadsMax)
        byMessage = read.isSet("by-message")
        guard !byMessage || type.name == HitBench.name else {
            throw UsageError("only hit can be measured --by-message")
        }
        requestsMax =
            try read.parsed("requests") { (text) throws(UsageError) in
                guard type.takesRequestsMax else {
                    throw UsageError("\(type.name) ends when its time is over")
                }
                return try OptionValue.integer(text, in: 1...Int(Int32.max))
            } ?? .max
        printsJSON = read.isSet("json")
        stack = try StackOptions(read, environment: environment)
        // What is measured is not kept.
        stack.cacheDirectory = nil
        stack.workers = type.workers
    }

    /// A number that only one kind takes.
    private static func count(
        _ kind: String, _ read: ReadOptions, _ name: String, _ type: any BenchKind.Type, _ most: Int
    ) throws(UsageError) -> Int? {
        try read.parsed(name) { (text) throws(UsageError) in
            guard type.name == kind else { throw UsageError("only \(kind) takes --\(name)") }
            return try OptionValue.integer(text, in: 1...most)
        }
    }

    private static func kind(_ name: String?) throws(UsageError) -> any BenchKind.Type {
        guard let name else {
            throw UsageError("what is measured? This version measures: \(BenchKinds.names)")
        }
        guard let type = BenchKinds.all.first(where: { $0.name == name }) else {
            throw UsageError("'\(name)' cannot be measured; these can: \(BenchKinds.names)")
        }
        return type
    }
}

extension RequestOptions {
    /// How urgent a request is: says nothing about what is loaded.
    fileprivate static let priorities: RequestOptions = [.highPriority, .lowPriority]
}

/// What all kinds of measurement share: the options, an origin, the stack.
final class BenchSetting: Sendable {
    let options: BenchOptions
    let origin: BenchOrigin
    let client: ImagebusClient
    /// Another connection, for more loads at a time than one may have.
    let connect: @Sendable () throws(ImageError) -> ImagebusClient
    /// On `admin/`: who may see all processes.
    let watcher: ImagebusClient
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic(0)

    init(
        _ options: BenchOptions, _ origin: BenchOrigin,
        connect: @escaping @Sendable () throws(ImageError) -> ImagebusClient,
        watcher: ImagebusClient
    ) throws(ImageError) {
        (self.options, self.origin, self.connect) = (options, origin, connect)
        (client, self.watcher) = (try connect(), watcher)
    }

    /// Ends after the loads that are under way.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Says on standard error what is being done: a measurement takes its time.
    func say(_ what: String) { Terminal.error("imagebus bench: \(what)\n") }

    /// A number that no image of this measurement had before.
    func next() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// The coordinator of the stack; nil where its number means nothing here.
    func coordinator() async throws(ImageError) -> StatusReport.ProcessStatus? {
        try await watcher.status().processes.first { $0.kind == .coordinator }
    }

    /// Puts an image at the origin that the stack encodes from one that this command draws.
    func makeImage(
        _ name: String, width: Int, height: Int, _ output: OutputOptions
    ) async throws(ImageError) {
        origin.add("raw.png", BenchImage.raw(width: width, height: height))
        try await encode(name, output)
    }

    /// The same from the drawing of the last image.
    func encode(_ name: String, _ output: OutputOptions) async throws(ImageError) {
        var request = ImageRequest(url: origin.url("raw.png", next())).unkept
        request.output = output
        let image = try await client.load(request).response
        origin.add(name, image.bytes?.array ?? [])
    }
}

extension ImageRequest {
    /// The same, but no cache is asked and nothing is stored.
    var unkept: ImageRequest {
        var request = self
        request.options.insert(.fromLoaderOnly)
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        return request
    }
}

/// URLs of a measurement.
enum BenchURL {
    static let place = "{n}"

    /// `{n}` is the number; without one, the number is a query of its own.
    static func numbered(_ url: String, _ number: Int) -> String {
        if url.contains(place) { return counted(url, number) }
        return url + (url.contains("?") ? "&" : "?") + "\(number)"
    }

    /// `{n}` is the number; without one, it is always the same image.
    static func counted(_ url: String, _ number: Int) -> String {
        url.replacing(place, with: "\(number)")
    }
}

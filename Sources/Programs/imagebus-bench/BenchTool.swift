import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// Measures a stack.
enum BenchTool {
    static func run(_ options: BenchOptions) -> Int32 {
        OperatorQuery.run("bench") {
            guard let kind = BenchKinds.all.first(where: { $0.name == options.kind }) else {
                throw ImageError(.invalidRequest, "unknown benchmark '\(options.kind)'")
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
                watcher: OperatorClient(
                    route.client(asOperator: true, connectMilliseconds: connect)))
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
                    + "--private starts one that may"
            ) { $0 = error.typedDetails }
        }
    }

    /// Runs a measurement and waits for its report. The first Ctrl-C ends the measurement early, a
    /// second one aborts it.
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

/// A kind of measurement: `imagebus bench NAME`. To add one, define a type and add it to `all`.
protocol BenchKind: Sendable {
    /// The name on the command line and in the report.
    static var name: String { get }
    /// A description for the list of kinds.
    static var summary: String { get }
    /// The default number of concurrent loads.
    static var concurrency: Int { get }
    /// The default duration in seconds.
    static var seconds: Int { get }
    /// Whether it accepts the options of `get` that specify what is loaded, and how.
    static var takesRequest: Bool { get }
    /// The number of decode workers, and of transform workers, in a private stack.
    static var workers: Int { get }
    /// Whether it can end after a number of loads.
    static var takesRequestsMax: Bool { get }

    init(_ setting: BenchSetting)

    /// Runs the measurement until the time is up or `setting.hasStopped`.
    func run() async throws(ImageError) -> any BenchReport
}

extension BenchKind {
    static var takesRequest: Bool { true }
    static var takesRequestsMax: Bool { false }
    /// One per core, as in `serve`.
    static var workers: Int { CurrentProcess.processorCount }
}

/// The result of a measurement; its JSON is an object with the names of SEMANTICS §15.5.
protocol BenchReport: Encodable, Sendable {
    /// The report in human-readable form.
    var text: String { get }
}

/// The kinds of measurement.
enum BenchKinds {
    static let all: [any BenchKind.Type] = [
        HitBench.self, ColdBench.self, StormBench.self, CancelBench.self, FloodBench.self,
        MixedBench.self, PlayBench.self,
    ]
    static var names: String { all.map { $0.name }.joined(separator: ", ") }
}

struct BenchOptions: Hashable {
    /// One of `BenchKinds`.
    var kind: String
    /// The URL of the image, optionally with `{n}`; `nil` for images served by the command itself.
    var url: String? { request.url.isEmpty ? nil : request.url }
    /// The request for each image. Its URL is empty if the command serves the images itself.
    var request: ImageRequest
    /// Whether more than the URL of the request is specified.
    var isRequestChosen: Bool
    /// Whether the unmodified source was requested explicitly.
    var wantsSource: Bool
    /// The duration of each kind of work.
    var seconds: Int
    /// The number of concurrent loads.
    var concurrency: Int
    /// The number of images for `hit`; `nil` for one, or for as many as concurrent loads.
    var hot: Int?
    /// The number of threads with blocking calls.
    var threads: Int?
    /// Whether every hit requires a message.
    var byMessage: Bool
    /// The number of loads after which the measurement ends, unless time runs out before.
    var requestsMax: Int
    var printsJSON: Bool
    var stack: StackOptions

    private static let concurrencyMax = 10_000
    private static let hotMax = 100_000
    private static let threadsMax = 256

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let type = try Self.kind(read.operands.first)
        guard read.operands.count <= 2 else {
            throw UsageError("only one URL is allowed, not also '\(read.operands[2])'")
        }
        kind = type.name
        let url = read.operands.count == 2 ? read.operands[1] : ""
        request = try RequestReader.request(read, url: url)
        var plain = ImageRequest(url: url)
        plain.options = request.options.intersection(.priorities)
        plain.timeoutMilliseconds = request.timeoutMilliseconds
        isRequestChosen = request != plain
        wantsSource = ["original", "info", "properties"].contains { read.isSet($0) }
        guard type.takesRequest || !isRequestChosen else {
            throw UsageError("\(type.name) does not support steps, output or load options")
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
            throw UsageError("--by-message requires hit")
        }
        requestsMax =
            try read.parsed("requests") { (text) throws(UsageError) in
                guard type.takesRequestsMax else {
                    throw UsageError("\(type.name) does not support --requests")
                }
                return try OptionValue.integer(text, in: 1...Int(Int32.max))
            } ?? .max
        printsJSON = read.isSet("json")
        stack = try StackOptions(read, environment: environment)
        // Measured images are not kept on disk.
        stack.cacheDirectory = nil
        stack.workers = type.workers
    }

    /// Parses a number that only one kind accepts.
    private static func count(
        _ kind: String, _ read: ReadOptions, _ name: String, _ type: any BenchKind.Type, _ most: Int
    ) throws(UsageError) -> Int? {
        try read.parsed(name) { (text) throws(UsageError) in
            guard type.name == kind else { throw UsageError("--\(name) requires \(kind)") }
            return try OptionValue.integer(text, in: 1...most)
        }
    }

    private static func kind(_ name: String?) throws(UsageError) -> any BenchKind.Type {
        guard let name else {
            throw UsageError("expected a benchmark: \(BenchKinds.names)")
        }
        guard let type = BenchKinds.all.first(where: { $0.name == name }) else {
            throw UsageError("unknown benchmark '\(name)': use one of \(BenchKinds.names)")
        }
        return type
    }
}

extension RequestOptions {
    /// Priority options, which don't affect what is loaded.
    fileprivate static let priorities: RequestOptions = [.highPriority, .lowPriority]
}

/// What all kinds of measurement share: the options, an origin and the stack.
final class BenchSetting: Sendable {
    let options: BenchOptions
    let origin: BenchOrigin
    let client: ImagebusClient
    /// Opens another connection, for more concurrent loads than one connection may have.
    let connect: @Sendable () throws(ImageError) -> ImagebusClient
    /// A client on `admin/`, which can see all processes.
    let watcher: OperatorClient
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic(0)

    init(
        _ options: BenchOptions, _ origin: BenchOrigin,
        connect: @escaping @Sendable () throws(ImageError) -> ImagebusClient,
        watcher: OperatorClient
    ) throws(ImageError) {
        (self.options, self.origin, self.connect) = (options, origin, connect)
        (client, self.watcher) = (try connect(), watcher)
    }

    /// Ends the measurement after the loads in flight.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Reports the current activity on standard error, because a measurement takes time.
    func log(_ what: String) { Terminal.error("imagebus bench: \(what)\n") }

    /// Returns a number that no image of this measurement has had before.
    func next() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// Returns the stack's coordinator; `nil` if there is none in the status.
    func coordinator() async throws(ImageError) -> StatusReport.ProcessStatus? {
        try await watcher.status().processes.first { $0.kind == .coordinator }
    }

    /// Draws an image, has the stack encode it, and serves the result from the origin.
    func makeImage(
        _ name: String, width: Int, height: Int, _ output: OutputOptions
    ) async throws(ImageError) {
        origin.add("raw.png", BenchImage.raw(width: width, height: height))
        try await encode(name, output)
    }

    /// Encodes the most recently drawn image in the same way.
    func encode(_ name: String, _ output: OutputOptions) async throws(ImageError) {
        var request = ImageRequest(url: origin.url("raw.png", next())).unkept
        request.output = output
        let image = try await client.load(request).response
        origin.add(name, image.bytes?.array ?? [])
    }
}

extension ImageRequest {
    /// The same request without querying or storing in caches.
    var unkept: ImageRequest {
        var request = self
        request.options.insert(.fromLoaderOnly)
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        return request
    }
}

/// Numbered URLs.
enum BenchURL {
    static let place = "{n}"

    /// Replaces `{n}` by a number, or else appends the number as a query.
    static func numbered(_ url: String, _ number: Int) -> String {
        if url.contains(place) { return counted(url, number) }
        return url + (url.contains("?") ? "&" : "?") + "\(number)"
    }

    /// Replaces `{n}` by a number; without `{n}`, the URL is unchanged.
    static func counted(_ url: String, _ number: Int) -> String {
        url.replacing(place, with: "\(number)")
    }
}

import CommandLineInterface
import Linux
import Model

/// A kind of load: `imagebus bench NAME`. To add one, add it to `all`.
struct Scenario: Sendable {
    /// The name on the command line and in the report.
    let name: String
    /// The default number of concurrent loads: enough to keep every worker busy; more would only
    /// wait.
    var concurrency = 4 * CurrentProcess.processorCount
    /// The default duration in seconds.
    var seconds = 10
    /// Whether it accepts the options of `get` that specify what is loaded, and how.
    var takesRequest = true
    /// Whether it can end after a number of loads.
    var takesRequestsMax = false
    /// The number of decode workers, and of transform workers, in a private stack: one per core, as
    /// in `serve`.
    var workers = CurrentProcess.processorCount
    /// Performs loads until the time is up or `Bench.hasStopped`.
    let run: @Sendable (Bench) -> () async throws(ImageError) -> BenchReport

    static let all = [
        Scenario(name: "hit", concurrency: 64, run: Bench.measureHits),
        Scenario(name: "cold", run: Bench.measureCold),
        Scenario(name: "storm", concurrency: 10_000, run: Bench.measureStorms),
        Scenario(
            name: "cancel", concurrency: 1, takesRequest: false, workers: 1,
            run: Bench.measureCancels),
        Scenario(
            name: "flood", concurrency: 1, seconds: 18, takesRequest: false,
            run: Bench.measureFlood),
        Scenario(
            name: "mixed", takesRequest: false, takesRequestsMax: true, run: Bench.measureMix),
        Scenario(name: "play", concurrency: 2, run: Bench.measurePlayers),
    ]

    static var names: String { all.map(\.name).joined(separator: ", ") }

    static func named(_ name: String?) throws(UsageError) -> Scenario {
        guard let name else { throw UsageError("expected a benchmark: \(names)") }
        guard let scenario = all.first(where: { $0.name == name }) else {
            throw UsageError("unknown benchmark '\(name)': use one of \(names)")
        }
        return scenario
    }
}

/// The options of `imagebus bench`.
struct BenchOptions {
    let scenario: Scenario
    /// The request for each image. Its URL is empty if the command serves the images itself.
    let request: ImageRequest
    /// Whether more than the URL of the request is specified.
    let isRequestChosen: Bool
    /// Whether the unmodified source was requested explicitly.
    let wantsSource: Bool
    /// The duration of each kind of work.
    let seconds: Int
    /// The number of concurrent loads.
    let concurrency: Int
    /// The number of images for `hit`; `nil` for one, or for as many as concurrent loads.
    let hot: Int?
    /// The number of threads with blocking calls.
    let threads: Int?
    /// Whether every hit requires a message.
    let byMessage: Bool
    /// The number of loads after which the measurement ends, unless time runs out before.
    let requestsMax: Int
    let printsJSON: Bool
    let stack: StackOptions

    /// The URL of the image, optionally with `{n}`; `nil` for images served by the command itself.
    var url: String? { request.url.isEmpty ? nil : request.url }

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let scenario = try Scenario.named(read.operands.first)
        guard read.operands.count <= 2 else {
            throw UsageError("only one URL is allowed, not also '\(read.operands[2])'")
        }
        let url = read.operands.dropFirst().first ?? ""
        request = try RequestReader.request(read, url: url)
        var plain = ImageRequest(url: url)
        // Neither affects what is loaded.
        plain.options = request.options.intersection([.highPriority, .lowPriority])
        plain.timeoutMilliseconds = request.timeoutMilliseconds
        isRequestChosen = request != plain
        wantsSource = ["original", "info", "properties"].contains { read.isSet($0) }
        guard scenario.takesRequest || !isRequestChosen else {
            throw UsageError("\(scenario.name) does not support steps, output or load options")
        }
        func number(
            _ name: String, to most: Int, refusal: String? = nil
        ) throws(UsageError) -> Int? {
            try read.parsed(name) { (text) throws(UsageError) in
                if let refusal { throw UsageError(refusal) }
                return try OptionValue.integer(text, in: 1...most)
            }
        }
        let isHit = scenario.name == "hit"
        seconds = try number("seconds", to: 3_600) ?? scenario.seconds
        concurrency = try number("concurrency", to: 10_000) ?? scenario.concurrency
        hot = try number("hot", to: 100_000, refusal: isHit ? nil : "--hot requires hit")
        threads = try number("threads", to: 256, refusal: isHit ? nil : "--threads requires hit")
        byMessage = read.isSet("by-message")
        guard isHit || !byMessage else { throw UsageError("--by-message requires hit") }
        let refusal =
            scenario.takesRequestsMax ? nil : "\(scenario.name) does not support --requests"
        requestsMax = try number("requests", to: Int(Int32.max), refusal: refusal) ?? .max
        printsJSON = read.isSet("json")
        var stack = try StackOptions(read, environment: environment)
        // Measured images are not kept on disk.
        stack.cacheDirectory = nil
        stack.workers = scenario.workers
        (self.scenario, self.stack) = (scenario, stack)
    }
}

import CommandLineInterface
import ImageModel
import StackAccess

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

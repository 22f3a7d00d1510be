import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// Measures a stack.
enum BenchTool {
    static func run(_ options: BenchOptions) throws -> Int32 {
        let interruption = try Interruption()
        let origin = try BenchOrigin()
        var stackOptions = options.stack
        if options.url == nil { stackOptions.network += ["--allow-address", origin.authority] }
        let stack = try OpenStack(stackOptions, interruption)
        defer { stack.end(interruption) }
        let bench = try Bench(options, origin, stack)
        let report = try measure(bench, interruption, isOwn: stack.isOwn)
        return try OperatorAnswer(report, report.text).print("bench", asJSON: options.printsJSON)
    }

    /// Runs a measurement and waits for its report. The first Ctrl-C ends the measurement early, a
    /// second one aborts it.
    private static func measure(
        _ bench: Bench, _ interruption: Interruption, isOwn: Bool
    ) throws(ImageError) -> BenchReport {
        do throws(ImageError) {
            return try Completion.result(interruption, endsSoon: false, cancel: bench.stop) {
                () throws(ImageError) in try await bench.options.scenario.run(bench)()
            }
        } catch {
            guard error.code == .addressForbidden, !isOwn else { throw error }
            throw ImageError(
                .addressForbidden,
                "the running stack may not reach the images that this command serves: "
                    + "--private starts one that may"
            ) { $0 = error.typedDetails }
        }
    }
}

/// A run of a scenario: its options, an origin and the stack.
final class Bench: Sendable {
    let options: BenchOptions
    let origin: BenchOrigin
    let client: ImagebusClient
    /// A client on `admin/`, which can see all processes.
    let watcher: OperatorClient
    /// Opens a connection.
    private let connect: @Sendable () throws(ImageError) -> ImagebusClient
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic(0)

    /// The number of loads per connection, which is limited to 4,096.
    private static let loadsPerClient = 2_500

    init(_ options: BenchOptions, _ origin: BenchOrigin, _ stack: OpenStack) throws(ImageError) {
        (self.options, self.origin) = (options, origin)
        let milliseconds = stack.connectMilliseconds(OperatorQuery.answerMilliseconds)
        let (route, repeatsAnswers) = (stack.route, !options.byMessage)
        let connect: @Sendable () throws(ImageError) -> ImagebusClient = {
            () throws(ImageError) in
            try route.client(
                repeatsAnswers: repeatsAnswers, sharesLoads: false,
                connectMilliseconds: milliseconds)
        }
        (self.connect, client) = (connect, try connect())
        watcher = OperatorClient(
            try route.client(asOperator: true, connectMilliseconds: milliseconds))
    }

    /// Ends the measurement after the loads in flight.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Reports the current activity on standard error, because a measurement takes time.
    func log(_ what: String) { Terminal.error("imagebus bench: \(what)\n") }

    /// Returns a number that no image of this measurement has had before.
    func next() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// Opens enough connections for a number of concurrent loads.
    func clients(for loads: Int) throws(ImageError) -> [ImagebusClient] {
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: loads, by: Self.loadsPerClient) {
            clients.append(try connect())
        }
        return clients
    }

    /// Waits until the status satisfies a condition, and returns it. Throws `busy` if that takes
    /// longer than `seconds`.
    @discardableResult
    func status(
        within seconds: Int, until isReached: (StatusReport) -> Bool
    ) async throws(ImageError) -> StatusReport {
        let deadline = MonotonicClock.now() + UInt64(seconds) * 1_000_000_000
        while true {
            let report = try await watcher.status()
            if isReached(report) { return report }
            guard MonotonicClock.now() < deadline else {
                let count = report.count("liveRequests")
                throw ImageError(.busy, "the stack is stuck with \(count) requests")
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Performs loads, and reports them with what the stack did meanwhile.
    func report(
        _ name: String, concurrency: Int? = nil,
        _ perform: () async throws(ImageError) -> LoadMetrics
    ) async throws(ImageError) -> BenchReport {
        let before = try await watcher.status()
        StackMemory.resetPeaks(before)
        var meter = ProcessorMeter(before)
        meter.start()
        let loads = try await perform()
        meter.stop(after: loads.requests)
        var report = BenchReport(name, loads, concurrency: concurrency)
        report.add(before, try await watcher.status(), meter)
        return report
    }

    // MARK: - Images

    /// Returns the URL given by the user, or that of an image of this size: drawn, encoded by the
    /// stack, and served by the origin.
    func url(
        orImage name: String, width: Int, height: Int, quality: Int = 85
    ) async throws(ImageError) -> String {
        if let url = options.url { return url }
        let output = OutputOptions(format: .jpeg, quality: quality)
        try await makeImage(name, width: width, height: height, output)
        return origin.url(name)
    }

    /// Draws an image, has the stack encode it, and serves the result from the origin.
    func makeImage(
        _ name: String, width: Int, height: Int, _ output: OutputOptions
    ) async throws(ImageError) {
        origin.add("drawn.bmp", BenchImage.bitmap(width: width, height: height))
        try await encode(name, output)
    }

    /// Encodes the most recently drawn image in the same way.
    func encode(_ name: String, _ output: OutputOptions) async throws(ImageError) {
        let url = BenchURL.numbered(origin.url("drawn.bmp"), next())
        var request = ImageRequest(url: url).unkept
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

    /// Selects a JPEG of at most `side` pixels per side.
    mutating func choosePreview(side: Int = 512, quality: Int = 80) {
        steps = [.resize(PixelSize(width: side, height: side), .fit)]
        output = OutputOptions(format: .jpeg, quality: quality)
    }

    /// Returns the same request for the image of another number.
    func numbered(_ number: Int) -> ImageRequest {
        var request = self
        request.url = BenchURL.numbered(url, number)
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

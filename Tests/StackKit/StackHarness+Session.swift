public import Imagebus
public import Model
public import TestKit

/// Runs `body` with a ready stack, shuts the stack down, and throws if it leaves anything behind.
public func withStack<Result>(
    _ arguments: [String] = ["--allow-private-networks"], decoders: Int = 2,
    environment: [String: String] = [:], launcher: [String] = [], mount: PrivateMount? = nil,
    cacheMount: PrivateMount? = nil, body: (StackHarness) async throws -> Result
) async throws -> Result {
    let stack = try StackHarness(
        ["--decode", "\(decoders)", "--transform", "\(decoders)"] + arguments,
        environment: environment, launcher: launcher, mount: mount, cacheMount: cacheMount)
    return try await StackLog.$path.withValue(stack.logFile) {
        try stack.start()
        let result = try await body(stack)
        try stack.stop()
        return result
    }
}

/// The same with a client of the stack.
public func withClient<Result>(
    _ arguments: [String] = ["--allow-private-networks"], decoders: Int = 2,
    environment: [String: String] = [:], launcher: [String] = [], mount: PrivateMount? = nil,
    cacheMount: PrivateMount? = nil, body: (StackHarness, ImagebusClient) async throws -> Result
) async throws -> Result {
    try await withStack(
        arguments, decoders: decoders, environment: environment, launcher: launcher, mount: mount,
        cacheMount: cacheMount
    ) { stack in try await body(stack, stack.client()) }
}

extension StackHarness {
    /// A client of this stack; it is closed when its last reference is released. Without
    /// `sharesLoads` each of its loads is a message.
    public func client(
        asOperator: Bool = false, sharesLoads: Bool = true, repeatsAnswers: Bool = true,
        changing change: (inout ClientConfiguration) -> Void = { _ in }
    ) throws -> ImagebusClient {
        var configuration = try ClientConfiguration(
            runtimeDirectory: runtimeDirectory, isOperator: asOperator,
            connectTimeoutMilliseconds: 20_000)
        configuration.sharesLoads = sharesLoads
        configuration.repeatsAnswers = repeatsAnswers
        change(&configuration)
        return try ImagebusClient(configuration)
    }

    /// Calls for operators of this stack, over a connection of their own.
    public func operatorClient() throws -> OperatorClient {
        OperatorClient(try client(asOperator: true))
    }

    /// Runs `imagebus get` with this stack to completion.
    public func get(
        _ arguments: [String], input: [UInt8]? = nil, timeout: Duration = defaultTimeout
    ) throws -> CommandLineEnd {
        try startGet(arguments, input: input).end(timeout: timeout)
    }

    /// Starts `imagebus get` with this stack.
    public func startGet(_ arguments: [String], input: [UInt8]? = nil) throws -> CommandLineRun {
        try CommandLineRun(
            ["get"] + arguments + ["--runtime-dir", runtimeDirectory], input: input)
    }

    /// Runs another command with this stack to completion.
    public func run(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil
    ) throws -> CommandLineEnd {
        try begin(arguments, environment: environment, input: input).end()
    }

    /// Starts another command with this stack.
    public func begin(
        _ arguments: [String], environment: [String: String] = [:], input: [UInt8]? = nil
    ) throws -> CommandLineRun {
        try CommandLineRun(
            arguments + ["--runtime-dir", runtimeDirectory], environment: environment,
            input: input)
    }

    /// Polls the status until it meets the condition, and returns it. Throws a `StackFailure` of
    /// one line with `what` if `timeout` expires or `serve` ends first.
    public func awaitStatus(
        _ what: String, timeout: Duration = defaultTimeout,
        until condition: (StatusReport) throws -> Bool
    ) async throws -> StatusReport {
        let operators = try operatorClient()
        let watch = watchServe(closing: operators.client)
        defer { watch.cancel() }
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var pause = PollingPause()
        while true {
            let report = try await status(from: operators, what)
            if try condition(report) { return report }
            guard ContinuousClock.now < deadline else {
                throw StackFailure("waited \(timeout) for \(what): \(report.outline)")
            }
            try await pause.wait()
        }
    }

    private func status(
        from operators: OperatorClient, _ what: String
    ) async throws -> StatusReport {
        do {
            return try await operators.status()
        } catch {
            try expectServing(what)
            throw error
        }
    }

    /// Closes the client once `serve` has ended, so that its pending status request fails at once.
    private func watchServe(closing client: ImagebusClient) -> Task<Void, any Error> {
        let serve = processID
        return Task { [weak client] in
            let process = try ObservedProcess(serve)
            while try !process.ends(within: .zero) {
                try await Task.sleep(for: .milliseconds(20))
            }
            client?.close()
        }
    }
}

extension StatusReport {
    /// The processes of a kind.
    public func processes(_ kind: WorkerKind) -> [ProcessStatus] {
        processes.filter { $0.kind == kind }
    }
}

extension ImageRequest {
    /// A load with a resize to JPEG.
    public init(
        _ url: String, fit side: Int, format: ImageFormat? = .jpeg, options: RequestOptions = []
    ) {
        self.init(url: url)
        steps = [.resize(PixelSize(width: side, height: side), .fit)]
        output.format = format
        self.options = options
    }

    /// The same load, made again and stored nowhere.
    public var unstored: ImageRequest {
        var request = self
        request.options.insert(.fromLoaderOnly)
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        return request
    }
}

extension LoadTask {
    /// The error that the load fails with; nil if it succeeds.
    public var failure: ImageError? {
        get async {
            do throws(ImageError) {
                _ = try await response
                return nil
            } catch {
                return error
            }
        }
    }

    /// The code of that error.
    public var errorCode: ErrorCode? {
        get async { await failure?.code }
    }
}

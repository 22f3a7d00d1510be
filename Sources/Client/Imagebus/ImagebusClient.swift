import Linux
public import Model
public import ProcessRuntime
import Synchronization
import ZeroMQ

/// A connection to a stack. Can be used from any thread.
///
///     let client = try ImagebusClient(ClientConfiguration(runtimeDirectory: "/run/imagebus"))
///     var request = ImageRequest(url: "https://example.org/photo.jpg")
///     request.steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
///     let image = try await client.load(request).response
///
/// The client connects in the background and reconnects automatically. Loads that are unanswered
/// when a coordinator restarts are sent again. The connection ends with `close()`, or otherwise,
/// after the last reference to the client is released, once all its loads have ended.
public final class ImagebusClient: Sendable {
    let commands: CommandQueue
    let loopOwnership: LoopOwnership
    private let connectionExecutor: ConnectionExecutor
    private let ended: ThreadGate
    let tokens = TokenSource()
    let answers: RepeatedAnswers
    /// The client's own memory cache (`ClientConfiguration.memoryCache`); `nil` if there is none.
    public let memory: ClientMemoryCache?

    /// The largest number of commands that may be queued in this process.
    private static let commandsMax = 1_000_000

    /// Creates a client and starts its thread. Throws `unavailable` for an invalid endpoint.
    public init(_ configuration: ClientConfiguration) throws(ImageError) {
        memory = configuration.memoryCache.map(ClientMemoryCache.init)
        do {
            let commands = try CommandQueue(commandsMax: Self.commandsMax)
            let executor = ConnectionExecutor(commands)
            let copies = BufferPool()
            let answers = RepeatedAnswers(commands, copies)
            if !configuration.repeatsAnswers { answers.close() }
            self.answers = answers
            let loopOwnership = LoopOwnership(
                try ClientConnection(configuration, commands, executor, answers, copies), commands)
            (self.commands, self.loopOwnership) = (commands, loopOwnership)
            connectionExecutor = executor
            let ended = try ThreadGate()
            self.ended = ended
            _ = try Thread(name: "imagebus-client") { Self.run(loopOwnership, executor, ended) }
        } catch {
            throw ImageError(.unavailable, "the client cannot be started: \(error)")
        }
    }

    deinit { _ = commands.post(.endWhenIdle) }

    /// Begins a load. Its task ends exactly once. All loads of a `group` can be canceled together.
    /// With `detach`, the stack completes the load even if this process ends, so that the result is
    /// stored. The `trace` is passed on with all work that the load causes and appears in the logs
    /// of the processes that do it.
    ///
    /// `wantsProgress` and `wantsInfo` enable the corresponding events in `LoadTask.progress` and
    /// `LoadTask.events`: the progress of the transfer, and the contents of the header as soon as
    /// it is available.
    ///
    /// A `slot` names the place the image is for, such as a place on a page: a new load in a slot
    /// cancels the older one, which ends first, unless the new load has `avoidAutoCancelImage`.
    ///
    /// If this client has received an answer from the memory tier that is still valid, the load
    /// returns it immediately: the task has already ended when this returns (SEMANTICS §5.24).
    ///
    /// A program that loads on behalf of many users passes a number that identifies the user as
    /// `httpClient`. The loads of different users take turns, so that none waits behind thousands
    /// of loads of another. 0 means no particular user.
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        wantsProgress: Bool = false, wantsInfo: Bool = false, detach: Bool = false,
        trace: TraceContext? = nil, httpClient: UInt64 = 0
    ) -> LoadTask {
        if slot == nil, trace == nil, let response = answerAtHand(to: request) {
            return LoadTask(token: tokens.next(), endedWith: response, commands: commands)
        }
        return begin(
            request,
            LoadOptions(
                group: group, wantsProgress: wantsProgress, wantsInfo: wantsInfo, detach: detach,
                httpClient: httpClient),
            slot: slot, logContext: LogContext(trace: trace))
    }

    /// Begins a load that the coordinator answers.
    func begin(
        _ request: ImageRequest, _ options: LoadOptions, slot: String? = nil,
        logContext: LogContext = LogContext(), callbacks: LoadCallbacks? = nil,
        uploading bytes: [UInt8] = []
    ) -> LoadTask {
        let task = LoadTask(
            token: tokens.next(), wantsProgress: options.wantsProgress && callbacks == nil,
            commands: commands, callbacks: callbacks, keeper: memory?.keeper(of: request))
        post(
            PendingLoad(
                request, task, options, slot: slot, logContext: logContext, uploading: bytes))
        return task
    }

    /// Returns the answer that a load of this request would get immediately: an image of the memory
    /// tier that this client has received before and that is still valid, or an answer of `memory`
    /// that may be stale. An answer of the former kind counts as a load. Returns `nil`, without any
    /// effect, if the coordinator has to be asked.
    public func answerAtHand(to request: ImageRequest) -> ImageResponse? {
        guard let memory else { return answers.response(to: request) }
        if let response = memory.response(to: request) { return response }
        let response = answers.response(to: request)
        if let response { memory.keep(response, to: request) }
        return response
    }

    /// Loads an image, blocking the calling thread, and returns the response.
    ///
    /// If no other load of this client is pending, the calling thread itself communicates with the
    /// coordinator. That takes half the time of passing the load to the client's thread and being
    /// woken by it.
    public func loadAndWait(
        _ request: ImageRequest, group: GroupID? = nil, trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        if trace == nil, let response = answerAtHand(to: request) { return response }
        return try run(request, LoadOptions(group: group), trace)
    }

    /// Runs a load that the coordinator answers, on the calling thread if possible.
    func run(
        _ request: ImageRequest, _ options: LoadOptions, _ trace: TraceContext?,
        uploading bytes: [UInt8] = []
    ) throws(ImageError) -> ImageResponse {
        let task = LoadTask(
            token: tokens.next(), commands: commands, keeper: memory?.keeper(of: request))
        let load = PendingLoad(
            request, task, options, logContext: LogContext(trace: trace), uploading: bytes)
        if !loopOwnership.run(load) { post(load) }
        return try task.waitForResponse()
    }

    /// An executor that runs tasks on the thread that communicates with the coordinator, between
    /// its replies. It suits tasks that do little work between one load and the next, because no
    /// other thread has to be woken.
    ///
    ///     await withTaskExecutorPreference(client.executor) { … }
    ///
    /// Such a task must neither block nor compute for long, because all loads of this client would
    /// wait. Once the client has ended, tasks run where tasks without a preference do.
    public var executor: any TaskExecutor { connectionExecutor }

    /// Posts a load to the connection.
    private func post(_ load: PendingLoad) {
        guard !commands.post(.load(load)) else { return }
        load.task.finish(.failure(commands.refusal), onClientThread: false)
    }

    /// Begins a load of a URL.
    public func load(_ url: String, wantsProgress: Bool = false) -> LoadTask {
        load(ImageRequest(url: url), wantsProgress: wantsProgress)
    }

    /// Cancels all loads of a group that were begun before this call.
    public func cancel(group: GroupID) { _ = commands.post(.cancelGroup(group)) }

    /// Closes the connection and ends all pending loads with `cancelled`, and every later load as
    /// well. Bytes already delivered stay valid.
    public func close() {
        answers.close()
        memory?.close()
        _ = commands.post(.close)
    }

    /// Closes the client and waits at most `limit` milliseconds until the coordinator was notified.
    /// For a process about to exit, whose client would otherwise count as lost. Must not be called
    /// on the client's own thread.
    public func close(waitingMilliseconds limit: Int) {
        close()
        // If waiting fails, the caller continues.
        try? ended.wait(milliseconds: limit)
    }

    private static func run(
        _ loopOwnership: LoopOwnership, _ executor: ConnectionExecutor, _ ended: ThreadGate
    ) {
        let error = loopOwnership.run()
        loopOwnership.end()
        loopOwnership.commands.close(.lineEnded(error))
        executor.retire()
        // The sockets are closed and all queued messages were sent.
        ended.open()
    }
}

/// Where a client connects, and how bytes are delivered to it.
public struct ClientConfiguration: Hashable, Sendable {
    /// The path of the socket: `front.sock` for loads, `admin.sock` for operators.
    public var endpoint: String
    /// The `results/` directory of the same stack, from which delivered bytes are read.
    public var resultsDirectory: String
    /// How long a request waits for a coordinator to serve the endpoint, in milliseconds, before it
    /// ends with `unavailable`.
    public var connectTimeoutMilliseconds: Int
    /// Whether the client waits that long for a coordinator. If not, a client whose first
    /// connection is not accepted ends immediately, and its requests with it.
    public var awaitsCoordinator = true
    /// The users whose coordinator is trusted to serve the endpoint, such as root and the current
    /// user. If the endpoint is served by another user, the client sends nothing, and its requests
    /// end with `addressForbidden`. `nil` allows any user, because the endpoint itself is trusted.
    public var servers: Set<UInt32>?
    /// How image bytes are delivered.
    public var delivery = Delivery.automatic
    /// Whether answers of the memory tier are repeated without a message for as long as the
    /// coordinator keeps them valid (SEMANTICS §5.24).
    public var repeatsAnswers = true
    /// Whether identical loads submitted before the first of them was sent are combined into one
    /// message. Each load ends independently, but the stack receives, counts and logs only one
    /// (SEMANTICS §3.6). If false, each load is a message of its own, and the stack shares the
    /// work.
    public var sharesLoads = true
    /// The limits of the client's own memory cache, from which images are returned without a copy
    /// (`ImagebusClient.memory`); `nil` disables it. Without `repeatsAnswers`, or if the
    /// coordinator issues no vouchers, only answers that may be stale are returned from it.
    public var memoryCache: MemoryCacheLimits?
    /// The largest image, in bytes, that is accepted in chunks; a larger one ends its load with
    /// `limitExceeded`. At least 1. Images in shared memory are not limited by this.
    public var chunkedImageBytesMax = 1 << 30

    /// Identifies the client if it is a program of the stack; shown by `imagebus status`.
    public var front: FrontProcess?

    /// Creates a configuration from absolute paths.
    public init(endpoint: String, resultsDirectory: String, connectTimeoutMilliseconds: Int = 5_000)
    {
        self.endpoint = endpoint
        self.resultsDirectory = resultsDirectory
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    /// Creates a configuration for the stack in a runtime directory, using its `front` listener, or
    /// `admin` for operators.
    public init(
        runtimeDirectory: String, isOperator: Bool = false,
        connectTimeoutMilliseconds: Int = 5_000
    ) throws(RuntimePathsError) {
        let paths = try RuntimePaths(resolving: runtimeDirectory)
        self.init(
            endpoint: isOperator ? paths.adminSocket : paths.frontSocket,
            resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectTimeoutMilliseconds)
    }
}

/// How image bytes are delivered to a client.
public enum Delivery: String, CaseIterable, Hashable, Sendable {
    /// From shared memory if `results/` can be opened for reading when the client connects,
    /// otherwise in chunks. Also in chunks for a result that was overwritten four times in a row
    /// before it could be copied.
    case automatic
    /// From shared memory only. A result that is overwritten four times in a row before it can be
    /// copied ends its load with `stale`.
    case mapped
    /// In chunks through the socket (PROTOCOL §10.1), for clients that share no memory with the
    /// stack, such as one in another container. Ignored by coordinators that don't support chunks.
    case chunks = "pieces"

    /// Whether a session requests chunks for all its loads.
    func wantsChunks(resultsDirectory: String) -> Bool {
        switch self {
        case .automatic: !Self.canRead(resultsDirectory)
        case .mapped: false
        case .chunks: true
        }
    }

    /// Opening `/.` checks both permissions: to list the directory and to open files in it.
    private static func canRead(_ directory: String) -> Bool {
        let opened = try? FileDescriptor.open("\(directory)/.", [.readOnly, .directory])
        return opened != nil
    }
}

/// Generates tokens of 128 bits from the kernel's random numbers, fetched in batches. Can be used
/// from any thread.
final class TokenSource: Sendable {
    private let words = Mutex<[UInt64]>([])
    private static let wordsMax = 256

    func next() -> Token {
        words.withLock { words in
            if words.count < 2 { words = Self.draw() }
            let high = words.removeLast()
            return Token(Identifier128(high: high, low: words.removeLast()))
        }
    }

    private static func draw() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: wordsMax) { words, count in
            Random.fill(UnsafeMutableRawBufferPointer(words))
            count = wordsMax
        }
    }
}

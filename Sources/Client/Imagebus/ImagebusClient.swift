import EventLoop
public import ImageModel
import Linux
public import Messages
public import SharedArena
import Synchronization
import ZeroMQ

/// A connection to a stack. Any thread.
///
///     let client = try ImagebusClient(ClientConfiguration(runtimeDirectory: "/run/imagebus"))
///     var request = ImageRequest(url: "https://example.org/photo.jpg")
///     request.steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
///     let image = try await client.load(request).response
///
/// It connects in the background, again and again; loads that have no answer when a coordinator
/// restarts are sent again. `close()` ends it; without that it ends after the last reference to it,
/// when what was begun has ended.
public final class ImagebusClient: Sendable {
    let commands: CommandQueue
    let leadership: LoopLeadership
    private let lineExecutor: LineExecutor
    private let ended: LineEnd
    let tokens = TokenSource()
    let answers: RepeatedAnswers
    /// What it keeps in this process (`ClientConfiguration.memoryCache`); `nil` where that is
    /// nothing.
    public let memory: ClientMemoryCache?
    private let connectTimeoutMilliseconds: Int

    /// Loads that may be pending in this process.
    private static let ordersMax = 1_000_000

    /// Starts the client's thread. Throws `unavailable` for an endpoint that cannot be one.
    public init(_ configuration: ClientConfiguration) throws(ImageError) {
        connectTimeoutMilliseconds = configuration.connectTimeoutMilliseconds
        memory = configuration.memoryCache.map(ClientMemoryCache.init)
        do {
            let commands = try CommandQueue(ordersMax: Self.ordersMax)
            let executor = LineExecutor(commands)
            let copies = CopyPool()
            let answers = RepeatedAnswers(commands, copies)
            if !configuration.repeatsAnswers { answers.close() }
            self.answers = answers
            let leadership = LoopLeadership(
                try ClientLine(configuration, commands, executor, answers, copies), commands)
            (self.commands, self.leadership, lineExecutor) = (commands, leadership, executor)
            let ended = try LineEnd()
            self.ended = ended
            _ = try Thread(name: "imagebus-client") { Self.run(leadership, executor, ended) }
        } catch {
            throw ImageError(.unavailable, "the client cannot start: \(error)")
        }
    }

    deinit { _ = commands.post(.endWhenIdle) }

    /// Begins a load. Its task ends exactly once; a `group` can be cancelled as a whole. With
    /// `detach` the stack goes on with it when this process ends, so that its result is stored. A
    /// `trace` is carried on with all work that the load begins, into the logs of the processes
    /// that do it.
    ///
    /// `wantsProgress` and `wantsInfo` are for `LoadTask.progress` and `LoadTask.events`: how far
    /// the transfer is, and what the header says as soon as it is there.
    ///
    /// A `slot` names what the image is for, such as a place on a page: a new load in it cancels
    /// the older one, which ends before it, unless the new one has `avoidAutoCancelImage`.
    ///
    /// An answer of memory that this client was told before, and that still stands, is given at
    /// once: the task has ended when this returns (SEMANTICS §5.24).
    ///
    /// A program that loads for many users of its own names each by a number, its `visitor`: their
    /// loads take turns, so that none waits behind the thousands of another. 0 is nobody in
    /// particular.
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        wantsProgress: Bool = false, wantsInfo: Bool = false, detach: Bool = false,
        trace: TraceContext? = nil, visitor: UInt64 = 0
    ) -> LoadTask {
        if slot == nil, trace == nil, let response = answerAtHand(to: request) {
            return LoadTask(token: tokens.next(), endedWith: response, commands: commands)
        }
        let task = LoadTask(
            token: tokens.next(), wantsProgress: wantsProgress, commands: commands,
            keeper: memory?.keeper(of: request))
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress, wantsInfo: wantsInfo,
                detach: detach, slot: slot, logContext: LogContext(trace: trace),
                visitor: visitor))
        return task
    }

    /// The answer that a load of this request would have at once: an image of the memory tier that
    /// this client was told before, and that still stands, or one of `memory` that may be stale.
    /// The former counts as such a load. `nil`: the coordinator has to be asked; nothing was done
    /// then.
    public func answerAtHand(to request: ImageRequest) -> ImageResponse? {
        guard let memory else { return answers.response(to: request) }
        if let response = memory.response(to: request) { return response }
        let response = answers.response(to: request)
        if let response { memory.keep(response, to: request) }
        return response
    }

    /// Loads on a thread that may block, and returns how it ended.
    ///
    /// Where no other load of this client is pending, the calling thread itself talks to the
    /// coordinator: that takes half the time of handing the load to the client's thread and being
    /// woken by it.
    public func loadAndWait(
        _ request: ImageRequest, group: GroupID? = nil, trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        if trace == nil, let response = answerAtHand(to: request) { return response }
        let task = LoadTask(
            token: tokens.next(), commands: commands, keeper: memory?.keeper(of: request))
        let load = PendingLoad(
            request, task, group: group, logContext: LogContext(trace: trace))
        if !leadership.run(load) { post(load) }
        return try task.waitForResponse()
    }

    /// Runs tasks on the thread that talks to the coordinator, between its replies: for tasks that
    /// do little between one load and the next, since no other thread has to be woken then.
    ///
    ///     await withTaskExecutorPreference(client.executor) { … }
    ///
    /// Such a task must neither block nor compute for long: all loads of this client would wait.
    /// Once the client has ended, they run where tasks without a preference do.
    public var executor: any TaskExecutor { lineExecutor }

    /// Leaves a load for the line, with the bytes that it brings along.
    func post(_ load: PendingLoad, uploading bytes: [UInt8]? = nil) {
        let order = bytes.map { ClientOrder.upload(load, $0) } ?? .load(load)
        if !commands.post(order) { load.task.finish(.failure(commands.refusal), onLine: false) }
    }

    /// Begins a load of a URL.
    public func load(_ url: String, wantsProgress: Bool = false) -> LoadTask {
        load(ImageRequest(url: url), wantsProgress: wantsProgress)
    }

    /// Cancels all loads of a group that were begun before.
    public func cancel(group: GroupID) { _ = commands.post(.cancelGroup(group)) }

    /// Cancels a request of any client. For operators, whose endpoint is `admin.sock`.
    public func cancelAny(_ token: Token) { _ = commands.post(.cancelAny(token)) }

    /// Cancels all requests of a group, of any client. For operators.
    public func cancelAny(group: GroupID) { _ = commands.post(.cancelGroupOfAny(group)) }

    /// Processes, queues and counters of the stack. Throws `unavailable` where nobody answers
    /// within the connect timeout.
    public func status() async throws(ImageError) -> StatusReport {
        try await ask(.status) { if case .status(let report) = $0 { report } else { nil } }
    }

    /// Lists or changes what is not tried. For operators: on `front.sock` it is refused with
    /// `protocolViolation`. Throws `unavailable` where nobody answers within the connect timeout.
    public func blacklist(_ command: BlacklistCommand) async throws(ImageError) -> BlacklistReport {
        try await ask(.blacklist(command)) {
            if case .blacklist(let report) = $0 { report } else { nil }
        }
    }

    /// Has no transfer begin until `resume`, or has them begin again; those that run go on. Returns
    /// the status after that. For operators, as `blacklist`.
    public func downloads(_ command: DownloadCommand) async throws(ImageError) -> StatusReport {
        try await ask(.downloads(command)) {
            if case .status(let report) = $0 { report } else { nil }
        }
    }

    /// Has the processes of a kind, or of one pool of it, finish what they hold and end; their
    /// supervisors start the next ones. Returns how many were told, before they have ended:
    /// `status` shows them as `draining`.
    ///
    /// For operators: on `front.sock` it is refused with `protocolViolation`. Throws `unavailable`
    /// where nobody answers within the connect timeout, or the connection ends before the answer.
    public func drain(
        _ kind: WorkerKind, pool: PoolName? = nil
    ) async throws(ImageError) -> UInt32 {
        try await ask(.drain(kind, pool)) {
            if case .draining(let count) = $0 { count } else { nil }
        }
    }

    /// Asks the coordinator; `answer` reads the message that answers the question.
    func ask<Answer: Sendable>(
        _ question: ClientMessage, _ answer: @escaping @Sendable (ServerMessage) -> Answer?
    ) async throws(ImageError) -> Answer {
        let deadline = Instant.now().adding(milliseconds: connectTimeoutMilliseconds)
        let result: Result<ServerMessage, ImageError> = await withCheckedContinuation {
            let inquiry = Inquiry(
                question, deadline: deadline, isAnswer: { answer($0) != nil }, $0)
            if !commands.post(.ask(inquiry)) { inquiry.answer(.failure(commands.refusal)) }
        }
        guard let value = answer(try result.get()) else {
            preconditionFailure("an inquiry takes only what answers it")
        }
        return value
    }

    /// Ends all pending loads with `cancelled`, and the connection; so does every later load. Bytes
    /// that were delivered stay.
    public func close() {
        answers.close()
        memory?.close()
        _ = commands.post(.close)
    }

    /// The same, and waits at most so long until the coordinator was told: for a process that ends
    /// then, whose client would count as lost. Not on the client's own thread.
    public func close(waitingMilliseconds limit: Int) {
        close()
        ended.wait(milliseconds: limit)
    }

    private static func run(
        _ leadership: LoopLeadership, _ executor: LineExecutor, _ ended: LineEnd
    ) {
        let error = leadership.run()
        leadership.end()
        leadership.commands.close(.lineEnded(error))
        executor.retire()
        ended.come()
    }
}

/// Where a client connects, and how bytes come to it.
public struct ClientConfiguration: Hashable, Sendable {
    /// The socket's path: `front.sock` for loads, `admin.sock` for operators.
    public var endpoint: String
    /// `results/` of the same stack, from which delivered bytes are read.
    public var resultsDirectory: String
    /// Milliseconds for which a request waits for somebody to serve the endpoint; it then ends with
    /// `unavailable`.
    public var connectTimeoutMilliseconds: Int
    /// Whether somebody who serves the endpoint is waited for that long. If not, a client whose
    /// first connection nobody takes ends at once, and its requests with it.
    public var awaitsCoordinator = true
    /// Users whose coordinator may serve the endpoint, such as root and the user itself. A client
    /// that meets another one sends nothing, and its requests end with `addressForbidden`. `nil`:
    /// whoever serves it, since the endpoint itself is trusted.
    public var servers: Set<UInt32>?
    /// How the bytes of images come.
    public var delivery = Delivery.automatic
    /// Whether answers of the memory tier are given again without asking, for as long as the
    /// coordinator says that they stand (SEMANTICS §5.24).
    public var repeatsAnswers = true
    /// Whether loads that ask for the same before the first of them was sent are one message: each
    /// ends by itself, and the stack is asked, counts and logs once (SEMANTICS §3.6). Without it
    /// each is a message, which the stack has share the work.
    public var sharesLoads = true
    /// What the client keeps in its own process, so that it is given again without a copy
    /// (`ImagebusClient.memory`); `nil`: nothing. Without `repeatsAnswers`, and where the
    /// coordinator issues no vouchers, nothing is given of it but what may be stale.
    public var memoryCache: MemoryCacheLimits?
    /// Bytes of one image that comes in pieces at most; a larger one ends its load with
    /// `limitExceeded`. At least 1. What lies in shared memory is not limited here.
    public var piecedImageBytesMax = 1 << 30

    /// What the client is, where it is a program of the stack: `imagebus status` lists it.
    public var front: FrontProcess?

    /// Names both by absolute paths.
    public init(endpoint: String, resultsDirectory: String, connectTimeoutMilliseconds: Int = 5_000)
    {
        self.endpoint = endpoint
        self.resultsDirectory = resultsDirectory
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    /// The stack of a runtime directory: its `front` listener, or `admin` for operators.
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

/// How the bytes of images come to a client.
public enum Delivery: String, CaseIterable, Hashable, Sendable {
    /// Out of shared memory where `results/` can be opened for reading when the line connects, else
    /// in pieces; also in pieces what could not be read there: a result that was reused faster than
    /// it was copied, four times in a row.
    case automatic
    /// Out of shared memory only. A result that is reused faster than it can be copied, four times
    /// in a row, ends its load with `stale`.
    case mapped
    /// In pieces through the socket (PROTOCOL §10.1), for clients that share no memory with the
    /// stack, such as one in another container. A coordinator that knows no pieces ignores it.
    case pieces

    /// Whether a session asks for pieces of all its loads.
    func wantsPieces(resultsDirectory: String) -> Bool {
        switch self {
        case .automatic: !Self.canRead(resultsDirectory)
        case .mapped: false
        case .pieces: true
        }
    }

    /// The dot asks for both rights: to list the directory and to open what is in it.
    private static func canRead(_ directory: String) -> Bool {
        do throws(Errno) {
            let opened = try FileDescriptor.open("\(directory)/.", [.readOnly, .directory])
            try opened.close()
            return true
        } catch {
            return false
        }
    }
}

/// Tokens: 128 bits of the kernel's random numbers each, fetched many at a time. Any thread.
final class TokenSource: Sendable {
    private struct Store {
        var words: [UInt64] = []
    }

    private let store = Mutex(Store())
    private static let wordsMax = 256

    func next() -> Token {
        store.withLock { store in
            if store.words.count < 2 { store.words = Self.draw() }
            let high = store.words.removeLast()
            return Token(Identifier128(high: high, low: store.words.removeLast()))
        }
    }

    private static func draw() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: wordsMax) { words, count in
            Random.fill(UnsafeMutableRawBufferPointer(words))
            count = wordsMax
        }
    }
}

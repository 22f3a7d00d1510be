public import Model
import Synchronization

// Loads with callbacks, as in SDWebImage.
extension ImagebusClient {
    /// Begins a load and calls `completion` exactly once with the result. Before that it calls, if
    /// given, `progress` with the progress of the transfer; `partial` with images of the bytes
    /// received so far, which enables `RequestOptions.progressiveLoad`; and `cached` with the
    /// cached image of a load with `refreshCached`. All callbacks run on `executor`. If the
    /// executor is busy, only the newest events before the end are kept.
    ///
    /// All processes include `logContext` in their log entries about the load. For the other
    /// parameters, see `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:httpClient:)`.
    @discardableResult
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        on executor: CallbackExecutor, httpClient: UInt64 = 0,
        logContext: LogContext = LogContext(),
        progress: (@Sendable (RequestProgress) -> Void)? = nil,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        cached: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        var request = request
        if partial != nil { request.options.insert(.progressiveLoad) }
        let callbacks = LoadCallbacks(
            on: executor, progress: progress, partial: partial, cached: cached,
            completion: completion)
        if slot == nil, !logContext.isSampled, let response = answerAtHand(to: request) {
            let task = LoadTask(token: tokens.next(), endedWith: response, commands: commands)
            callbacks.notify(.end(.success(response)), onThreadOf: nil)
            return task
        }
        return load(
            request, slot: slot, group: group, wantsProgress: progress != nil,
            httpClient: httpClient, logContext: logContext, callbacks: callbacks)
    }

    /// Begins a load with existing callbacks, after no immediate answer was found.
    func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil, wantsProgress: Bool,
        httpClient: UInt64, logContext: LogContext = LogContext(), callbacks: LoadCallbacks
    ) -> LoadTask {
        let task = LoadTask(
            token: tokens.next(), commands: commands, callbacks: callbacks,
            keeper: memory?.keeper(of: request))
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress, slot: slot,
                logContext: logContext, httpClient: httpClient))
        return task
    }
}

/// The callbacks of a load, and where they run: directly, or on another executor in the order of
/// the events.
struct LoadCallbacks: Sendable {
    private let executor: CallbackExecutor
    private let progress: (@Sendable (RequestProgress) -> Void)?
    private let partial: (@Sendable (ImageResponse) -> Void)?
    private let cached: (@Sendable (ImageResponse) -> Void)?
    private let completion: @Sendable (Result<ImageResponse, ImageError>) -> Void
    /// The events for another executor; `nil` if all callbacks run directly, as most callers want.
    private let queue: CallbackQueue?

    init(
        on executor: CallbackExecutor, progress: (@Sendable (RequestProgress) -> Void)?,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        cached: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) {
        (self.executor, self.progress, self.partial) = (executor, progress, partial)
        (self.cached, self.completion) = (cached, completion)
        queue = executor.isInline ? nil : CallbackQueue()
    }

    /// Calls back here, or passes the event to the executor's task. The end is the last event and
    /// occurs once.
    func notify(_ event: LoadEvent, onThreadOf commands: CommandQueue?) {
        guard let queue, !executor.isHere(onThreadOf: commands) else { return call(event) }
        queue.add(event, on: executor) { call($0) }
    }

    private func call(_ event: LoadEvent) {
        switch event {
        case .progress(let event): progress?(event)
        case .info: break
        case .partial(let response): partial?(response)
        case .cached(let response): cached?(response)
        case .end(let result): completion(result)
        }
    }
}

/// The events of a load whose callbacks run in a task on another executor.
private final class CallbackQueue: Sendable {
    /// The input of the task, once it exists.
    private let sink = Mutex<AsyncStream<LoadEvent>.Continuation?>(nil)

    /// The number of events queued for a busy executor; of progress and partial images only the
    /// newest are kept.
    private static let eventsMax = 16

    /// Passes an event to the task, which the first event starts.
    func add(
        _ event: LoadEvent, on executor: CallbackExecutor,
        call: @escaping @Sendable (LoadEvent) -> Void
    ) {
        let sink = sink.withLock { sink in
            if let sink { return sink }
            let (stream, created) = AsyncStream<LoadEvent>.makeStream(
                bufferingPolicy: .bufferingNewest(Self.eventsMax))
            executor.start { for await event in stream { call(event) } }
            sink = created
            return created
        }
        sink.yield(event)
        if case .end = event { sink.finish() }
    }
}

/// Where the callbacks of a load run (SDWebImage's `callbackQueue` and its policies).
///
/// Progress is reported in order and before the completion, which is called once.
public struct CallbackExecutor: Sendable {
    enum Policy {
        case inline
        case dispatch
        case safe
    }

    let policy: Policy
    private let executor: (any TaskExecutor)?

    /// Immediately, on the thread where the event occurs: the client's own, or that of a call which
    /// ends the load. Callbacks must not block, because all loads of the client would wait.
    /// Corresponds to SDWebImage's policy Invoke (2).
    public static let inline = CallbackExecutor(policy: .inline, executor: nil)

    /// Later, in a task on this executor, or on the default one. Corresponds to SDWebImage's policy
    /// Dispatch (1).
    public static func dispatch(_ executor: (any TaskExecutor)? = nil) -> CallbackExecutor {
        CallbackExecutor(policy: .dispatch, executor: executor)
    }

    /// Immediately if already on this executor, such as `ImagebusClient.executor`, otherwise later,
    /// in a task on it. Corresponds to SDWebImage's policy SafeExecute (0).
    public static func safe(_ executor: any TaskExecutor) -> CallbackExecutor {
        CallbackExecutor(policy: .safe, executor: executor)
    }

    /// Whether callbacks always run directly on the thread where the event occurs.
    var isInline: Bool { policy == .inline }

    /// Whether callbacks can run directly here: on a client's loop, or outside of one if `commands`
    /// is nil.
    func isHere(onThreadOf commands: CommandQueue?) -> Bool {
        switch policy {
        case .inline: return true
        case .dispatch: return false
        case .safe:
            guard let executor else { return false }
            if let commands, let connection = executor as? ConnectionExecutor {
                return connection.commands === commands
            }
            return withUnsafeCurrentTask { task in
                task?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
            }
        }
    }

    /// Runs work in a detached task on the executor.
    func start(_ work: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: executor, operation: work)
    }
}

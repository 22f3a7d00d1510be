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
        return begin(
            request,
            LoadOptions(group: group, wantsProgress: progress != nil, httpClient: httpClient),
            slot: slot, logContext: logContext, callbacks: callbacks)
    }
}

/// The callbacks of a load, and where they run: directly, or on another executor in the order of
/// the events.
struct LoadCallbacks: Sendable {
    private let executor: CallbackExecutor
    private let call: @Sendable (LoadEvent) -> Void
    /// The input of the task on another executor, once it exists; `nil` if all callbacks run
    /// directly, as most callers want.
    private let queue: CallbackQueue?

    init(on executor: CallbackExecutor, _ call: @escaping @Sendable (LoadEvent) -> Void) {
        (self.executor, self.call) = (executor, call)
        queue = executor.isInline ? nil : CallbackQueue()
    }

    init(
        on executor: CallbackExecutor, progress: (@Sendable (RequestProgress) -> Void)? = nil,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        cached: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) {
        self.init(on: executor) { event in
            switch event {
            case .progress(let event): progress?(event)
            case .info: break
            case .partial(let response): partial?(response)
            case .cached(let response): cached?(response)
            case .end(let result): completion(result)
            }
        }
    }

    /// Calls back here, or passes the event to the executor's task, which the first one starts. The
    /// end is the last event and occurs once.
    func notify(_ event: LoadEvent, onThreadOf commands: CommandQueue?) {
        guard let queue, !executor.isHere(onThreadOf: commands) else { return call(event) }
        let sink = queue.sink.withLock { sink in
            if let sink { return sink }
            let (stream, created) = AsyncStream<LoadEvent>.makeStream(
                bufferingPolicy: .bufferingNewest(CallbackQueue.eventsMax))
            executor.start { [call] in for await event in stream { call(event) } }
            sink = created
            return created
        }
        sink.yield(event)
        if case .end = event { sink.finish() }
    }

    private final class CallbackQueue: Sendable {
        let sink = Mutex<AsyncStream<LoadEvent>.Continuation?>(nil)

        /// The number of events queued for a busy executor; of progress and partial images only the
        /// newest are kept.
        static let eventsMax = 16
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

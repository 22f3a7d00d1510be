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
        let request = partial == nil ? request : request.withPartialImages
        let callbacks = LoadCallbacks(
            on: executor, progress: progress, partial: partial, cached: cached,
            completion: completion)
        if slot == nil, !logContext.isSampled, let response = answerAtHand(to: request) {
            let task = LoadTask(token: tokens.next(), endedWith: response, commands: commands)
            callbacks.end(with: .success(response), onThreadOf: nil)
            return task
        }
        return load(
            request, slot: slot, group: group, wantsProgress: progress != nil,
            httpClient: httpClient,
            logContext: logContext, callbacks: callbacks)
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

extension ImageRequest {
    fileprivate var withPartialImages: ImageRequest {
        guard !options.contains(.progressiveLoad) else { return self }
        var request = self
        request.options.insert(.progressiveLoad)
        return request
    }
}

/// The callbacks of a load, and where they run.
///
/// Most callers only want an immediate completion, which needs no object besides the load.
struct LoadCallbacks: Sendable {
    private let executor: CallbackExecutor
    private let completion: @Sendable (Result<ImageResponse, ImageError>) -> Void
    /// Set for callers that want more than the completion, or may want it on another executor.
    private let events: CallbackEvents?

    init(
        on executor: CallbackExecutor, progress: (@Sendable (RequestProgress) -> Void)?,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        cached: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) {
        (self.executor, self.completion) = (executor, completion)
        let wantsEvents = progress != nil || partial != nil || cached != nil
        guard wantsEvents || !executor.isInline else {
            events = nil
            return
        }
        events = CallbackEvents(
            on: executor, progress: progress, partial: partial, cached: cached,
            completion: completion)
    }

    /// Calls back here, or forwards the event to the executor's task.
    func notify(_ event: CallbackEvents.Event, onThreadOf commands: CommandQueue?) {
        guard let events else { return }
        guard executor.isHere(onThreadOf: commands) else { return events.handOn(event) }
        events.call(event)
    }

    /// Reports the end, which is the last event and occurs once.
    func end(with result: Result<ImageResponse, ImageError>, onThreadOf commands: CommandQueue?) {
        if let events, !executor.isHere(onThreadOf: commands) {
            events.handOn(.end(result))
        } else {
            completion(result)
        }
    }
}

/// Invokes the callbacks of a load: directly, or in a single task on another executor, which keeps
/// the events in order.
final class CallbackEvents: Sendable {
    enum Event: Sendable {
        case progress(RequestProgress)
        case partial(ImageResponse)
        case cached(ImageResponse)
        case end(Result<ImageResponse, ImageError>)
    }

    private let executor: CallbackExecutor
    private let progress: (@Sendable (RequestProgress) -> Void)?
    private let partial: (@Sendable (ImageResponse) -> Void)?
    private let cached: (@Sendable (ImageResponse) -> Void)?
    private let completion: @Sendable (Result<ImageResponse, ImageError>) -> Void
    /// The input of the task that runs the callbacks elsewhere, once it exists.
    private let sink = Mutex<AsyncStream<Event>.Continuation?>(nil)

    /// The number of events queued for a busy executor; of progress and partial images only the
    /// newest are kept.
    private static let eventsMax = 16

    init(
        on executor: CallbackExecutor, progress: (@Sendable (RequestProgress) -> Void)?,
        partial: (@Sendable (ImageResponse) -> Void)?, cached: (@Sendable (ImageResponse) -> Void)?,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) {
        self.executor = executor
        self.progress = progress
        self.partial = partial
        self.cached = cached
        self.completion = completion
    }

    func call(_ event: Event) {
        switch event {
        case .progress(let event): progress?(event)
        case .partial(let response): partial?(response)
        case .cached(let response): cached?(response)
        case .end(let result): completion(result)
        }
    }

    func handOn(_ event: Event) {
        let sink = sink.withLock { sink in
            let known = sink ?? start()
            sink = known
            return known
        }
        sink.yield(event)
        if case .end = event { sink.finish() }
    }

    private func start() -> AsyncStream<Event>.Continuation {
        let (stream, sink) = AsyncStream<Event>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.eventsMax))
        executor.start { for await event in stream { self.call(event) } }
        return sink
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

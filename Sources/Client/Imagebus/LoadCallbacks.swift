public import ImageModel
public import Messages
import Synchronization

// Loads for callers that want to be called, as SDWebImage's are.
extension ImagebusClient {
    /// Begins a load and calls `completion` once with how it ended, and before it `progress`, if
    /// that is there, with how far it is, `partial` with images of what has come so far, which
    /// asks for such (`RequestOptions.progressiveLoad`), and `cached` with the cached image of a
    /// load with `refreshCached`. All run where `executor` says. The newest events before the end
    /// are kept for an executor that is busy.
    ///
    /// `logContext` is what the logs of all processes say of the load. See
    /// `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:visitor:)` for the rest.
    @discardableResult
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        on executor: CallbackExecutor, visitor: UInt64 = 0, logContext: LogContext = LogContext(),
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
            callbacks.end(with: .success(response), onLineOf: nil)
            return task
        }
        return load(
            request, slot: slot, group: group, wantsProgress: progress != nil, visitor: visitor,
            logContext: logContext, callbacks: callbacks)
    }

    /// The same for callbacks that are there already, where nothing is at hand.
    func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil, wantsProgress: Bool,
        visitor: UInt64, logContext: LogContext = LogContext(), callbacks: LoadCallbacks
    ) -> LoadTask {
        let task = LoadTask(
            token: tokens.next(), commands: commands, callbacks: callbacks,
            keeper: memory?.keeper(of: request))
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress, slot: slot,
                logContext: logContext, visitor: visitor))
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

/// What a caller wants to be called with, and where.
///
/// Most callers want the end alone, and at once: that takes no object beside the load.
struct LoadCallbacks: Sendable {
    private let executor: CallbackExecutor
    private let completion: @Sendable (Result<ImageResponse, ImageError>) -> Void
    /// Of callers that want more than the end, or perhaps elsewhere.
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

    /// Calls back here, or hands it on.
    func tell(_ event: CallbackEvents.Event, onLineOf commands: CommandQueue?) {
        guard let events else { return }
        if executor.isHere(onLineOf: commands) { events.call(event) } else { events.handOn(event) }
    }

    /// The same for the end, which comes last, and once.
    func end(with result: Result<ImageResponse, ImageError>, onLineOf commands: CommandQueue?) {
        if let events, !executor.isHere(onLineOf: commands) {
            events.handOn(.end(result))
        } else {
            completion(result)
        }
    }
}

/// Calls back with all that happens to a load: here, or in one task elsewhere, which keeps the
/// events in order.
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
    /// To the task that runs the callbacks elsewhere, once there is one.
    private let sink = Mutex<AsyncStream<Event>.Continuation?>(nil)

    /// Events that wait for an executor that is busy; of progress and partial images only the
    /// newest.
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
/// Progress comes in order and before the completion, which comes once.
public struct CallbackExecutor: Sendable {
    enum Policy {
        case inline
        case dispatch
        case safe
    }

    let policy: Policy
    private let executor: (any TaskExecutor)?

    /// On the thread that learns of it, at once: the client's own, or that of the call where it
    /// ends the load. A callback must not block: all loads of the client would wait. (Invoke, 2)
    public static let inline = CallbackExecutor(policy: .inline, executor: nil)

    /// Later, in a task on this executor, or on the one that tasks have by default. (Dispatch, 1)
    public static func dispatch(_ executor: (any TaskExecutor)? = nil) -> CallbackExecutor {
        CallbackExecutor(policy: .dispatch, executor: executor)
    }

    /// At once where that is on this executor already, such as `ImagebusClient.executor`; else
    /// later, in a task on it. (SafeExecute, 0)
    public static func safe(_ executor: any TaskExecutor) -> CallbackExecutor {
        CallbackExecutor(policy: .safe, executor: executor)
    }

    /// Whether callbacks run where they are called from, wherever that is.
    var isInline: Bool { policy == .inline }

    /// Whether callbacks run where this is called: on the line of a client, unless that is nil.
    func isHere(onLineOf commands: CommandQueue?) -> Bool {
        switch policy {
        case .inline: return true
        case .dispatch: return false
        case .safe:
            guard let executor else { return false }
            if let commands, let line = executor as? LineExecutor {
                return line.commands === commands
            }
            return withUnsafeCurrentTask { task in
                task?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
            }
        }
    }

    /// Runs work in a task.
    func start(_ work: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: executor, operation: work)
    }
}

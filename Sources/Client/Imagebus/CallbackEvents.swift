import ImageModel
import Messages
import Synchronization

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

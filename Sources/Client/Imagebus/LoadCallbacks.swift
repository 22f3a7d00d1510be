import ImageModel
import Messages

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

import ImageModel
import Messages

/// What a load has told so far, and who listens. Whoever comes late hears the newest of each kind
/// first.
struct LoadEvents {
    private var info: ImageInfo?
    private var progress: RequestProgress?
    private var partial: ImageResponse?
    private var cached: ImageResponse?
    private var listeners: [AsyncStream<LoadEvent>.Continuation] = []

    /// Events that wait for a listener that is slow; the newest ones stay.
    private static let waitingMax = 16

    /// Something happened: the events that follow from it, and who is to be told of them.
    mutating func take(
        _ event: LoadEvent
    ) -> (events: [LoadEvent], listeners: [AsyncStream<LoadEvent>.Continuation]) {
        var events = [event]
        switch event {
        case .progress(let progress):
            self.progress = progress
            if let info = progress.info, info != self.info {
                self.info = info
                events.insert(.info(info), at: 0)
            }
        case .info(let info): self.info = info
        case .partial(let response): partial = response
        case .cached(let response): cached = response
        case .end: return (events, exchange(&listeners, with: []))
        }
        return (events, listeners)
    }

    /// A new listener, who has heard what was told so far; of a load that has ended, its end.
    mutating func listen(
        after end: Result<ImageResponse, ImageError>?
    ) -> AsyncStream<LoadEvent> {
        let (stream, listener) = AsyncStream<LoadEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.waitingMax))
        for event in told { listener.yield(event) }
        if let end {
            listener.yield(.end(end))
            listener.finish()
        } else {
            listeners.append(listener)
        }
        return stream
    }

    private var told: [LoadEvent] {
        [
            info.map(LoadEvent.info), cached.map(LoadEvent.cached),
            progress.map(LoadEvent.progress), partial.map(LoadEvent.partial),
        ].compactMap(\.self)
    }
}

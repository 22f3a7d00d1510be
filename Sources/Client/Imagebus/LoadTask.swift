public import ImageModel
import Linux
public import Messages
import Synchronization

/// One load. Ends exactly once: with a response, or with an error.
///
/// Under `refreshCached` a cached image may come before (`cachedResponse`); the response is the
/// newest image then, which is the cached one where the origin said that nothing changed.
public final class LoadTask: Sendable {
    /// What one blocked thread waits at.
    private final class Gate: Sendable {
        let event: EventDescriptor

        init() throws(Errno) { event = try EventDescriptor() }
    }

    /// Unsafe: `finish` takes it out of the state and resumes it, once.
    private typealias Continuation = UnsafeContinuation<Result<ImageResponse, ImageError>, Never>

    private struct State: ~Copyable {
        var result: Result<ImageResponse, ImageError>?
        /// Most loads are awaited once, or have callbacks.
        var continuation: Continuation?
        var callbacks: LoadCallbacks?
        private(set) var extras: Extras?

        init(callbacks: LoadCallbacks?, wantsProgress: Bool, keeper: MemoryKeeper?) {
            self.callbacks = callbacks
            if wantsProgress { madeExtras().progress = Progress() }
            if let keeper { madeExtras().keeper = keeper }
        }

        init(endedWith response: ImageResponse) { result = .success(response) }

        var cached: ImageResponse? { extras?.cached }

        /// Those that there are, or new ones.
        mutating func madeExtras() -> Extras {
            let made = extras ?? Extras()
            extras = made
            return made
        }

        /// The first result counts: what waits for it, which is in here no longer.
        mutating func end(
            with result: Result<ImageResponse, ImageError>
        ) -> (continuation: Continuation?, callbacks: LoadCallbacks?, extras: Extras?)? {
            guard self.result == nil else { return nil }
            let waiting = (
                continuation: exchange(&continuation, with: nil),
                callbacks: exchange(&callbacks, with: nil), extras: exchange(&extras, with: nil)
            )
            self.result = result
            if let cached = waiting.extras?.cached { madeExtras().cached = cached }
            return waiting
        }
    }

    /// Observers, further waiters and cached images: one object, which most loads do not have.
    ///
    /// Unchecked: of one `State`, under its lock, until it was taken out of that.
    private final class Extras: @unchecked Sendable {
        /// The cached image of a load that is, or was, refreshed.
        var cached: ImageResponse?
        /// Another cached image, of a later life of the coordinator.
        var newer: ImageResponse?
        var firstWaiters: [CheckedContinuation<Void, Never>] = []
        var gates: [Gate] = []
        var continuations: [Continuation] = []
        var progress: Progress?
        /// Made for whoever listens.
        var events: LoadEvents?
        var keeper: MemoryKeeper?
    }

    /// Made for whoever looks at it: most loads have none.
    private struct Progress {
        let stream: AsyncStream<RequestProgress>
        let sink: AsyncStream<RequestProgress>.Continuation

        init() {
            (stream, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
        }
    }

    /// Names it on the bus, in logs and for operators; loads that are one message go there by the
    /// token of the first of them (`ClientConfiguration.sharesLoads`).
    public let token: Token
    /// How far it is, where progress was asked for; ends with the load. The newest events are kept
    /// for a slow reader.
    public var progress: AsyncStream<RequestProgress> {
        state.withLock { state in
            let extras = state.madeExtras()
            let progress = extras.progress ?? Progress()
            extras.progress = progress
            if state.result != nil { progress.sink.finish() }
            return progress.stream
        }
    }

    /// What happens to it; ends with the load. Each time a stream of its own, which begins with the
    /// newest of each kind of event that was told since somebody first asked for events. Of a slow
    /// reader the newest 16 events wait.
    ///
    /// Progress is told where `wantsProgress` was set, `info` where `wantsInfo` was, partial images
    /// under `RequestOptions.progressiveLoad`.
    public var events: AsyncStream<LoadEvent> {
        state.withLock { state in
            var events = state.extras?.events ?? LoadEvents()
            let stream = events.listen(after: state.result)
            if state.result == nil { state.madeExtras().events = events }
            return stream
        }
    }

    /// Images of the bytes that have come so far (`RequestOptions.progressiveLoad`), each of more
    /// bytes than the one before (`ImageResponse.arrivedBytes`); ends with the load, and does not
    /// bring its image. Of a slow reader the newest one waits.
    public var partials: AsyncStream<ImageResponse> {
        let events = events
        let (stream, sink) = AsyncStream<ImageResponse>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            for await event in events {
                if case .partial(let response) = event { sink.yield(response) }
            }
            sink.finish()
        }
        sink.onTermination = { _ in task.cancel() }
        return stream
    }

    private let state: Mutex<State>
    private let commands: CommandQueue

    /// Of the client whose commands it is.
    init(
        token: Token, wantsProgress: Bool = false, commands: CommandQueue,
        callbacks: LoadCallbacks? = nil, keeper: MemoryKeeper? = nil
    ) {
        self.token = token
        self.commands = commands
        state = Mutex(State(callbacks: callbacks, wantsProgress: wantsProgress, keeper: keeper))
    }

    /// One that has ended as it begins.
    init(
        token: Token, endedWith response: ImageResponse, commands: CommandQueue
    ) {
        self.token = token
        self.commands = commands
        state = Mutex(State(endedWith: response))
    }

    /// Whether there is a result.
    var hasEnded: Bool { result != nil }

    /// How it ended; `nil` as long as it has not.
    public var result: Result<ImageResponse, ImageError>? { state.withLock { $0.result } }

    /// Where it stands.
    public var status: LoadStatus { LoadStatus(result) }

    /// What came of it. Cancelling the awaiting task cancels the load; it then ends with
    /// `cancelled`. May be awaited more than once.
    public var response: ImageResponse {
        get async throws(ImageError) {
            // An answer at hand: nothing is set up to wait for it.
            if let known = result { return try known.get() }
            let result = await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let known = state.withLock { state in
                        guard state.result == nil else { return state.result }
                        if state.continuation == nil {
                            state.continuation = continuation
                        } else {
                            state.madeExtras().continuations.append(continuation)
                        }
                        return nil
                    }
                    if let known { continuation.resume(returning: known) }
                }
            } onCancel: {
                cancel()
            }
            // `get` would copy it.
            switch consume result {
            case .success(let response): return response
            case .failure(let error): throw error
            }
        }
    }

    /// The cached image of a load with `refreshCached`, as soon as it has come; it stays when the
    /// refresh fails. `nil` where there is none.
    public var cachedResponse: ImageResponse? { state.withLock { $0.cached } }

    /// One response, or two: the cached image at once, and the one that takes its place, if any.
    /// Ends with the load; throws what the load ended with.
    public var responses: LoadResponses { LoadResponses(task: self) }

    /// The same for a thread that may block. Where nothing else is to be done than this load,
    /// `ImagebusClient.loadAndWait` is faster.
    public func waitForResponse() throws(ImageError) -> ImageResponse {
        if let known = state.withLock({ $0.result }) { return try known.get() }
        do throws(Errno) {
            let gate = try Gate()
            let isPending = state.withLock { state in
                state.madeExtras().gates.append(gate)
                return state.result == nil
            }
            if isPending {
                _ = try gate.event.descriptor.wait(for: .readable, milliseconds: nil)
            }
        } catch {
            throw ImageError(.internalError, "this thread cannot wait: \(error)")
        }
        guard let result = state.withLock({ $0.result }) else {
            throw ImageError(.internalError, "the load was waited for and has no result")
        }
        return try result.get()
    }

    /// Ends the load with `cancelled`, unless it has ended. Idempotent; any thread.
    public func cancel() {
        if !hasEnded { _ = commands.post(.cancel(token)) }
    }

    /// It is wanted more or less urgently than before: what waits for a worker moves to that class,
    /// and work that is shared runs in the highest class among those who want it
    /// (SEMANTICS §3.4). Any thread; one that has ended is left alone.
    public func reprioritise(_ priority: Priority) {
        if !hasEnded { _ = commands.post(.reprioritise(token, priority)) }
    }

    /// Waits for the cached image, or for the end where there is none.
    func firstResponse() async -> ImageResponse? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.cached != nil || state.result != nil { return true }
                    state.madeExtras().firstWaiters.append(continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
        return cachedResponse
    }

    /// The cached image has come. It is told once: what the next coordinator has in its place is
    /// kept until that has asked the origin.
    func offer(_ response: ImageResponse) {
        var callbacks: LoadCallbacks?
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.result == nil else { return [] }
            let extras = state.madeExtras()
            guard let cached = extras.cached else {
                extras.cached = response
                callbacks = state.callbacks
                return exchange(&extras.firstWaiters, with: [])
            }
            var newer = response
            newer.isRefreshed = true
            extras.newer = cached.isSameImage(as: response) ? nil : newer
            return []
        }
        for continuation in waiting { continuation.resume() }
        tell(.cached(response))
        callbacks?.tell(.cached(response), onLineOf: commands)
    }

    /// An image of what has arrived so far has come.
    func show(_ response: ImageResponse) {
        let callbacks = state.withLock { $0.callbacks }
        tell(.partial(response))
        callbacks?.tell(.partial(response), onLineOf: commands)
    }

    /// Tells whoever listens.
    private func tell(_ event: LoadEvent) {
        let told = state.withLock { $0.result == nil ? $0.extras?.events?.take(event) : nil }
        for listener in told?.listeners ?? [] {
            for event in told?.events ?? [] { listener.yield(event) }
        }
    }

    /// What the load ends with where the origin says that nothing changed.
    var unmodified: ImageResponse? { state.withLock { $0.extras?.newer ?? $0.cached } }

    func advance(_ event: RequestProgress) {
        let (sink, callbacks) = state.withLock {
            ($0.extras?.progress?.sink, $0.callbacks)
        }
        sink?.yield(event)
        tell(.progress(event))
        callbacks?.tell(.progress(event), onLineOf: commands)
    }

    /// The first call decides. Not `onLine`: the call that begins the load ends it, too.
    func finish(_ result: Result<ImageResponse, ImageError>, onLine: Bool = true) {
        guard let waiting = state.withLock({ $0.end(with: result) }) else { return }
        if let extras = waiting.extras { tell(extras, result) }
        waiting.callbacks?.end(with: result, onLineOf: onLine ? commands : nil)
        waiting.continuation?.resume(returning: result)
        guard let extras = waiting.extras else { return }
        for continuation in extras.firstWaiters { continuation.resume() }
        for continuation in extras.continuations { continuation.resume(returning: result) }
    }

    /// Tells the end to those who look on, before it is told to those who wait.
    private func tell(_ extras: Extras, _ result: Result<ImageResponse, ImageError>) {
        extras.keeper?.keep(result)
        extras.progress?.sink.finish()
        for listener in extras.events?.take(.end(result)).listeners ?? [] {
            listener.yield(.end(result))
            listener.finish()
        }
        for gate in extras.gates { gate.event.signal() }
    }
}

/// The images of one load in the order in which they come: one, or under `refreshCached` the cached
/// one and the one that takes its place.
public struct LoadResponses: AsyncSequence, Sendable {
    /// An image, or a miss.
    public typealias Element = ImageResponse
    /// How loads fail.
    public typealias Failure = ImageError

    let task: LoadTask

    /// Begins with the first image, however late it is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

    /// Goes from image to image.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Phase {
            case first, cachedWasTold, ended
        }

        private let task: LoadTask
        private var phase = Phase.first

        init(task: LoadTask) { self.task = task }

        /// The next image; `nil` once the load has ended. Throws its error, once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ImageError) -> ImageResponse? {
            if phase == .first, let cached = await task.firstResponse() {
                phase = .cachedWasTold
                return cached
            }
            guard phase != .ended else { return nil }
            let wasTold = phase == .cachedWasTold
            phase = .ended
            let response = try await task.response
            return wasTold && !response.isRefreshed ? nil : response
        }
    }
}

extension ImageResponse {
    /// Whether another response brings the same bytes, or the same facts where there are none.
    func isSameImage(as other: ImageResponse) -> Bool {
        guard let bytes, let others = other.bytes else {
            return info == other.info && bytes == nil && other.bytes == nil
        }
        return bytes.count == others.count
            && bytes.withUnsafeBytes { bytes in
                others.withUnsafeBytes { bytes.elementsEqual($0) }
            }
    }
}

/// Where a load stands.
public enum LoadStatus: Hashable, Sendable {
    /// It has not ended.
    case running
    /// It ended with an image, or with what is known of one.
    case loaded
    /// It ended well, and there is no image: a cache was asked that does not have it.
    case missed
    /// Somebody cancelled it.
    case cancelled
    /// It ended with another error.
    case failed(ErrorCode)

    init(_ result: Result<ImageResponse, ImageError>?) {
        switch result {
        case nil: self = .running
        case .success(let response): self = response.status == .ok ? .loaded : .missed
        case .failure(let error):
            self = error.code == .cancelled ? .cancelled : .failed(error.code)
        }
    }
}

/// What happens to a load, in the order in which it happens.
public enum LoadEvent: Sendable {
    /// How far the transfer is.
    case progress(RequestProgress)
    /// What the header says, before all bytes have come; again where it says more, such as more
    /// frames of an animation.
    case info(ImageInfo)
    /// An image of the bytes that have come so far (`RequestOptions.progressiveLoad`).
    case partial(ImageResponse)
    /// The cached image of a load that asks its origin as well (`RequestOptions.refreshCached`).
    case cached(ImageResponse)
    /// How it ended; nothing comes after.
    case end(Result<ImageResponse, ImageError>)
}

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

/// Cancels a load when it is released, as a view's load ends with the view. The load itself goes on
/// without anybody who holds its task.
///
///     final class Cell {
///         var picture: LoadLease?   // a new one in its place cancels the load before
///     }
///     cell.picture = LoadLease(client.load(request))
///
/// Releasing it after the end of the load does nothing.
public final class LoadLease: Sendable {
    /// The load.
    public let task: LoadTask

    /// The load lasts no longer than this.
    public init(_ task: LoadTask) { self.task = task }

    deinit { task.cancel() }
}

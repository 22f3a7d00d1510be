import Linux
public import Model
import Synchronization

/// One load. Ends exactly once: with a response or an error.
///
/// With `refreshCached` a cached image may be delivered first (`cachedResponse`). The response is
/// then the newest image, which is the cached one if the origin reports that nothing changed.
public final class LoadTask: Sendable {
    /// Unsafe continuation: `finish` removes it from the state and resumes it exactly once.
    private typealias Continuation = UnsafeContinuation<Result<ImageResponse, ImageError>, Never>

    private struct State: ~Copyable {
        var result: Result<ImageResponse, ImageError>?
        /// Most loads are awaited once, or have callbacks.
        var continuation: Continuation?
        var callbacks: LoadCallbacks?
        private(set) var extras: Extras?

        init(callbacks: LoadCallbacks?, wantsProgress: Bool, keeper: ClientMemoryCache.Keeper?) {
            self.callbacks = callbacks
            if wantsProgress { ensureExtras().progress = Progress() }
            if let keeper { ensureExtras().keeper = keeper }
        }

        init(endedWith response: ImageResponse) { result = .success(response) }

        var cached: ImageResponse? { extras?.cached }

        /// Returns the existing extras, or creates them.
        mutating func ensureExtras() -> Extras {
            let created = extras ?? Extras()
            extras = created
            return created
        }

        /// Sets the result, and removes and returns the observers that wait for it; returns `nil`
        /// if there is a result already.
        mutating func end(
            with result: Result<ImageResponse, ImageError>
        ) -> (continuation: Continuation?, callbacks: LoadCallbacks?, extras: Extras?)? {
            guard self.result == nil else { return nil }
            let waiting = (
                continuation: exchange(&continuation, with: nil),
                callbacks: exchange(&callbacks, with: nil), extras: exchange(&extras, with: nil)
            )
            self.result = result
            if let cached = waiting.extras?.cached { ensureExtras().cached = cached }
            return waiting
        }
    }

    /// Observers, additional waiters and cached images, in an object that is created on demand,
    /// because most loads don't need it.
    ///
    /// `@unchecked Sendable`: an object belongs to one `State` and is accessed under its lock until
    /// it is removed from that state.
    private final class Extras: @unchecked Sendable {
        /// The cached image of a load with `refreshCached`.
        var cached: ImageResponse?
        /// Another cached image, from a coordinator that replaced the first.
        var newer: ImageResponse?
        var gates: [ThreadGate] = []
        var continuations: [Continuation] = []
        var progress: Progress?
        /// Created when someone listens.
        var events: LoadEvents?
        var keeper: ClientMemoryCache.Keeper?
    }

    /// Created when someone reads the progress, which is not the case for most loads.
    private struct Progress {
        let stream: AsyncStream<RequestProgress>
        let sink: AsyncStream<RequestProgress>.Continuation

        init() {
            (stream, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
        }
    }

    /// Identifies the load on the bus, in logs and to operators. Loads combined into one message
    /// appear there under the token of the first of them (`ClientConfiguration.sharesLoads`).
    public let token: Token
    /// The progress, if it was requested; ends with the load. For a slow reader the newest events
    /// are kept.
    public var progress: AsyncStream<RequestProgress> {
        state.withLock { state in
            let extras = state.ensureExtras()
            let progress = extras.progress ?? Progress()
            extras.progress = progress
            if state.result != nil { progress.sink.finish() }
            return progress.stream
        }
    }

    /// The events of the load; the stream ends with the load. For a slow reader the newest 16
    /// events are kept.
    ///
    /// Each access returns a stream of its own. A later one starts with the newest event of each
    /// kind that was reported since the first access.
    ///
    /// Progress is reported if `wantsProgress` was set, `info` if `wantsInfo` was, and partial
    /// images with `RequestOptions.progressiveLoad`.
    public var events: AsyncStream<LoadEvent> {
        state.withLock { state in
            var events = state.extras?.events ?? LoadEvents()
            let stream = events.listen(after: state.result)
            if state.result == nil { state.ensureExtras().events = events }
            return stream
        }
    }

    /// Images of the bytes received so far (`RequestOptions.progressiveLoad`), each decoded from
    /// more bytes than the one before (`ImageResponse.arrivedBytes`). Ends with the load; its final
    /// image is not included. For a slow reader the newest one is kept.
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

    /// Creates the task of a load submitted through `commands`.
    init(
        token: Token, wantsProgress: Bool = false, commands: CommandQueue,
        callbacks: LoadCallbacks? = nil, keeper: ClientMemoryCache.Keeper? = nil
    ) {
        self.token = token
        self.commands = commands
        state = Mutex(State(callbacks: callbacks, wantsProgress: wantsProgress, keeper: keeper))
    }

    /// Creates a task that has already ended.
    init(
        token: Token, endedWith response: ImageResponse, commands: CommandQueue
    ) {
        self.token = token
        self.commands = commands
        state = Mutex(State(endedWith: response))
    }

    /// Whether there is a result.
    var hasEnded: Bool { result != nil }

    /// The result, or `nil` while the load is running.
    public var result: Result<ImageResponse, ImageError>? { state.withLock { $0.result } }

    /// The state of the load.
    public var status: LoadStatus { LoadStatus(result) }

    /// The response. Canceling the awaiting task cancels the load, which then ends with
    /// `cancelled`. Can be awaited more than once.
    public var response: ImageResponse {
        get async throws(ImageError) {
            // The result is available: skip setting up a continuation.
            if let known = result { return try known.get() }
            let result = await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let known = state.withLock { state in
                        guard state.result == nil else { return state.result }
                        if state.continuation == nil {
                            state.continuation = continuation
                        } else {
                            state.ensureExtras().continuations.append(continuation)
                        }
                        return nil
                    }
                    if let known { continuation.resume(returning: known) }
                }
            } onCancel: {
                cancel()
            }
            // `get` would copy the result.
            switch consume result {
            case .success(let response): return response
            case .failure(let error): throw error
            }
        }
    }

    /// The cached image of a load with `refreshCached`, available as soon as it has arrived; it
    /// stays if the refresh fails. `nil` if there is none.
    public var cachedResponse: ImageResponse? { state.withLock { $0.cached } }

    /// One or two responses: the cached image immediately, and the one that replaces it, if any.
    /// Ends with the load; throws the error of the load.
    public var responses: LoadResponses { LoadResponses(task: self) }

    /// Waits for the response, blocking the calling thread. To begin a load and wait for it in one
    /// call, use `ImagebusClient.loadAndWait`, which is faster.
    public func waitForResponse() throws(ImageError) -> ImageResponse {
        if let known = state.withLock({ $0.result }) { return try known.get() }
        do throws(Errno) {
            let gate = try ThreadGate()
            let isPending = state.withLock { state in
                state.ensureExtras().gates.append(gate)
                return state.result == nil
            }
            if isPending { try gate.wait() }
        } catch {
            throw ImageError(.internalError, "this thread cannot wait: \(error)")
        }
        guard let result = state.withLock({ $0.result }) else {
            throw ImageError(.internalError, "the load has ended without a result")
        }
        return try result.get()
    }

    /// Ends the load with `cancelled`, unless it has ended. Idempotent. Can be called from any
    /// thread.
    public func cancel() {
        if !hasEnded { _ = commands.post(.cancel(token)) }
    }

    /// Changes the priority of the load. Queued work moves to the new class, and shared work runs
    /// in the highest class among the loads that wait for it (SEMANTICS §3.4). Has no effect once
    /// the load has ended. Can be called from any thread.
    public func reprioritize(_ priority: Priority) {
        if !hasEnded { _ = commands.post(.reprioritize(token, priority)) }
    }

    /// Waits for the cached image, which is returned, or for the end of the load; `nil` if it ended
    /// without a cached image.
    func cachedResponseOrEnd() async -> ImageResponse? {
        let events = events
        if let cached = cachedResponse { return cached }
        return await withTaskCancellationHandler { () -> ImageResponse? in
            for await _ in events {
                if let cached = cachedResponse { return cached }
            }
            return cachedResponse
        } onCancel: {
            cancel()
        }
    }

    /// Handles the arrival of the cached image. Only the first one is reported; a different one
    /// from a coordinator that replaced the first is kept until that one has asked the origin.
    func receivedCached(_ response: ImageResponse) {
        let isFirst = state.withLock { state in
            guard state.result == nil else { return false }
            let extras = state.ensureExtras()
            guard let cached = extras.cached else {
                extras.cached = response
                return true
            }
            var newer = response
            newer.isRefreshed = true
            extras.newer = cached.isSameImage(as: response) ? nil : newer
            return false
        }
        if isFirst { notify(.cached(response)) }
    }

    /// Handles the arrival of a partial image.
    func receivedPartial(_ response: ImageResponse) { notify(.partial(response)) }

    /// Handles the arrival of progress.
    func receivedProgress(_ event: RequestProgress) {
        state.withLock { $0.extras?.progress?.sink }?.yield(event)
        notify(.progress(event))
    }

    /// Reports an event before the end to all listeners and callbacks.
    private func notify(_ event: LoadEvent) {
        let (recorded, callbacks) = state.withLock { state in
            (state.result == nil ? state.extras?.events?.record(event) : nil, state.callbacks)
        }
        for listener in recorded?.listeners ?? [] {
            for event in recorded?.events ?? [] { listener.yield(event) }
        }
        callbacks?.notify(event, onThreadOf: commands)
    }

    /// The result if the origin reports that nothing changed.
    var unmodified: ImageResponse? { state.withLock { $0.extras?.newer ?? $0.cached } }

    /// Ends the load; later calls have no effect. `onClientThread` is false if the load ends within
    /// the call that begins it, on the caller's thread.
    func finish(_ result: Result<ImageResponse, ImageError>, onClientThread: Bool = true) {
        guard let waiting = state.withLock({ $0.end(with: result) }) else { return }
        if let extras = waiting.extras { notify(extras, result) }
        waiting.callbacks?.notify(.end(result), onThreadOf: onClientThread ? commands : nil)
        waiting.continuation?.resume(returning: result)
        guard let extras = waiting.extras else { return }
        for continuation in extras.continuations { continuation.resume(returning: result) }
    }

    /// Reports the end to observers, before the waiters are resumed.
    private func notify(_ extras: Extras, _ result: Result<ImageResponse, ImageError>) {
        if case .success(let response) = result { extras.keeper?(response) }
        extras.progress?.sink.finish()
        for listener in extras.events?.record(.end(result)).listeners ?? [] {
            listener.yield(.end(result))
            listener.finish()
        }
        for gate in extras.gates { gate.open() }
    }
}

/// The images of one load in order of arrival: one, or, with `refreshCached`, the cached one and
/// the one that replaces it.
public struct LoadResponses: AsyncSequence, Sendable {
    /// An image or a miss.
    public typealias Element = ImageResponse
    /// The error of a load.
    public typealias Failure = ImageError

    let task: LoadTask

    /// Creates an iterator that begins with the first image, even if that has already arrived.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

    /// Iterates over the images.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Phase {
            case first, cachedWasReported, ended
        }

        private let task: LoadTask
        private var phase = Phase.first

        init(task: LoadTask) { self.task = task }

        /// Returns the next image, or `nil` once the load has ended. Throws the error of the load
        /// once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ImageError) -> ImageResponse? {
            if phase == .first, let cached = await task.cachedResponseOrEnd() {
                phase = .cachedWasReported
                return cached
            }
            guard phase != .ended else { return nil }
            let wasReported = phase == .cachedWasReported
            phase = .ended
            let response = try await task.response
            return wasReported && !response.isRefreshed ? nil : response
        }
    }
}

extension ImageResponse {
    /// Whether another response has the same bytes, or, if neither has any, the same image
    /// properties.
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

/// The state of a load.
public enum LoadStatus: Hashable, Sendable {
    /// The load has not ended.
    case running
    /// The load ended with an image or its properties.
    case loaded
    /// The load ended without an error and without an image, because the queried cache doesn't have
    /// it.
    case missed
    /// The load was canceled; spelled as in SDWebImage.
    case cancelled
    /// The load ended with another error.
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

/// An event of a load.
public enum LoadEvent: Sendable {
    /// The progress of the transfer.
    case progress(RequestProgress)
    /// The contents of the header, before all bytes have arrived. Repeated when more is known, such
    /// as more frames of an animation.
    case info(ImageInfo)
    /// An image of the bytes received so far (`RequestOptions.progressiveLoad`).
    case partial(ImageResponse)
    /// The cached image of a load that also asks its origin (`RequestOptions.refreshCached`).
    case cached(ImageResponse)
    /// The result; the last event.
    case end(Result<ImageResponse, ImageError>)
}

/// The events of a load so far, and its listeners. A listener that is added late receives the
/// newest event of each kind first.
struct LoadEvents {
    private var info: ImageInfo?
    private var progress: RequestProgress?
    private var partial: ImageResponse?
    private var cached: ImageResponse?
    private var listeners: [AsyncStream<LoadEvent>.Continuation] = []

    /// The number of events queued for a slow listener; the newest are kept.
    private static let waitingMax = 16

    /// Records an event. Returns the resulting events and the listeners to notify.
    mutating func record(
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

    /// Adds a listener, which receives the newest events so far and, if the load has ended, its
    /// end.
    mutating func listen(
        after end: Result<ImageResponse, ImageError>?
    ) -> AsyncStream<LoadEvent> {
        let (stream, listener) = AsyncStream<LoadEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.waitingMax))
        for event in newestEvents { listener.yield(event) }
        if let end {
            listener.yield(.end(end))
            listener.finish()
        } else {
            listeners.append(listener)
        }
        return stream
    }

    private var newestEvents: [LoadEvent] {
        [
            info.map(LoadEvent.info), cached.map(LoadEvent.cached),
            progress.map(LoadEvent.progress), partial.map(LoadEvent.partial),
        ].compactMap(\.self)
    }
}

/// A lease on a load, which is canceled when the lease is released: a view's load ends with the
/// view. Without a lease, a load continues even if its task is released.
///
///     final class Cell {
///         var picture: LoadLease?   // assigning a new one cancels the previous load
///     }
///     cell.picture = LoadLease(client.load(request))
///
/// Releasing it after the end of the load has no effect.
public final class LoadLease: Sendable {
    /// The load, which is canceled when the lease is released.
    public let task: LoadTask

    /// Creates a lease that ends the load when released.
    public init(_ task: LoadTask) { self.task = task }

    deinit { task.cancel() }
}

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

    /// Receives events in order; the end is the last one.
    private typealias Listener = @Sendable (LoadEvent) -> Void

    private struct State: ~Copyable {
        var result: Result<ImageResponse, ImageError>?
        /// Most loads are awaited once, or have callbacks.
        var continuation: Continuation?
        var callbacks: LoadCallbacks?
        var extras: Extras?

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
        ) -> (listeners: [Listener], callbacks: LoadCallbacks?, continuation: Continuation?)? {
            guard self.result == nil else { return nil }
            self.result = result
            let known = exchange(&extras, with: nil)
            if let cached = known?.cached { ensureExtras().cached = cached }
            return (
                known?.listeners ?? [], exchange(&callbacks, with: nil),
                exchange(&continuation, with: nil)
            )
        }
    }

    /// Listeners, additional waiters and cached images, in an object that is created on demand,
    /// because most loads don't need it.
    ///
    /// `@unchecked Sendable`: an object belongs to one `State` and is accessed under its lock until
    /// it is removed from that state.
    private final class Extras: @unchecked Sendable {
        /// The cached image of a load with `refreshCached`.
        var cached: ImageResponse?
        /// Another cached image, from a coordinator that replaced the first.
        var newer: ImageResponse?
        /// Created when someone reads the progress.
        var progress: AsyncStream<RequestProgress>?
        var listeners: [Listener] = []
        /// Created when someone reads the events.
        var newest: NewestEvents?
    }

    /// Identifies the load on the bus, in logs and to operators. Loads combined into one message
    /// appear there under the token of the first of them (`ClientConfiguration.sharesLoads`).
    public let token: Token
    /// The progress, if it was requested; ends with the load. For a slow reader the newest events
    /// are kept.
    public var progress: AsyncStream<RequestProgress> {
        state.withLock { state in
            if let progress = state.extras?.progress { return progress }
            let (stream, listener) = Self.makeStream(newest: Self.waitingMax) { event in
                if case .progress(let progress) = event { progress } else { nil }
            }
            if let result = state.result {
                listener(.end(result))
            } else {
                state.ensureExtras().progress = stream
                state.ensureExtras().listeners.append(listener)
            }
            return stream
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
    public var events: AsyncStream<LoadEvent> { stream(newest: Self.waitingMax) { $0 } }

    /// Images of the bytes received so far (`RequestOptions.progressiveLoad`), each decoded from
    /// more bytes than the one before (`ImageResponse.arrivedBytes`). Ends with the load; its final
    /// image is not included. For a slow reader the newest one is kept.
    public var partials: AsyncStream<ImageResponse> {
        stream(newest: 1) { if case .partial(let response) = $0 { response } else { nil } }
    }

    /// The number of events queued for a slow reader; the newest are kept.
    private static let waitingMax = 16

    /// Returns a stream of what `element` selects from the events: the newest of each kind, and all
    /// from now on.
    private func stream<Element: Sendable>(
        newest count: Int, _ element: @escaping @Sendable (LoadEvent) -> Element?
    ) -> AsyncStream<Element> {
        let (stream, listener) = Self.makeStream(newest: count, element)
        state.withLock { state in
            let newest = state.extras?.newest ?? NewestEvents()
            for event in newest.all { listener(event) }
            if let result = state.result { return listener(.end(result)) }
            state.ensureExtras().newest = newest
            state.ensureExtras().listeners.append(listener)
        }
        return stream
    }

    private static func makeStream<Element: Sendable>(
        newest count: Int, _ element: @escaping @Sendable (LoadEvent) -> Element?
    ) -> (AsyncStream<Element>, Listener) {
        let (stream, sink) = AsyncStream<Element>.makeStream(
            bufferingPolicy: .bufferingNewest(count))
        return (
            stream,
            { event in
                if let element = element(event) { sink.yield(element) }
                if case .end = event { sink.finish() }
            }
        )
    }

    /// Calls `body` once with the result, as soon as there is one.
    private func whenEnded(
        _ body: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) {
        let listener: Listener = { if case .end(let result) = $0 { body(result) } }
        let known = state.withLock { state in
            if state.result == nil { state.ensureExtras().listeners.append(listener) }
            return state.result
        }
        if let known { body(known) }
    }

    private let state: Mutex<State>
    private let commands: CommandQueue

    /// Creates the task of a load submitted through `commands`.
    init(
        token: Token, wantsProgress: Bool = false, commands: CommandQueue,
        callbacks: LoadCallbacks? = nil, keeper: ClientMemoryCache.Keeper? = nil
    ) {
        (self.token, self.commands) = (token, commands)
        state = Mutex(State(callbacks: callbacks))
        if let keeper { whenEnded { if case .success(let response) = $0 { keeper(response) } } }
        if wantsProgress { _ = progress }
    }

    /// Creates a task that has already ended.
    init(token: Token, endedWith response: ImageResponse, commands: CommandQueue) {
        (self.token, self.commands) = (token, commands)
        state = Mutex(State(result: .success(response)))
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
                await withUnsafeContinuation { (continuation: Continuation) in
                    let isFirst = state.withLock { state in
                        guard state.result == nil, state.continuation == nil else { return false }
                        state.continuation = continuation
                        return true
                    }
                    if !isFirst { whenEnded { continuation.resume(returning: $0) } }
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
    public var cachedResponse: ImageResponse? { state.withLock { $0.extras?.cached } }

    /// One or two responses: the cached image immediately, and the one that replaces it, if any.
    /// Ends with the load; throws the error of the load.
    public var responses: LoadResponses { LoadResponses(task: self) }

    /// Waits for the response, blocking the calling thread. To begin a load and wait for it in one
    /// call, use `ImagebusClient.loadAndWait`, which is faster.
    public func waitForResponse() throws(ImageError) -> ImageResponse {
        if let result { return try result.get() }
        do throws(Errno) {
            let gate = try ThreadGate()
            whenEnded { _ in gate.open() }
            try gate.wait()
        } catch {
            throw ImageError(.internalError, "this thread cannot wait: \(error)")
        }
        guard let result else {
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
    func receivedProgress(_ event: RequestProgress) { notify(.progress(event)) }

    /// Reports an event before the end to all listeners and callbacks.
    private func notify(_ event: LoadEvent) {
        let (listeners, events, callbacks) = state.withLock { state in
            let extras = state.result == nil ? state.extras : nil
            return (
                extras?.listeners ?? [], extras?.newest?.record(event) ?? [event], state.callbacks
            )
        }
        for listener in listeners { for event in events { listener(event) } }
        callbacks?.notify(event, onThreadOf: commands)
    }

    /// The result if the origin reports that nothing changed.
    var unmodified: ImageResponse? { state.withLock { $0.extras?.newer ?? $0.extras?.cached } }

    /// Ends the load; later calls have no effect. `onClientThread` is false if the load ends within
    /// the call that begins it, on the caller's thread.
    func finish(_ result: Result<ImageResponse, ImageError>, onClientThread: Bool = true) {
        guard let waiting = state.withLock({ $0.end(with: result) }) else { return }
        for listener in waiting.listeners { listener(.end(result)) }
        waiting.callbacks?.notify(.end(result), onThreadOf: onClientThread ? commands : nil)
        waiting.continuation?.resume(returning: result)
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

/// The newest event of each kind, with which a late listener starts.
struct NewestEvents {
    private var (info, progress): (ImageInfo?, RequestProgress?)
    private var (partial, cached): (ImageResponse?, ImageResponse?)

    /// Records an event before the end. Returns it, after the contents of a header that it brings.
    mutating func record(_ event: LoadEvent) -> [LoadEvent] {
        switch event {
        case .progress(let progress):
            self.progress = progress
            guard let info = progress.info, info != self.info else { break }
            self.info = info
            return [.info(info), event]
        case .info(let info): self.info = info
        case .partial(let response): partial = response
        case .cached(let response): cached = response
        case .end: break
        }
        return [event]
    }

    var all: [LoadEvent] {
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

import ImageModel
public import Messages
import Synchronization

/// One prefetch. Ends exactly once: with its counts, or with an error.
public final class PrefetchTask: Sendable {
    private typealias Continuation = CheckedContinuation<Result<PrefetchCounts, ImageError>, Never>

    private struct State {
        var result: Result<PrefetchCounts, ImageError>?
        var failures: [PrefetchFailure] = []
        var ends = PrefetchEnds()
        var continuations: [Continuation] = []
    }

    /// Names it on the bus, in logs and for operators.
    public let token: Token
    /// How far it is; not every step is told, the newest one is. Ends with the prefetch. When a
    /// coordinator was replaced the counts begin anew: what was loaded is in the caches.
    public let progress: AsyncStream<PrefetchCounts>

    private let sink: AsyncStream<PrefetchCounts>.Continuation
    private let state = Mutex(State())
    private let commands: CommandQueue

    init(token: Token, commands: CommandQueue) {
        self.token = token
        self.commands = commands
        (progress, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What came of it: `finished + cancelled == total`, also after a cancel. Throws where the
    /// coordinator refused it: `busy`, `limitExceeded`, or what is wrong with the template; and
    /// `unavailable` where nobody serves the endpoint.
    ///
    /// Cancelling the awaiting task cancels the prefetch. May be awaited more than once.
    public var result: PrefetchCounts {
        get async throws(ImageError) {
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let known = state.withLock { state in
                        if state.result == nil { state.continuations.append(continuation) }
                        return state.result
                    }
                    if let known { continuation.resume(returning: known) }
                }
            } onCancel: {
                cancel()
            }
            return try result.get()
        }
    }

    /// Once it has ended: the first URLs that were skipped, at most 16, and why.
    public var failures: [PrefetchFailure] { state.withLock { $0.failures } }

    /// Once it has ended: how many URLs the caches had, and how many failed with which error.
    public var ends: PrefetchEnds { state.withLock { $0.ends } }

    /// Ends what has not ended: URLs that run, and those that wait. Idempotent; any thread.
    public func cancel() {
        let isRunning = state.withLock { $0.result == nil }
        if isRunning { _ = commands.post(.cancel(token)) }
    }

    func advance(_ counts: PrefetchCounts) { sink.yield(counts) }

    /// The first call decides.
    func finish(
        _ result: Result<PrefetchCounts, ImageError>, failures: [PrefetchFailure] = [],
        ends: PrefetchEnds = PrefetchEnds()
    ) {
        let waiting: [Continuation] = state.withLock { state in
            guard state.result == nil else { return [] }
            let waiting = state.continuations
            state = State(result: result, failures: failures, ends: ends)
            return waiting
        }
        if case .success(let counts) = result { sink.yield(counts) }
        sink.finish()
        for continuation in waiting { continuation.resume(returning: result) }
    }
}

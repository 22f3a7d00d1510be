public import ImageModel
import Linux
public import Messages
import Synchronization

/// One load. Ends exactly once: with a response, or with an error.
public final class LoadTask: Sendable {
    /// What one blocked thread waits at.
    private final class Gate: Sendable {
        let event: EventDescriptor

        init() throws(Errno) { event = try EventDescriptor() }
    }

    private struct State {
        var result: Result<ImageResponse, ImageError>?
        var gates: [Gate] = []
        var continuations: [CheckedContinuation<Result<ImageResponse, ImageError>, Never>] = []
    }

    /// Names it on the bus, in logs and for operators.
    public let token: Token
    /// How far it is, where progress was asked for; ends with the load. The newest events are kept
    /// for a slow reader.
    public let progress: AsyncStream<RequestProgress>

    private let state = Mutex(State())
    private let progressSink: AsyncStream<RequestProgress>.Continuation
    private let cancelBody: @Sendable (Token) -> Void

    init(token: Token, cancel: @escaping @Sendable (Token) -> Void) {
        self.token = token
        cancelBody = cancel
        (progress, progressSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// What came of it. Cancelling the awaiting task cancels the load; it then ends with
    /// `cancelled`. May be awaited more than once.
    public var response: ImageResponse {
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

    /// The same for a thread that may block.
    public func waitForResponse() throws(ImageError) -> ImageResponse {
        do throws(Errno) {
            let gate = try Gate()
            let isPending = state.withLock { state in
                state.gates.append(gate)
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
        let isRunning = state.withLock { $0.result == nil }
        if isRunning { cancelBody(token) }
    }

    func advance(_ event: RequestProgress) { progressSink.yield(event) }

    /// The first call decides.
    func finish(_ result: Result<ImageResponse, ImageError>) {
        let (continuations, gates) = state.withLock { state in
            guard state.result == nil else { return (State().continuations, State().gates) }
            state.result = result
            defer { (state.continuations, state.gates) = ([], []) }
            return (state.continuations, state.gates)
        }
        progressSink.finish()
        for gate in gates { gate.event.signal() }
        for continuation in continuations { continuation.resume(returning: result) }
    }
}

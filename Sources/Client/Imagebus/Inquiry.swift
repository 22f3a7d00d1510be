import ImageModel
import Messages
import Synchronization

/// One question to the coordinator; answered once.
final class Inquiry<Answer: Sendable>: Sendable {
    /// When it ends without an answer.
    let deadline: Instant
    private let continuation: Mutex<CheckedContinuation<Result<Answer, ImageError>, Never>?>

    init(
        deadline: Instant,
        _ continuation: CheckedContinuation<Result<Answer, ImageError>, Never>
    ) {
        self.deadline = deadline
        self.continuation = Mutex(continuation)
    }

    func answer(_ result: Result<Answer, ImageError>) {
        let waiting = continuation.withLock { $0.take() }
        waiting?.resume(returning: result)
    }
}

extension ImageError {
    static var clientClosed: ImageError { ImageError(.cancelled, "the client was closed") }
    static var nobodyAnswers: ImageError {
        ImageError(.unavailable, "nobody answers at the endpoint; start imagebus serve")
    }
}

import ImageModel
import Messages
import Synchronization

/// One question to the coordinator; answered once.
final class Inquiry: Sendable {
    /// The question.
    let message: ClientMessage
    /// When it ends without an answer.
    let deadline: Instant
    private let isAnswer: @Sendable (ServerMessage) -> Bool
    private let continuation: Mutex<CheckedContinuation<Result<ServerMessage, ImageError>, Never>?>

    init(
        _ message: ClientMessage, deadline: Instant,
        isAnswer: @escaping @Sendable (ServerMessage) -> Bool,
        _ continuation: CheckedContinuation<Result<ServerMessage, ImageError>, Never>
    ) {
        self.message = message
        self.deadline = deadline
        self.isAnswer = isAnswer
        self.continuation = Mutex(continuation)
    }

    /// Takes the message where it answers the question.
    func takes(_ message: ServerMessage) -> Bool {
        guard isAnswer(message) else { return false }
        answer(.success(message))
        return true
    }

    func answer(_ result: Result<ServerMessage, ImageError>) {
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

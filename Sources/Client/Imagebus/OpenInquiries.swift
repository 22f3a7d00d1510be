import ImageModel
import Messages

/// What was asked and is not answered yet, the oldest first. A coordinator answers questions of one
/// kind in their order.
struct OpenInquiries {
    private var all: [Inquiry] = []

    var isEmpty: Bool { all.isEmpty }
    /// The questions, for a coordinator that has not heard them.
    var messages: [ClientMessage] { all.map(\.message) }
    /// When one ends without an answer.
    var nextDeadline: Instant? { all.map(\.deadline).min() }

    mutating func append(_ inquiry: Inquiry) { all.append(inquiry) }

    /// A message that may be an answer.
    mutating func received(_ message: ServerMessage) {
        if let index = all.firstIndex(where: { $0.takes(message) }) { all.remove(at: index) }
    }

    /// The coordinator refused something that was no request: what only operators may ask.
    mutating func refused(_ error: ImageError) {
        guard let index = all.firstIndex(where: { $0.message != .status }) else { return }
        all.remove(at: index).answer(.failure(error))
    }

    /// Commands may have been carried out before the session ended: they are not said twice.
    mutating func sessionEnded() { end(with: .nobodyAnswers) { $0.message.isDrain } }

    /// The coordinator has no place for a session.
    mutating func sessionRefused(_ error: ImageError) { end(with: error) { _ in true } }

    mutating func expire(at now: Instant) { end(with: .nobodyAnswers) { $0.deadline <= now } }

    mutating func close(with error: ImageError = .clientClosed) {
        end(with: error) { _ in true }
    }

    private mutating func end(with error: ImageError, where isMeant: (Inquiry) -> Bool) {
        for inquiry in all where isMeant(inquiry) { inquiry.answer(.failure(error)) }
        all.removeAll(where: isMeant)
    }
}

extension ClientMessage {
    fileprivate var isDrain: Bool { if case .drain = self { true } else { false } }
}

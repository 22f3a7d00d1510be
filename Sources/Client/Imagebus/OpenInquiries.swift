import ImageModel
import Messages

/// What was asked and is not answered yet, the oldest first. A coordinator answers questions of one
/// kind in their order.
struct OpenInquiries {
    private struct Entry {
        let inquiry: Inquiry
        /// When it ends without an answer.
        var deadline: Instant
    }

    private let connectTimeoutMilliseconds: Int
    private var all: [Entry] = []

    /// Whoever goes through all entries of the caches may take so long where a coordinator is there
    /// (`DispatchLimits.severalEntriesMilliseconds`, and a minute).
    private static let severalEntriesMilliseconds = 3_660_000

    init(connectTimeoutMilliseconds: Int) {
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    var isEmpty: Bool { all.isEmpty }
    /// The questions, for a coordinator that has not heard them.
    var messages: [ClientMessage] { all.map(\.inquiry.message) }
    /// When one ends without an answer.
    var nextDeadline: Instant? { all.map(\.deadline).min() }

    /// A question that is said at once where there is a session.
    mutating func append(_ inquiry: Inquiry, isSaid: Bool, at now: Instant) {
        all.append(Entry(inquiry: inquiry, deadline: inquiry.deadline))
        if isSaid { wait(all.count - 1, at: now) }
    }

    /// All questions were said to a coordinator.
    mutating func welcomed(at now: Instant) { for index in all.indices { wait(index, at: now) } }

    /// What takes long takes long: the session says whether anybody is there.
    private mutating func wait(_ index: Int, at now: Instant) {
        guard all[index].inquiry.message.takesLong else { return }
        all[index].deadline = now.adding(milliseconds: Self.severalEntriesMilliseconds)
    }

    /// A message that may be an answer.
    mutating func received(_ message: ServerMessage) {
        guard let index = all.firstIndex(where: { $0.inquiry.takes(message) }) else { return }
        all.remove(at: index)
    }

    /// The coordinator refused something that was no request: what only operators may ask.
    mutating func refused(_ error: ImageError) {
        guard let index = all.firstIndex(where: { $0.inquiry.message != .status }) else {
            return
        }
        all.remove(at: index).inquiry.answer(.failure(error))
    }

    /// Commands may have been carried out before the session ended: they are not said twice.
    mutating func sessionEnded(at now: Instant) {
        end(with: .nobodyAnswers) { $0.inquiry.message.isDrain }
        let unserved = now.adding(milliseconds: connectTimeoutMilliseconds)
        for index in all.indices { all[index].deadline = min(all[index].deadline, unserved) }
    }

    /// The coordinator has no place for a session.
    mutating func sessionRefused(_ error: ImageError) { end(with: error) { _ in true } }

    mutating func expire(at now: Instant) { end(with: .nobodyAnswers) { $0.deadline <= now } }

    mutating func close(with error: ImageError = .clientClosed) {
        end(with: error) { _ in true }
    }

    private mutating func end(with error: ImageError, where isMeant: (Entry) -> Bool) {
        for entry in all where isMeant(entry) { entry.inquiry.answer(.failure(error)) }
        all.removeAll(where: isMeant)
    }
}

extension ClientMessage {
    fileprivate var isDrain: Bool { if case .drain = self { true } else { false } }

    /// Whether its answer may come after all entries of the caches were gone through.
    fileprivate var takesLong: Bool {
        if case .cache(let command) = self { command.action.takesLong } else { false }
    }
}

extension EntryAction {
    fileprivate var takesLong: Bool { isOfSeveral || self == .clear }
}

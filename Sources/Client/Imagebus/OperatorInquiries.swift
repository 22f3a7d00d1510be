import Model

/// A question to the coordinator.
struct Inquiry: Sendable {
    /// The message to send.
    let message: ClientMessage
    /// Ends the inquiry with an error, or with a message if that answers the question. Returns
    /// whether it has ended; nothing is passed to it afterwards.
    let end: @Sendable (Result<ServerMessage, ImageError>) -> Bool
}

extension ImageError {
    static var clientClosed: ImageError { ImageError(.cancelled, "the client was closed") }
    static var nobodyAnswers: ImageError {
        ImageError(
            .unavailable,
            advising: "no coordinator responds at the endpoint; start imagebus serve")
    }
}

/// Inquiries without an answer yet, oldest first. A coordinator answers inquiries of one kind in
/// order.
struct OpenInquiries {
    private struct Entry {
        let inquiry: Inquiry
        /// When the inquiry fails without an answer.
        var deadline: Instant
    }

    private let connectTimeoutMilliseconds: Int
    private var all: [Entry] = []

    /// The timeout of commands that go through all cache entries, while a coordinator is connected
    /// (`DispatchLimits.severalEntriesMilliseconds` plus one minute).
    private static let severalEntriesMilliseconds = 3_660_000

    init(connectTimeoutMilliseconds: Int) {
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    var isEmpty: Bool { all.isEmpty }
    /// The messages of all open inquiries, to be sent to a new coordinator.
    var messages: [ClientMessage] { all.map(\.inquiry.message) }
    /// The next time at which an inquiry times out.
    var nextDeadline: Instant? { all.map(\.deadline).min() }

    /// Adds an inquiry; `isSent` is true if a session exists and its message is sent immediately.
    mutating func append(_ inquiry: Inquiry, isSent: Bool, at now: Instant) {
        let deadline = now.adding(milliseconds: connectTimeoutMilliseconds)
        all.append(Entry(inquiry: inquiry, deadline: deadline))
        if isSent { wait(all.count - 1, at: now) }
    }

    /// Begins a session in which all open inquiries are sent.
    mutating func welcomed(at now: Instant) { for index in all.indices { wait(index, at: now) } }

    /// Extends the deadline of a command that takes long; a broken session is detected separately.
    private mutating func wait(_ index: Int, at now: Instant) {
        guard all[index].inquiry.message.takesLong else { return }
        all[index].deadline = now.adding(milliseconds: Self.severalEntriesMilliseconds)
    }

    /// Handles a message that may be an answer.
    mutating func received(_ message: ServerMessage) {
        guard let index = all.firstIndex(where: { $0.inquiry.end(.success(message)) }) else {
            return
        }
        all.remove(at: index)
    }

    /// Handles the refusal of something other than a load, which only operators may send.
    mutating func refused(_ error: ImageError) {
        guard let index = all.firstIndex(where: { $0.inquiry.message != .status }) else {
            return
        }
        _ = all.remove(at: index).inquiry.end(.failure(error))
    }

    /// Ends the session. Commands that may already have been carried out are not repeated.
    mutating func sessionEnded(at now: Instant) {
        end(with: .nobodyAnswers) { $0.inquiry.message.isDrain }
        let unserved = now.adding(milliseconds: connectTimeoutMilliseconds)
        for index in all.indices { all[index].deadline = min(all[index].deadline, unserved) }
    }

    /// Handles the coordinator's refusal of a session.
    mutating func sessionRefused(_ error: ImageError) { end(with: error) { _ in true } }

    mutating func expire(at now: Instant) { end(with: .nobodyAnswers) { $0.deadline <= now } }

    mutating func close(with error: ImageError = .clientClosed) {
        end(with: error) { _ in true }
    }

    private mutating func end(with error: ImageError, where isMeant: (Entry) -> Bool) {
        for entry in all where isMeant(entry) { _ = entry.inquiry.end(.failure(error)) }
        all.removeAll(where: isMeant)
    }
}

extension ClientMessage {
    fileprivate var isDrain: Bool { if case .drain = self { true } else { false } }

    /// Whether the answer may take as long as going through all cache entries.
    fileprivate var takesLong: Bool {
        if case .cache(let command) = self { command.action.takesLong } else { false }
    }
}

extension EntryAction {
    fileprivate var takesLong: Bool { affectsSeveral || self == .clear }
}

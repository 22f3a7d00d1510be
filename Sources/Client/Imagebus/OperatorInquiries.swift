import Model
import Synchronization

/// A question to the coordinator, answered once.
final class Inquiry: Sendable {
    /// The message to send.
    let message: ClientMessage
    private let isAnswer: @Sendable (ServerMessage) -> Bool
    private let continuation: Mutex<CheckedContinuation<Result<ServerMessage, ImageError>, Never>?>

    init(
        _ message: ClientMessage, isAnswer: @escaping @Sendable (ServerMessage) -> Bool,
        _ continuation: CheckedContinuation<Result<ServerMessage, ImageError>, Never>
    ) {
        self.message = message
        self.isAnswer = isAnswer
        self.continuation = Mutex(continuation)
    }

    /// Accepts a message if it answers the question.
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
        guard let index = all.firstIndex(where: { $0.inquiry.takes(message) }) else { return }
        all.remove(at: index)
    }

    /// Handles the refusal of something other than a load, which only operators may send.
    mutating func refused(_ error: ImageError) {
        guard let index = all.firstIndex(where: { $0.inquiry.message != .status }) else {
            return
        }
        all.remove(at: index).inquiry.answer(.failure(error))
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
        for entry in all where isMeant(entry) { entry.inquiry.answer(.failure(error)) }
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

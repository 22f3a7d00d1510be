public import Model
import Synchronization

// Cache management for operators. `front.sock` refuses all of this with `protocolViolation`;
// `web.sock` refuses everything but the removal of a selection, which the operator must permit
// there. Each call throws `unavailable` if there is no answer within the connect timeout.
//
// Caches are named as in the configuration. If no name is given, commands for a key apply to the
// default cache, and commands for a selection to all caches.
extension ImagebusClient {
    /// Returns the tiers that have an entry for a key. Does not count as a use of the entry.
    public func contains(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> CacheTypes {
        try await self.tiers(.contains, key, cache, tiers)
    }

    /// Removes the entry for a key from the tiers. Loads begun after the answer don't find it
    /// there, and work in flight for its bytes restarts, so that they are not stored afterwards.
    public func remove(
        _ key: String, cache: String? = nil, from tiers: CacheTypes = .all
    ) async throws(ImageError) {
        defer { memory?.remove(key: key) }
        _ = try await self.tiers(.remove, key, cache, tiers)
    }

    /// Removes the entries of a selection in the same way, and returns their number. A selection
    /// that matches all entries throws `invalidRequest`; use `clear` instead.
    ///
    /// External caches remove entries in steps, after each of which `progress` is called on the
    /// client's thread with the entries removed so far. If one of them fails, the error's
    /// `typedDetails` contain the numbers of entries `removed` and `left`; `left` only if known.
    public func remove(
        _ selection: EntrySelection, from tiers: CacheTypes = .all,
        progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        defer { memory?.removeAll() }
        return try await page(.removeSelected, selection, tiers, progress: progress)
    }

    /// Removes all entries of all caches from the tiers in the same way. Returns the tiers that
    /// exist.
    public func clear(_ tiers: CacheTypes = .all) async throws(ImageError) -> CacheTypes {
        defer { memory?.removeAll() }
        return try await self.tiers(.clear, "", nil, tiers)
    }

    /// Returns one page of a selection's entries, those on disk first, with at most `limit` entries
    /// (1 to `EntryPage.entriesMax`). Pass `next` of the previous page as `after`. Entries stored
    /// in the meantime may be missing.
    public func entries(
        of selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all,
        after: UInt64 = 0, limit: Int = EntryPage.entriesMax
    ) async throws(ImageError) -> EntryPage {
        let limit = UInt32(min(max(1, limit), EntryPage.entriesMax))
        return try await page(.list, selection, tiers, after: after, limit: limit)
    }

    /// Returns the number and total size of a selection's entries, by tier.
    public func count(
        _ selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all
    ) async throws(ImageError) -> EntryPage {
        try await page(.count, selection, tiers)
    }

    /// Evicts entries from the tiers down to their low-water mark, and expired entries from the
    /// disk. Returns what was removed.
    public func trim(_ tiers: CacheTypes = .all) async throws(ImageError) -> EntryPage {
        try await page(.trim, EntrySelection(), tiers)
    }

    /// Returns the stored bytes of the entry for a key, with their format and extended data, or
    /// `nil` if the tiers don't have it. The key has the text form used in replies.
    public func entry(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> ImageResponse? {
        var request = ImageRequest(url: Self.entryURL)
        request.options = [.fromCacheOnly]
        request.queryCacheTypes = tiers
        request.originalQueryCacheTypes = .none
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        request.context.cache = cache
        request.context.key = .text(key)
        request.context.wantsExtendedData = true
        let response = try await load(request).response
        return response.bytes == nil ? nil : response
    }

    /// A placeholder for the required URL; nothing is fetched.
    private static let entryURL = "http://entry.invalid/"

    private func tiers(
        _ action: EntryAction, _ key: String, _ cache: String?, _ tiers: CacheTypes
    ) async throws(ImageError) -> CacheTypes {
        let command = CacheCommand(
            number: tokens.next().value.low, action: action, cache: cache, key: key, tiers: tiers)
        guard case .tiers(let tiers) = try await outcome(of: command) else { throw Self.nonsense }
        return tiers
    }

    private func page(
        _ action: EntryAction, _ selection: EntrySelection, _ tiers: CacheTypes,
        after: UInt64 = 0, limit: UInt32 = 0, progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        var command = CacheCommand(
            number: tokens.next().value.low, action: action, key: "", tiers: tiers,
            selection: selection, after: after, limit: limit)
        command.wantsProgress = progress != nil
        guard case .page(let page) = try await outcome(of: command, progress) else {
            throw Self.nonsense
        }
        return page
    }

    /// Returns the outcome of a command. A command on several entries may take as long as the
    /// caches need while the coordinator is connected.
    private func outcome(
        of command: CacheCommand, _ progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> CacheReport.Outcome {
        let number = command.number
        let report: CacheReport = try await ask(.cache(command)) { message in
            guard case .cache(let report) = message, report.number == number else { return nil }
            guard case .progress(let page) = report.outcome else { return report }
            progress?(page)
            return nil
        }
        if case .failure(let error) = report.outcome { throw error }
        return report.outcome
    }

    private static let nonsense = ImageError(
        .protocolViolation, "the coordinator sent an answer to a different question")
}

/// A question to the coordinator, answered once.
final class Inquiry: Sendable {
    /// The message to send.
    let message: ClientMessage
    /// When the inquiry fails without an answer.
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
        all.append(Entry(inquiry: inquiry, deadline: inquiry.deadline))
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

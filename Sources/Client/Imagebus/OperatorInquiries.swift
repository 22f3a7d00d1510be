public import ImageModel
public import Messages
import Synchronization

// The caches, for operators: on `front.sock` all of this is refused with `protocolViolation`, and
// on `web.sock` all but the removal of a selection, which the operator has to permit there. Each
// call throws `unavailable` where nobody answers within the connect timeout.
//
// A cache is named as in the configuration; none is the default one where a key is named, and all
// of them where a selection is.
extension ImagebusClient {
    /// Which of the tiers have the entry of a key. A look does not count as use.
    public func contains(
        _ key: String, cache: String? = nil, in tiers: CacheTypes = .all
    ) async throws(ImageError) -> CacheTypes {
        try await self.tiers(.contains, key, cache, tiers)
    }

    /// Removes the entry of a key from the tiers. A load after the answer does not find it there,
    /// and what is under way for its bytes begins anew, so that they are not stored after it.
    public func remove(
        _ key: String, cache: String? = nil, from tiers: CacheTypes = .all
    ) async throws(ImageError) {
        defer { memory?.remove(key: key) }
        _ = try await self.tiers(.remove, key, cache, tiers)
    }

    /// Removes the entries of a selection in the same way, and says how many there were. One that
    /// means all entries throws `invalidRequest`: `clear` removes these.
    ///
    /// External caches remove in steps, after each of which `progress` is called with what is gone
    /// by then, on the client's thread. If one of them fails, the error says what is left
    /// (`removed` and `left` in `details`, in entries; `left` only if that is known).
    public func remove(
        _ selection: EntrySelection, from tiers: CacheTypes = .all,
        progress: (@Sendable (EntryPage) -> Void)? = nil
    ) async throws(ImageError) -> EntryPage {
        defer { memory?.removeAll() }
        return try await page(.removeSelected, selection, tiers, progress: progress)
    }

    /// Removes every entry of every cache from the tiers in the same way. Returns the tiers that
    /// there are.
    public func clear(_ tiers: CacheTypes = .all) async throws(ImageError) -> CacheTypes {
        defer { memory?.removeAll() }
        return try await self.tiers(.clear, "", nil, tiers)
    }

    /// One page of the entries of a selection, those of the disk first, `limit` of them at most (1
    /// to `EntryPage.entriesMax`). `after` is `next` of the page before; entries that are stored
    /// meanwhile may be missing.
    public func entries(
        of selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all,
        after: UInt64 = 0, limit: Int = EntryPage.entriesMax
    ) async throws(ImageError) -> EntryPage {
        let limit = UInt32(min(max(1, limit), EntryPage.entriesMax))
        return try await page(.list, selection, tiers, after: after, limit: limit)
    }

    /// How many entries of a selection there are, and what they take, by tier.
    public func count(
        _ selection: EntrySelection = EntrySelection(), in tiers: CacheTypes = .all
    ) async throws(ImageError) -> EntryPage {
        try await page(.count, selection, tiers)
    }

    /// Has the tiers go down to their low-water mark, and the disk let go of what is over age. Says
    /// what is gone.
    public func trim(_ tiers: CacheTypes = .all) async throws(ImageError) -> EntryPage {
        try await page(.trim, EntrySelection(), tiers)
    }

    /// The bytes of the entry of a key, as they are stored, what they are, and its extended data;
    /// `nil` where the tiers do not have it. The text of the key is that of replies.
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

    /// Stands where a URL would: nothing is fetched.
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

    /// Of several entries it may take as long as the caches need, while the coordinator is there.
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
        .protocolViolation, "the coordinator answered something else than it was asked")
}

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

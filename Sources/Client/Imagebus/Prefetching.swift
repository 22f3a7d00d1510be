import BusConnection
public import ImageModel
public import Messages
import Synchronization
import Wire
import ZeroMQ

// What will be wanted, and how badly (SEMANTICS §12).
extension ImagebusClient {
    /// Begins to load images into the caches, in class low unless the template is of class high;
    /// nothing is delivered. A load of one of the URLs is served before them.
    ///
    /// `template` says how each URL is loaded; its own URL is ignored, and its timeout holds for
    /// each. At most `concurrency` of them are loaded at a time, 1 to 64; all prefetches of this
    /// client together at most as many as the one that may load the most. At most 100,000 URLs. One
    /// that is empty or longer than 8 KiB counts as skipped.
    public func prefetch(
        _ urls: [String], template: ImageRequest = ImageRequest(url: ""), concurrency: Int = 3
    ) -> PrefetchTask {
        let task = PrefetchTask(token: tokens.next(), commands: commands)
        guard (1...RequestLimits.prefetchConcurrencyMax).contains(concurrency) else {
            let most = RequestLimits.prefetchConcurrencyMax
            task.finish(
                .failure(ImageError(.invalidRequest, "1 to \(most) URLs are loaded at a time")))
            return task
        }
        let order = PrefetchOrder(
            batch: task.token, template: template, urls: urls, concurrency: concurrency)
        if !commands.post(.prefetch(order, task)) {
            task.finish(.failure(commands.refusal))
        }
        return task
    }

    /// Changes the class of a load; does nothing once it has ended.
    public func reprioritise(_ task: LoadTask, _ priority: Priority) {
        _ = commands.post(.reprioritise(task.token, priority))
    }

    /// Changes the class of all URLs of a prefetch that have not ended.
    public func reprioritise(_ task: PrefetchTask, _ priority: Priority) {
        _ = commands.post(.reprioritise(task.token, priority))
    }

    /// Changes the class of all loads of a group that were begun before.
    public func reprioritise(group: GroupID, _ priority: Priority) {
        _ = commands.post(.reprioritiseGroup(group, priority))
    }
}

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

/// How far a prefetch is, or how it ended.
public struct PrefetchCounts: Hashable, Sendable {
    /// URLs in all.
    public var total: Int
    /// URLs that ended by themselves, with or without success.
    public var finished: Int
    /// Of those, the ones that ended with an error. That no cache has it is none.
    public var skipped: Int
    /// URLs that were cancelled; with `finished` it makes `total` at the end.
    public var cancelled: Int

    /// Counts.
    public init(total: Int, finished: Int = 0, skipped: Int = 0, cancelled: Int = 0) {
        self.total = total
        self.finished = finished
        self.skipped = skipped
        self.cancelled = cancelled
    }
}

/// What a caller wants to be loaded into the caches.
struct PrefetchOrder: Sendable {
    let batch: Token
    /// How each URL is loaded.
    let template: ImageRequest
    let urls: [String]
    /// 0: as the coordinator likes.
    let concurrency: Int
}

/// The batches that the client has asked for and not been told the end of (PROTOCOL §8.2).
///
/// Pure: events in, actions out. A long list goes in parts that fit a frame, and not more of it at
/// a time than the window says, so that nothing else waits behind it. Which URLs have ended nobody
/// knows by name: under a new session a batch is sent again as a whole, and counted anew; what was
/// loaded before is found in the caches.
struct PendingPrefetches {
    /// What the connection is to do, in order.
    enum Action: Equatable {
        /// Send it.
        case send(ClientMessage)
        /// Tell the caller how far it is.
        case advance(Token, PrefetchCounts)
        /// Tell the caller how it ended, what failed first, and how all URLs ended.
        case finish(Token, PrefetchCounts, [PrefetchFailure] = [], PrefetchEnds = PrefetchEnds())
        /// Tell the caller that it failed.
        case fail(Token, ImageError)
    }

    private struct Entry {
        var template: ImageRequest
        let urls: [String]
        let concurrency: UInt32
        /// URLs that fit into no message; they count as skipped.
        let unsendable: Int
        /// The first of them.
        let unsendableFailures: [PrefetchFailure]
        var priority: Priority?
        var unservedUntil: Instant
        var sent = 0
        var hasBegun = false
        var report: PrefetchReport?
        var isCancelled = false
        /// A coordinator that shuts down refused it: it is for the next one.
        var isPostponed = false

        var isComplete: Bool { hasBegun && sent == urls.count }
        /// URLs that the coordinator has and that have not ended.
        var open: Int { sent - Int(clamping: report?.finished ?? 0) }
        var counts: PrefetchCounts {
            PrefetchCounts(
                total: urls.count + unsendable,
                finished: unsendable + Int(clamping: report?.finished ?? 0),
                skipped: unsendable + Int(clamping: report?.skipped ?? 0))
        }
        var ends: PrefetchEnds {
            var ends = report?.ends ?? PrefetchEnds()
            if unsendable > 0 { ends.failed(.invalidURL, UInt64(unsendable)) }
            return ends
        }
    }

    private let connectTimeoutMilliseconds: Int
    private var entries: [Token: Entry] = [:]
    /// Those with parts left, in order.
    private var unsent: [Token] = []
    private var isWelcome = false
    private var window = 0

    /// Bytes of URLs in one part: the rest of a frame is for the template.
    static let partBytesMax = 48 * 1024

    init(connectTimeoutMilliseconds: Int) {
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    /// Whether nothing is pending.
    var isEmpty: Bool { entries.isEmpty }

    // MARK: - Callers

    /// The caller wants a batch.
    mutating func submitted(_ order: PrefetchOrder, at now: Instant) -> [Action] {
        guard entries[order.batch] == nil else { return [] }
        let urls = order.urls.filter(Self.isSendable)
        var template = order.template
        template.url = ""
        let entry = Entry(
            template: template, urls: urls, concurrency: UInt32(clamping: order.concurrency),
            unsendable: order.urls.count - urls.count,
            unsendableFailures: Self.unsendable(order.urls),
            unservedUntil: now.adding(milliseconds: connectTimeoutMilliseconds))
        guard !urls.isEmpty else {
            return [.finish(order.batch, entry.counts, entry.unsendableFailures, entry.ends)]
        }
        entries[order.batch] = entry
        unsent.append(order.batch)
        return []
    }

    private static func isSendable(_ url: String) -> Bool {
        (1...RequestLimits.urlBytesMax).contains(url.utf8.count)
    }

    private static func unsendable(_ urls: [String]) -> [PrefetchFailure] {
        urls.lazy.filter { !isSendable($0) }.prefix(PrefetchFailure.countMax).map { url in
            let fault =
                url.isEmpty ? "is empty" : "has more than \(RequestLimits.urlBytesMax) bytes"
            return PrefetchFailure(url: url, error: ImageError(.invalidURL, "the URL \(fault)"))
        }
    }

    /// The caller no longer wants it. What was not sent ends here.
    mutating func cancelled(_ batch: Token) -> [Action] {
        guard let entry = entries[batch], !entry.isCancelled else { return [] }
        guard entry.hasBegun, isWelcome else { return [end(batch)] }
        entries[batch]?.isCancelled = true
        unsent.removeAll { $0 == batch }
        return [.send(.cancel(batch))]
    }

    /// The caller wants it more or less than before.
    mutating func reprioritised(_ batch: Token, _ priority: Priority) -> [Action] {
        guard let entry = entries[batch] else { return [] }
        entries[batch]?.priority = priority
        return entry.hasBegun && isWelcome ? [.send(.reprioritise(batch, priority))] : []
    }

    // MARK: - Parts

    /// Whether a part may go, without making it.
    var hasNext: Bool { isWelcome && unsent.contains { mayGo($0) != nil } }

    /// The batch, where the window has room for more of it.
    private func mayGo(_ batch: Token) -> Entry? {
        entries[batch].flatMap { $0.open < window ? $0 : nil }
    }

    /// The next part that may go, and of which batch it is.
    var next: PrefetchRequest? {
        guard isWelcome else { return nil }
        for batch in unsent {
            guard let entry = mayGo(batch) else { continue }
            var count = 0
            var bytes = 0
            let most = min(MessageLimits.prefetchURLsMax, window - entry.open)
            for url in entry.urls[entry.sent...].prefix(most) {
                bytes += url.utf8.count
                if count > 0, bytes > Self.partBytesMax { break }
                count += 1
            }
            let end = entry.sent + count
            return PrefetchRequest(
                batch: batch, image: entry.template, urls: Array(entry.urls[entry.sent..<end]),
                isLast: end == entry.urls.count, concurrency: entry.concurrency)
        }
        return nil
    }

    /// The part went out.
    mutating func sent(_ part: PrefetchRequest) -> [Action] {
        guard let entry = entries[part.batch] else { return [] }
        entries[part.batch]?.sent += part.urls.count
        entries[part.batch]?.hasBegun = true
        // Another one is next, where there is one.
        unsent.removeAll { $0 == part.batch }
        if !part.isLast { unsent.append(part.batch) }
        guard !entry.hasBegun, let priority = entry.priority else { return [] }
        return [.send(.reprioritise(part.batch, priority))]
    }

    // MARK: - Session

    /// A session has begun.
    mutating func welcomed(_ welcome: ClientWelcome) -> [Action] {
        isWelcome = true
        window = Int(clamping: welcome.window)
        return []
    }

    /// The session has ended, and with it all batches there: they begin anew.
    mutating func sessionEnded(at now: Instant) -> [Action] {
        isWelcome = false
        var actions: [Action] = []
        let waiting = Set(unsent)
        for (batch, entry) in entries {
            if entry.isCancelled {
                actions.append(end(batch))
                continue
            }
            entries[batch]?.sent = 0
            entries[batch]?.hasBegun = false
            entries[batch]?.report = nil
            entries[batch]?.isPostponed = false
            entries[batch]?.unservedUntil = now.adding(milliseconds: connectTimeoutMilliseconds)
            if !waiting.contains(batch) { unsent.append(batch) }
        }
        return actions
    }

    /// How far a batch is, or its end.
    mutating func reported(_ report: PrefetchReport) -> [Action] {
        guard let entry = entries[report.batch], entry.hasBegun else { return [] }
        entries[report.batch]?.report = report
        // Of a part that is the last one, or of a batch that somebody cancelled.
        if report.isFinal { return [end(report.batch)] }
        return entries[report.batch].map { [.advance(report.batch, $0.counts)] } ?? []
    }

    /// The coordinator does not do it.
    mutating func refused(_ error: ImageError, _ batch: Token) -> [Action] {
        guard let entry = entries[batch] else { return [] }
        if entry.isCancelled { return [end(batch)] }
        guard error.code == .shuttingDown else { return [end(batch, error)] }
        entries[batch]?.isPostponed = true
        unsent.removeAll { $0 == batch }
        return []
    }

    // MARK: - Ends

    /// Ends what nobody serves.
    mutating func expire(at now: Instant) -> [Action] {
        guard !isWelcome else { return [] }
        return entries.filter { $0.value.unservedUntil <= now }.keys.map {
            end($0, ImageError(.unavailable, "nobody serves the endpoint; start imagebus serve"))
        }
    }

    /// When something may be overdue next.
    var nextDeadline: Instant? {
        isWelcome ? nil : entries.values.map(\.unservedUntil).min()
    }

    /// Ends everything: the client is closed.
    mutating func closed(with error: ImageError = .clientClosed) -> [Action] {
        entries.keys.map { end($0, error) }
    }

    /// What has not ended by itself was cancelled.
    private mutating func end(_ batch: Token) -> Action {
        let entry = entries[batch]
        var counts = entry?.counts ?? PrefetchCounts(total: 0)
        counts.cancelled = counts.total - counts.finished
        let failures = (entry?.unsendableFailures ?? []) + (entry?.report?.failures ?? [])
        remove(batch)
        return .finish(
            batch, counts, Array(failures.prefix(PrefetchFailure.countMax)),
            entry?.ends ?? PrefetchEnds())
    }

    private mutating func end(_ batch: Token, _ error: ImageError) -> Action {
        remove(batch)
        return .fail(batch, error)
    }

    private mutating func remove(_ batch: Token) {
        entries[batch] = nil
        unsent.removeAll { $0 == batch }
    }
}

// Batches: what goes out of them when nothing else does, and what their callers are told.
extension ClientLine {
    mutating func submit(_ order: PrefetchOrder, _ task: PrefetchTask, at now: Instant) {
        prefetchTasks[order.batch] = task
        perform(prefetches.submitted(order, at: now))
    }

    mutating func perform(_ actions: [PendingPrefetches.Action]) {
        for action in actions {
            switch action {
            case .send(let message): outbox.append(.other(message))
            case .advance(let batch, let counts): prefetchTasks[batch]?.advance(counts)
            case .finish(let batch, let counts, let failures, let ends):
                prefetchTasks.removeValue(forKey: batch)?
                    .finish(.success(counts), failures: failures, ends: ends)
            case .fail(let batch, let error):
                prefetchTasks.removeValue(forKey: batch)?.finish(.failure(error))
            }
        }
    }

    /// Parts of batches, as long as libzmq takes them. One that cannot be encoded ends its batch.
    mutating func sendPrefetches() throws {
        while outbox.isEmpty, let part = prefetches.next {
            do {
                let encoded = try encoder.encode(.prefetch(part))
                guard try connection.socket.send(encoded, from: encoder) == .sent else { return }
                perform(prefetches.sent(part))
            } catch let error as WireError {
                let message = error.imageError.message
                perform(prefetches.refused(ImageError(.invalidRequest, message), part.batch))
            }
        }
    }
}

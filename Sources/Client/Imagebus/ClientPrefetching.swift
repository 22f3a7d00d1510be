public import Model
import ProcessRuntime
import Synchronization
import Wire
import ZeroMQ

// Prefetching and priorities (SEMANTICS §12).
extension ImagebusClient {
    /// Begins to load images into the caches without delivering them, with low priority unless the
    /// template has high priority. An ordinary load of one of the URLs takes precedence.
    ///
    /// `template` specifies how each URL is loaded; its own URL is ignored, and its timeout applies
    /// to each load. At most `concurrency` URLs, 1 to 64, are loaded at a time; all prefetches of
    /// this client together are limited to the largest `concurrency` among them. At most 100,000
    /// URLs. A URL that is empty or longer than 8 KiB counts as skipped.
    public func prefetch(
        _ urls: [String], template: ImageRequest = ImageRequest(url: ""), concurrency: Int = 3
    ) -> PrefetchTask {
        let task = PrefetchTask(token: tokens.next(), commands: commands)
        guard (1...RequestLimits.prefetchConcurrencyMax).contains(concurrency) else {
            let most = RequestLimits.prefetchConcurrencyMax
            task.finish(
                .failure(ImageError(.invalidRequest, "the concurrency must be 1 to \(most)")))
            return task
        }
        let command = PrefetchCommand(
            task: task, template: template, urls: urls, concurrency: concurrency)
        if !commands.post(.prefetch(command)) { task.finish(.failure(commands.refusal)) }
        return task
    }

    /// Changes the priority of a load. Does nothing once it has ended.
    public func reprioritize(_ task: LoadTask, _ priority: Priority) {
        _ = commands.post(.reprioritize(task.token, priority))
    }

    /// Changes the priority of all URLs of a prefetch that have not ended.
    public func reprioritize(_ task: PrefetchTask, _ priority: Priority) {
        _ = commands.post(.reprioritize(task.token, priority))
    }

    /// Changes the priority of all loads of a group that were begun before this call.
    public func reprioritize(group: GroupID, _ priority: Priority) {
        _ = commands.post(.reprioritizeGroup(group, priority))
    }
}

/// One prefetch. Ends exactly once: with its counts or an error.
public final class PrefetchTask: Sendable {
    private typealias Continuation = CheckedContinuation<Result<PrefetchCounts, ImageError>, Never>

    private struct State {
        var result: Result<PrefetchCounts, ImageError>?
        var failures: [PrefetchFailure] = []
        var ends = PrefetchEnds()
        var continuations: [Continuation] = []
    }

    /// Identifies the prefetch on the bus, in logs and to operators.
    public let token: Token
    /// The progress; intermediate steps may be skipped, but never the newest. Ends with the
    /// prefetch. If the coordinator is replaced, the counts restart; images already loaded are in
    /// the caches.
    public let progress: AsyncStream<PrefetchCounts>

    private let sink: AsyncStream<PrefetchCounts>.Continuation
    private let state = Mutex(State())
    private let commands: CommandQueue

    init(token: Token, commands: CommandQueue) {
        self.token = token
        self.commands = commands
        (progress, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The final counts: `finished + cancelled == total`, even after cancellation. Throws if the
    /// coordinator refused the prefetch: `busy`, `limitExceeded`, or the error in the template; and
    /// `unavailable` if no coordinator serves the endpoint.
    ///
    /// Canceling the awaiting task cancels the prefetch. Can be awaited more than once.
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

    /// After the end: the first skipped URLs, at most 16, with their errors.
    public var failures: [PrefetchFailure] { state.withLock { $0.failures } }

    /// After the end: how many URLs were already cached, and how many failed with each error.
    public var ends: PrefetchEnds { state.withLock { $0.ends } }

    /// Cancels all URLs that have not ended, whether running or waiting. Idempotent. Can be called
    /// from any thread.
    public func cancel() {
        let isRunning = state.withLock { $0.result == nil }
        if isRunning { _ = commands.post(.cancel(token)) }
    }

    func advance(_ counts: PrefetchCounts) { sink.yield(counts) }

    /// Ends the prefetch; only the first call counts.
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

/// The progress or the final counts of a prefetch.
public struct PrefetchCounts: Hashable, Sendable {
    /// The total number of URLs.
    public var total: Int
    /// The number of URLs that ended without being canceled, with or without success.
    public var finished: Int
    /// The number of finished URLs that ended with an error. A miss of a cache-only prefetch is not
    /// an error.
    public var skipped: Int
    /// The number of canceled URLs; at the end, this plus `finished` equals `total`.
    public var cancelled: Int

    /// Creates counts.
    public init(total: Int, finished: Int = 0, skipped: Int = 0, cancelled: Int = 0) {
        self.total = total
        self.finished = finished
        self.skipped = skipped
        self.cancelled = cancelled
    }
}

/// A prefetch to submit.
struct PrefetchCommand: Sendable {
    let task: PrefetchTask
    /// How each URL is loaded.
    let template: ImageRequest
    let urls: [String]
    /// The concurrency; 0 leaves it to the coordinator.
    let concurrency: Int
}

/// The prefetch batches that have not ended (PROTOCOL §8.2).
///
/// Without I/O: events in, messages and reports to the callers out. A long list is sent in parts
/// that fit into a frame, and only as much at a time as the window allows, so that it doesn't delay
/// other messages. The client doesn't know which of the URLs have ended; in a new session a batch
/// is sent again as a whole, and its counts restart. Images already loaded are found in the caches.
struct PendingPrefetches {
    private struct Entry {
        let task: PrefetchTask
        var template: ImageRequest
        let urls: [String]
        let concurrency: UInt32
        /// The number of URLs that don't fit into a message; they count as skipped.
        let unsendable: Int
        /// The first URLs that don't fit into a message.
        let unsendableFailures: [PrefetchFailure]
        var priority: Priority?
        var unservedUntil: Instant
        var sent = 0
        var hasBegun = false
        var report: PrefetchReport?
        var isCancelled = false

        var isComplete: Bool { hasBegun && sent == urls.count }
        /// The number of URLs sent that have not ended.
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
    /// Batches with parts left to send, in order.
    private var unsent: [Token] = []
    private var isWelcome = false
    private var window = 0

    /// The largest size of the URLs in one part; the rest of a frame is for the template.
    static let partBytesMax = 48 * 1024

    init(connectTimeoutMilliseconds: Int) {
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    /// Whether nothing is pending.
    var isEmpty: Bool { entries.isEmpty }

    // MARK: - Callers

    /// Handles a new batch.
    mutating func submitted(_ command: PrefetchCommand, at now: Instant) {
        let batch = command.task.token
        guard entries[batch] == nil else { return }
        let urls = command.urls.filter(Self.isSendable)
        var template = command.template
        template.url = ""
        let entry = Entry(
            task: command.task, template: template, urls: urls,
            concurrency: UInt32(clamping: command.concurrency),
            unsendable: command.urls.count - urls.count,
            unsendableFailures: Self.unsendable(command.urls),
            unservedUntil: now.adding(milliseconds: connectTimeoutMilliseconds))
        entries[batch] = entry
        if urls.isEmpty { return end(batch) }
        unsent.append(batch)
    }

    private static func isSendable(_ url: String) -> Bool {
        (1...RequestLimits.urlBytesMax).contains(url.utf8.count)
    }

    private static func unsendable(_ urls: [String]) -> [PrefetchFailure] {
        urls.lazy.filter { !isSendable($0) }.prefix(PrefetchFailure.countMax).map { url in
            let fault =
                url.isEmpty ? "is empty" : "exceeds \(RequestLimits.urlBytesMax) bytes"
            return PrefetchFailure(url: url, error: ImageError(.invalidURL, "the URL \(fault)"))
        }
    }

    /// Cancels a batch. Ends it here if nothing of it was sent.
    mutating func cancelled(_ batch: Token) -> ClientMessage? {
        guard let entry = entries[batch], !entry.isCancelled else { return nil }
        guard entry.hasBegun, isWelcome else {
            end(batch)
            return nil
        }
        entries[batch]?.isCancelled = true
        unsent.removeAll { $0 == batch }
        return .cancel(batch)
    }

    mutating func reprioritized(_ batch: Token, _ priority: Priority) -> ClientMessage? {
        guard let entry = entries[batch] else { return nil }
        entries[batch]?.priority = priority
        return entry.hasBegun && isWelcome ? .reprioritize(batch, priority) : nil
    }

    // MARK: - Parts

    /// Whether a part can be sent, without creating it.
    var hasNext: Bool { isWelcome && unsent.contains { mayGo($0) != nil } }

    /// Returns the batch if the window allows sending more of it.
    private func mayGo(_ batch: Token) -> Entry? {
        entries[batch].flatMap { $0.open < window ? $0 : nil }
    }

    /// The next part that can be sent, with its batch.
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

    mutating func sent(_ part: PrefetchRequest) -> ClientMessage? {
        guard let entry = entries[part.batch] else { return nil }
        entries[part.batch]?.sent += part.urls.count
        entries[part.batch]?.hasBegun = true
        // Batches take turns.
        unsent.removeAll { $0 == part.batch }
        if !part.isLast { unsent.append(part.batch) }
        guard !entry.hasBegun, let priority = entry.priority else { return nil }
        return .reprioritize(part.batch, priority)
    }

    // MARK: - Session

    /// Begins a session.
    mutating func welcomed(_ welcome: ClientWelcome) {
        isWelcome = true
        window = Int(clamping: welcome.window)
    }

    /// Ends the session and with it all batches in it, which restart in the next session.
    mutating func sessionEnded(at now: Instant) {
        isWelcome = false
        let waiting = Set(unsent)
        for (batch, entry) in entries {
            if entry.isCancelled {
                end(batch)
                continue
            }
            entries[batch]?.sent = 0
            entries[batch]?.hasBegun = false
            entries[batch]?.report = nil
            entries[batch]?.unservedUntil = now.adding(milliseconds: connectTimeoutMilliseconds)
            if !waiting.contains(batch) { unsent.append(batch) }
        }
    }

    /// Handles a report about a batch: its progress or its end.
    mutating func reported(_ report: PrefetchReport) {
        guard var entry = entries[report.batch], entry.hasBegun else { return }
        entry.report = report
        entries[report.batch] = entry
        // Final after the last part, or after the batch was canceled.
        if report.isFinal { return end(report.batch) }
        entry.task.advance(entry.counts)
    }

    /// Handles the coordinator's refusal of a batch.
    mutating func refused(_ error: ImageError, _ batch: Token) {
        guard let entry = entries[batch] else { return }
        if entry.isCancelled { return end(batch) }
        guard error.code == .shuttingDown else { return end(batch, error) }
        // It is sent to the next coordinator.
        unsent.removeAll { $0 == batch }
    }

    // MARK: - Ends

    /// Ends batches that waited too long for a coordinator.
    mutating func expire(at now: Instant) {
        guard !isWelcome else { return }
        for (batch, entry) in entries where entry.unservedUntil <= now {
            end(batch, .nobodyServes)
        }
    }

    /// The next time at which a batch may be overdue.
    var nextDeadline: Instant? {
        isWelcome ? nil : entries.values.map(\.unservedUntil).min()
    }

    /// Ends everything because the client is closed.
    mutating func closed(with error: ImageError = .clientClosed) {
        for batch in entries.keys { end(batch, error) }
    }

    /// Ends a batch. URLs that have not ended by themselves count as canceled.
    private mutating func end(_ batch: Token) {
        guard let entry = remove(batch) else { return }
        var counts = entry.counts
        counts.cancelled = counts.total - counts.finished
        let failures = entry.unsendableFailures + (entry.report?.failures ?? [])
        entry.task.finish(
            .success(counts), failures: Array(failures.prefix(PrefetchFailure.countMax)),
            ends: entry.ends)
    }

    private mutating func end(_ batch: Token, _ error: ImageError) {
        remove(batch)?.task.finish(.failure(error))
    }

    private mutating func remove(_ batch: Token) -> Entry? {
        unsent.removeAll { $0 == batch }
        return entries.removeValue(forKey: batch)
    }
}

// Sending parts of batches when nothing else is queued.
extension ClientConnection {
    /// Sends parts of batches as long as libzmq accepts them. A part that cannot be encoded ends
    /// its batch.
    mutating func sendPrefetches() throws {
        while outbox.isEmpty, let part = prefetches.next {
            do {
                let encoded = try encoder.encode(.prefetch(part))
                guard try connection.socket.send(encoded, from: encoder) == .sent else { return }
                send(prefetches.sent(part))
            } catch let error as WireError {
                let message = error.imageError.message
                prefetches.refused(ImageError(.invalidRequest, message), part.batch)
            }
        }
    }
}

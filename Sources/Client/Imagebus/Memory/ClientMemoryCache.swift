import EventLoop
public import ImageModel
import Messages
import Synchronization

/// Answers that a client keeps in its process, with their bytes, so that they are given again
/// without a message and without a copy (`ClientConfiguration.memoryCache`). Any thread.
///
/// An answer with a voucher is given while that stands (SEMANTICS §5.24), and counts as a load of
/// the stack. One without is given only where the limits say for how long it may be stale. The
/// entry that was used longest ago makes room.
///
/// Bytes that lie in shared memory are copied, so that no entry keeps any of that.
public final class ClientMemoryCache: Sendable {
    private struct Entry {
        let response: ImageResponse
        /// For one without a voucher.
        let end: Instant?
    }

    private struct State {
        var entries: CostedEntries<RequestKey, Entry>
        var statistics = MemoryCacheStatistics()
        /// Grows with every removal: what was asked for before is not kept after it.
        var removals: UInt64 = 0
        var isClosed = false
    }

    /// What it was configured with.
    public let limits: MemoryCacheLimits
    private let state: Mutex<State>

    init(_ limits: MemoryCacheLimits) {
        self.limits = limits
        let entries = CostedEntries<RequestKey, Entry>(
            costMax: limits.bytesMax, countMax: limits.entriesMax)
        state = Mutex(State(entries: entries))
    }

    /// Entries, cost and counters, of one moment.
    public var statistics: MemoryCacheStatistics {
        state.withLock { state in
            var statistics = state.statistics
            (statistics.entries, statistics.bytes) = (state.entries.count, state.entries.cost)
            return statistics
        }
    }

    /// Removes the answer to a request. Loads of any request that are under way now are not kept.
    public func remove(_ request: ImageRequest) {
        remove { $0.remove(RequestKey(request)) }
    }

    /// Removes all answers whose source is a URL, whatever was made of it. Loads that are under
    /// way now are not kept.
    public func remove(url: String) {
        let url = ImageRequest(url: url).url
        remove { $0.remove { key, _ in key.url == url } }
    }

    /// Removes all. Loads that are under way now are not kept.
    public func removeAll() { remove { $0.removeAll() } }

    /// Removes what is stored under a key of the stack.
    func remove(key: String) { remove { $0.remove { _, entry in entry.response.key == key } } }

    private func remove(_ change: (inout CostedEntries<RequestKey, Entry>) -> Void) {
        state.withLock { state in
            state.removals += 1
            change(&state.entries)
        }
    }

    /// From now on nothing is kept or given.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.entries.removeAll()
        }
    }

    // MARK: - Of the client

    /// The answer to a request, where one stands.
    func response(to request: ImageRequest) -> ImageResponse? {
        guard request.queryCacheTypes.contains(.memory) else { return nil }
        let key = RequestKey(request)
        guard let entry = state.withLock({ $0.entries.use(key) }) else {
            state.withLock { $0.statistics.misses += 1 }
            return nil
        }
        let stands = entry.response.voucher?.use() ?? entry.end.map { Instant.now() < $0 } ?? false
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            guard stands else {
                state.statistics.misses += 1
                state.statistics.withdrawals += 1
                // Another thread may have kept the next one.
                if let known = state.entries.use(key), known.end == entry.end,
                    known.response.voucher?.isSame(as: entry.response.voucher) != false
                {
                    state.entries.remove(key)
                }
                return nil
            }
            state.statistics.hits += 1
            return entry.response
        }
    }

    /// Keeps an answer that has a voucher.
    func keep(_ response: ImageResponse, to request: ImageRequest) {
        guard response.voucher != nil else { return }
        put(response, until: nil, under: RequestKey(request), asOf: nil)
    }

    /// Keeps how a load ended, where it may be stale; `nil` where no load of the request may.
    func keeper(of request: ImageRequest) -> MemoryKeeper? {
        guard limits.staleMilliseconds > 0, request.mayBeStale else { return nil }
        return MemoryKeeper(
            cache: self, key: RequestKey(request), removals: state.withLock { $0.removals })
    }

    /// What `MemoryKeeper` keeps.
    func keep(_ response: ImageResponse, under key: RequestKey, asOf removals: UInt64) {
        guard response.isWhole else { return }
        guard response.voucher == nil else {
            return put(response, until: nil, under: key, asOf: removals)
        }
        let end = Instant.now().adding(milliseconds: limits.staleMilliseconds)
        put(response.ofMemory, until: end, under: key, asOf: removals)
    }

    private func put(
        _ response: ImageResponse, until end: Instant?, under key: RequestKey,
        asOf removals: UInt64?
    ) {
        guard let bytes = response.bytes, bytes.heldBytes <= limits.bytesMax else { return }
        var response = response
        let own = bytes.ofThisProcess
        response.bytes = own
        state.withLock { state in
            guard !state.isClosed, removals ?? state.removals == state.removals else { return }
            let cost =
                own.heldBytes + MemoryCacheLimits.entryBytes + key.textBytes
                + response.key.utf8.count
            let entry = Entry(response: response, end: end)
            guard let gone = state.entries.put(entry, under: key, cost: cost) else { return }
            state.statistics.stores += 1
            state.statistics.evictions += gone
        }
    }
}

public import Model
import ProcessRuntime
import Synchronization

/// Answers held in the client's process together with their bytes, so that they can be returned
/// without a message and without a copy (`ClientConfiguration.memoryCache`). Can be used from any
/// thread.
///
/// An answer with a voucher is returned while the voucher is valid (SEMANTICS §5.24), and counts as
/// a load of the stack. An answer without a voucher is returned only for as long as the limits
/// allow it to be stale. The least recently used entry is evicted first.
///
/// Bytes in shared memory are copied, so that no entry holds memory of the stack.
public final class ClientMemoryCache: Sendable {
    private struct Entry {
        let response: ImageResponse
        /// The expiry of an answer without a voucher.
        let end: Instant?
    }

    private struct State {
        var entries: CostedEntries<RequestKey, Entry>
        var statistics = MemoryCacheStatistics()
        /// A counter of removals: an answer requested before a removal is not kept after it.
        var removals: UInt64 = 0
        var isClosed = false
    }

    /// The configured limits.
    public let limits: MemoryCacheLimits
    private let state: Mutex<State>

    init(_ limits: MemoryCacheLimits) {
        self.limits = limits
        let entries = CostedEntries<RequestKey, Entry>(
            costMax: limits.bytesMax, countMax: limits.entriesMax)
        state = Mutex(State(entries: entries))
    }

    /// A consistent snapshot of the entries, their size and the counters.
    public var statistics: MemoryCacheStatistics {
        state.withLock { state in
            var statistics = state.statistics
            (statistics.entries, statistics.bytes) = (state.entries.count, state.entries.cost)
            return statistics
        }
    }

    /// Removes the answer to a request. The results of all loads in flight, of any request, are not
    /// kept.
    public func remove(_ request: ImageRequest) {
        remove { $0.remove(RequestKey(request)) }
    }

    /// Removes all answers whose source is a URL, with any processing steps. The results of loads
    /// in flight are not kept.
    public func remove(url: String) {
        let url = ImageRequest(url: url).url
        remove { $0.remove { key, _ in key.url == url } }
    }

    /// Removes all answers. The results of loads in flight are not kept.
    public func removeAll() { remove { $0.removeAll() } }

    /// Removes the answer stored under one of the stack's cache keys.
    func remove(key: String) { remove { $0.remove { _, entry in entry.response.key == key } } }

    private func remove(_ change: (inout CostedEntries<RequestKey, Entry>) -> Void) {
        state.withLock { state in
            state.removals += 1
            change(&state.entries)
        }
    }

    /// Closes the cache: from now on nothing is kept or returned.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.entries.removeAll()
        }
    }

    // MARK: - For the client

    typealias Keeper = @Sendable (ImageResponse) -> Void

    /// Returns the valid answer to a request, if there is one.
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
                // Another thread may have stored a newer answer.
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

    /// Returns a function that keeps the response to a load as an answer that may be stale; `nil`
    /// if no such answer is allowed for the request.
    func keeper(of request: ImageRequest) -> Keeper? {
        guard limits.staleMilliseconds > 0, request.mayBeStale else { return nil }
        let (key, removals) = (RequestKey(request), state.withLock { $0.removals })
        return { self.keep($0, under: key, asOf: removals) }
    }

    /// `removals`: the number of removals when the load began; if it has changed, the answer is not
    /// kept.
    private func keep(_ response: ImageResponse, under key: RequestKey, asOf removals: UInt64) {
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

/// The limits of a client's own memory cache (`ClientConfiguration.memoryCache`).
public struct MemoryCacheLimits: Hashable, Sendable {
    /// The largest total size in bytes, measured as in `MemoryCacheStatistics.bytes`. An answer
    /// that exceeds it alone is not kept.
    public var bytesMax: Int
    /// The largest number of entries.
    public var entriesMax: Int
    /// How long an answer without a voucher may be returned, in milliseconds.
    ///
    /// 0, the default, disables this: then no answer is returned that was removed, replaced or
    /// refused in the stack. Otherwise an answer may be stale for this long: even if it has been
    /// removed from the stack, it can still be returned here. This is intended for stacks that
    /// issue no vouchers and for clients that receive their images in chunks. At most
    /// `staleMillisecondsMax`.
    public var staleMilliseconds: Int

    /// One day.
    public static let staleMillisecondsMax = 86_400_000
    /// The fixed cost of an entry in bytes, in addition to the bytes of the image and the lengths
    /// of the URL, headers and key: it covers the rest of the request, the metadata and the entry
    /// itself.
    public static let entryBytes = 1_024

    /// Creates limits; negative values count as 0, which disables the cache.
    public init(bytesMax: Int, entriesMax: Int = 65_536, staleMilliseconds: Int = 0) {
        self.bytesMax = max(0, bytesMax)
        self.entriesMax = max(0, entriesMax)
        self.staleMilliseconds = min(max(0, staleMilliseconds), Self.staleMillisecondsMax)
    }
}

/// The contents of a client's own memory cache and its counters since the client was created.
public struct MemoryCacheStatistics: Hashable, Sendable {
    /// The current number of entries.
    public internal(set) var entries = 0
    /// The current total cost in bytes: the memory of the images plus
    /// `MemoryCacheLimits.entryBytes` per entry.
    public internal(set) var bytes = 0
    /// The number of answers returned.
    public internal(set) var hits = 0
    /// The number of requests without a valid entry.
    public internal(set) var misses = 0
    /// The number of entries stored, including replacements.
    public internal(set) var stores = 0
    /// The number of entries evicted to make room.
    public internal(set) var evictions = 0
    /// The number of entries found to be invalid on lookup, because their voucher was revoked or
    /// they had expired.
    public internal(set) var withdrawals = 0
}

extension ImageRequest {
    /// Whether the request allows an answer to be returned without asking the coordinator: it must
    /// permit the memory tier and not require information that only the stack has.
    var mayBeStale: Bool {
        !url.isEmpty && queryCacheTypes.contains(.memory) && storeCacheTypes.contains(.memory)
            && !wantsExplanation && !context.wantsExtendedData
            && options.isDisjoint(with: [
                .refreshCached, .respectCacheControl, .fromLoaderOnly, .waitStoreCache,
                .progressiveLoad,
            ])
    }
}

extension ImageResponse {
    /// Whether the response contains the complete requested image, with its bytes.
    var isWhole: Bool {
        status == .ok && bytes != nil && fallbackFor == nil && arrivedBytes == nil && !isDamaged
    }

    /// The same response as an answer from the memory tier.
    var ofMemory: ImageResponse {
        ImageResponse(account.ofMemory, bytes)
    }
}

/// A least-recently-used cache, limited by total cost and number of entries.
struct CostedEntries<Key: Hashable, Value> {
    private final class Entry {
        let key: Key
        let value: Value
        let cost: Int
        /// Its number in the order of use.
        var number = 0

        init(_ key: Key, _ value: Value, cost: Int) {
            (self.key, self.value, self.cost) = (key, value, cost)
        }
    }

    private var entries: [Key: Entry] = [:]
    /// The entries in order of use, the least recently used first. Not the keys that were looked
    /// up: those would keep the caller's requests.
    private var order = NumberedQueue<Entry>()
    private(set) var cost = 0
    let costMax: Int
    let countMax: Int

    var count: Int { entries.count }

    init(costMax: Int, countMax: Int) { (self.costMax, self.countMax) = (costMax, countMax) }

    /// Returns the value for a key and marks it as the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let entry = entries[key] else { return nil }
        if entry.number != order.lastNumber {
            order.remove(entry.number) { _ in true }
            entry.number = order.append(entry)
        }
        return entry.value
    }

    /// Stores a value under a key, replacing any previous one. Returns the number of other entries
    /// evicted, or `nil` if the value exceeds the cost limit and is not stored.
    mutating func put(_ value: Value, under key: Key, cost: Int) -> Int? {
        remove(key)
        guard cost >= 0, cost <= costMax, countMax > 0 else { return nil }
        var gone = 0
        while let oldest = order.first, self.cost > costMax - cost || count >= countMax {
            remove(oldest.key)
            gone += 1
        }
        let entry = Entry(key, value, cost: cost)
        entry.number = order.append(entry)
        entries[key] = entry
        self.cost += cost
        return gone
    }

    mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        order.remove(entry.number) { _ in true }
        cost -= entry.cost
    }

    /// Removes all entries that satisfy a predicate, and returns their number.
    @discardableResult
    mutating func remove(where isUnwanted: (Key, Value) -> Bool) -> Int {
        let unwanted = entries.filter { isUnwanted($0.key, $0.value.value) }.keys
        for key in unwanted { remove(key) }
        return unwanted.count
    }

    mutating func removeAll() { self = Self(costMax: costMax, countMax: countMax) }
}

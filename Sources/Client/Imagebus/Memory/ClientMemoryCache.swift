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

/// How much a client keeps in the memory of its own process (`ClientConfiguration.memoryCache`).
public struct MemoryCacheLimits: Hashable, Sendable {
    /// Bytes at most, by `MemoryCacheStatistics.bytes`. What has more by itself is not kept.
    public var bytesMax: Int
    /// Entries at most.
    public var entriesMax: Int
    /// Milliseconds for which an answer that has no voucher is given again.
    ///
    /// 0, as it is unless it is set: not at all. What is given again then was never removed,
    /// replaced or refused in the stack. More: an answer may be that old, whatever became of it
    /// there meanwhile, and whoever was told that it is gone may get it here for so long. That is
    /// for stacks that issue no vouchers and for clients that get their images in pieces.
    /// At most `staleMillisecondsMax`.
    public var staleMilliseconds: Int

    /// A day.
    public static let staleMillisecondsMax = 86_400_000
    /// What an entry costs beside the bytes of its image and the texts of URL, headers and key: the
    /// rest of its request, its head, and its place.
    public static let entryBytes = 1_024

    /// So many bytes; values below 0 are 0, with which nothing is kept.
    public init(bytesMax: Int, entriesMax: Int = 65_536, staleMilliseconds: Int = 0) {
        self.bytesMax = max(0, bytesMax)
        self.entriesMax = max(0, entriesMax)
        self.staleMilliseconds = min(max(0, staleMilliseconds), Self.staleMillisecondsMax)
    }
}

/// What a client keeps in its process, and what came of it since it began.
public struct MemoryCacheStatistics: Hashable, Sendable {
    /// Entries now.
    public internal(set) var entries = 0
    /// What they cost now: the memory of their bytes, and `MemoryCacheLimits.entryBytes` each.
    public internal(set) var bytes = 0
    /// Answers that were given.
    public internal(set) var hits = 0
    /// Requests that had no entry, or one that did not stand any more.
    public internal(set) var misses = 0
    /// Entries that were made, new ones and in the place of old ones.
    public internal(set) var stores = 0
    /// Entries that made room for others.
    public internal(set) var evictions = 0
    /// Entries whose voucher had fallen, or whose time was over, when they were asked for.
    public internal(set) var withdrawals = 0
}

/// Keeps the answer of one load in the memory of the client, where it may be stale.
struct MemoryKeeper: Sendable {
    let cache: ClientMemoryCache
    let key: RequestKey
    /// Removals before the load began: after one more its answer is not kept.
    let removals: UInt64

    func keep(_ result: Result<ImageResponse, ImageError>) {
        guard case .success(let response) = result else { return }
        cache.keep(response, under: key, asOf: removals)
    }
}

extension ImageRequest {
    /// Whether an answer may be given again without asking, as far as the request says: where it
    /// wants memory, and nothing that only the stack knows.
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
    /// Whether it is the image that was asked for, with its bytes.
    var isWhole: Bool {
        status == .ok && bytes != nil && fallbackFor == nil && arrivedBytes == nil && !isDamaged
    }

    /// The same as an answer of the memory tier.
    var ofMemory: ImageResponse {
        ImageResponse(ImageAccount(ofMemory: account), bytes)
    }
}

/// Values by key, within a cost and a count; the one that was used longest ago makes room.
struct CostedEntries<Key: Hashable, Value> {
    private struct Node {
        let key: Key
        var value: Value
        var cost: Int
        /// Towards those used later and earlier.
        var later: Int?
        var earlier: Int?
    }

    private var places: [Key: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest: Int?
    private var oldest: Int?
    private(set) var cost = 0
    let costMax: Int
    let countMax: Int

    var count: Int { places.count }

    init(costMax: Int, countMax: Int) { (self.costMax, self.countMax) = (costMax, countMax) }

    /// The value of a key, which is the newest then.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let value = nodes[place]?.value else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return value
    }

    /// Puts a value in the place of the one of the key. Returns how many others made room; `nil`
    /// where the value costs more than there may be, and is not kept.
    mutating func put(_ value: Value, under key: Key, cost: Int) -> Int? {
        remove(key)
        guard cost >= 0, cost <= costMax, countMax > 0 else { return nil }
        var gone = 0
        while let oldest, self.cost > costMax - cost || count >= countMax {
            take(oldest)
            gone += 1
        }
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(nil) }
        nodes[place] = Node(key: key, value: value, cost: cost)
        places[key] = place
        self.cost += cost
        link(place)
        return gone
    }

    /// The value that is gone; `nil` where there was none.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { places[key].flatMap { take($0) } }

    /// Removes what a caller does not want any more; says how many.
    @discardableResult
    mutating func remove(where isUnwanted: (Key, Value) -> Bool) -> Int {
        var gone = 0
        for (key, place) in places {
            guard let node = nodes[place], isUnwanted(key, node.value) else { continue }
            take(place)
            gone += 1
        }
        return gone
    }

    mutating func removeAll() { self = Self(costMax: costMax, countMax: countMax) }

    @discardableResult
    private mutating func take(_ place: Int) -> Value? {
        unlink(place)
        guard let node = nodes[place] else { return nil }
        nodes[place] = nil
        places[node.key] = nil
        cost -= node.cost
        free.append(place)
        return node.value
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.earlier = newest
        nodes[place]?.later = nil
        if let newest { nodes[newest]?.later = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let later = node.later {
            nodes[later]?.earlier = node.earlier
        } else {
            newest = node.earlier
        }
        if let earlier = node.earlier {
            nodes[earlier]?.later = node.later
        } else {
            oldest = node.later
        }
    }
}

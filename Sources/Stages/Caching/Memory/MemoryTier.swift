package import Linux
package import Model
internal import XXHash

/// The accounting of `results/`: which entry each block contains, and the eviction order.
///
/// It doesn't access the bytes. Eviction prefers large entries that are rarely used (`GDSFCache`).
/// Uses may be reported late and in batches (SEMANTICS §5.4).
///
/// Clients may still read a large entry after its eviction. The coordinator knows whether they do:
/// it is notified of the eviction of every large entry (`Departures.evicted`) and releases the
/// block when no client reads it any more (SEMANTICS §14.6).
package struct MemoryTier: Sendable {
    /// The bookkeeping overhead charged per entry in bytes: slot, table entries, metadata.
    package static let overhead = 512

    /// The limit of `cost` in bytes.
    package private(set) var costMax: Int
    /// The limit of `count`; 0 is unlimited.
    package private(set) var countMax: Int
    /// The total size of all entries in bytes.
    package private(set) var cost = 0

    private var queue: GDSFCache
    /// The entries, by slot of the queue.
    private var held: [MemoryEntry?] = []
    /// The location of each entry in its cache's share.
    var seats: [Seat] = []
    /// The shares of named caches, and their indexes by name.
    var shares: [MemoryShare] = []
    var shareIndex: [String: Int] = [:]
    private var slotOfKey: [String: Int32] = [:]
    private var slotOfBlock: [BlockID: Int32] = [:]

    /// The location of an entry in the share of a named cache; `share` is -1 for the default cache,
    /// `place` is -1 if the share has no order.
    struct Seat {
        var share = -1
        var place: Int32 = -1
    }

    /// Creates an empty tier with a limit of `costMax` bytes.
    package init(costMax: Int, countMax: Int = 0) {
        self.costMax = max(0, costMax)
        self.countMax = max(0, countMax)
        queue = GDSFCache(bytesMax: self.costMax)
    }

    /// Applies new limits and evicts what exceeds them.
    package mutating func limit(costMax: Int, countMax: Int) -> Departures {
        (self.costMax, self.countMax) = (max(0, costMax), max(0, countMax))
        queue.limit(bytesMax: self.costMax)
        let countMax = self.countMax > 0 ? self.countMax : .max
        return evict { $0.cost <= $0.costMax && $0.count <= countMax }
    }

    /// Shrinks to a percentage of its byte limit.
    package mutating func shrink(toPercent percent: Int) -> Departures {
        let target = costMax / 100 * percent + costMax % 100 * percent / 100
        return evict { $0.cost <= target }
    }

    private mutating func evict(until isDone: (Self) -> Bool) -> Departures {
        var gone = Departures()
        while !isDone(self), let departure = evictOne() { gone.append(departure) }
        return gone
    }

    /// The number of entries, including results without a key, which are only delivered.
    package var count: Int { slotOfBlock.count }

    /// The number of entries with a key.
    package var keyedCount: Int { slotOfKey.count }

    /// Returns the cost of an entry: its block, its key, `overhead`, and `partBytes` of tags and
    /// extended data.
    package static func cost(key: String?, blockBytes: Int, partBytes: Int = 0) -> Int {
        blockBytes + (key?.utf8.count ?? 0) + overhead + partBytes
    }

    // MARK: - Eviction

    /// Evicts until `cost` more bytes fit in the key's cache and in the tier; returns `nil` without
    /// evicting if that is impossible.
    package mutating func makeRoom(for cost: Int, of key: String? = nil) -> Departures? {
        guard cost <= costMax else { return nil }
        var gone = makeRoom(in: key, for: cost)
        while self.cost + cost > costMax || (countMax > 0 && count >= countMax) {
            guard let departure = evictOne() else { return nil }
            gone.append(departure)
        }
        return gone
    }

    /// Evicts the entry that is first in the eviction order; returns `nil` if there are no entries.
    package mutating func evictOne() -> Departures? {
        guard let slot = queue.victim() else { return nil }
        return remove(at: slot, asVictim: true)
    }

    // MARK: - Entries

    /// Inserts an entry, replacing one with the same key. The caller must have made room.
    package mutating func insert(_ entry: MemoryEntry) -> Departures {
        precondition(slotOfBlock[entry.block] == nil, "block IDs must not be reused")
        let gone = entry.key.map { remove(key: $0) } ?? Departures()
        let slot = place(entry)
        slotOfBlock[entry.block] = slot
        if let key = entry.key { slotOfKey[key] = slot }
        cost += entry.cost
        return gone
    }

    /// Returns the entry of a key and marks it as used; an expired entry is removed instead.
    package mutating func lookup(_ key: String, now: UnixTime) -> (MemoryEntry?, Departures) {
        guard let slot = slotOfKey[key] else { return (nil, Departures()) }
        if let expires = held[Int(slot)]?.expires, expires <= now {
            return (nil, remove(at: slot))
        }
        use(slot)
        return (held[Int(slot)], Departures())
    }

    /// Returns whether a key has an entry that has not expired; doesn't count as use.
    package func contains(_ key: String, now: UnixTime) -> Bool {
        guard let slot = slotOfKey[key] else { return false }
        return held[Int(slot)]?.expires.map { $0 > now } ?? true
    }

    /// Marks a block as used and returns its key; `nil` for blocks that were evicted or have no
    /// key.
    package mutating func touch(_ block: BlockID) -> String? {
        guard let slot = slotOfBlock[block] else { return nil }
        use(slot)
        return held[Int(slot)]?.key
    }

    private mutating func use(_ slot: Int32) {
        queue.use(slot)
        let seat = seats[Int(slot)]
        if seat.share >= 0 { shares[seat.share].use(seat.place) }
    }

    /// Removes the entry of a key, if it exists.
    package mutating func remove(key: String) -> Departures {
        slotOfKey[key].map { remove(at: $0) } ?? Departures()
    }

    /// Removes every entry with a key.
    package mutating func clear() -> Departures {
        var gone = Departures()
        for slot in slotOfKey.values.sorted() { gone.append(remove(at: slot)) }
        return gone
    }

    /// Removes all results without a key, which are only delivered.
    package mutating func removeKeyless() -> Departures {
        var gone = Departures()
        for case let entry? in held where entry.key == nil {
            if let slot = slotOfBlock[entry.block] { gone.append(remove(at: slot)) }
        }
        return gone
    }

    /// Returns every entry with a key that has not expired, in no particular order.
    package func entries(now: UnixTime) -> [MemoryEntry] {
        held.compactMap { $0 }.filter { $0.key != nil && ($0.expires.map { $0 > now } ?? true) }
    }

    /// Updates the caching information of a key's entry, if its bytes are the same.
    mutating func renew(_ key: String, _ renewal: Validity) {
        if let slot = slotOfKey[key] { held[Int(slot)]?.metadata.renew(renewal) }
    }

    /// Shifts the expiry of every entry.
    mutating func moveExpiries(by milliseconds: Int64) {
        for slot in slotOfKey.values {
            let expires = held[Int(slot)]?.expires?.adding(milliseconds: milliseconds)
            held[Int(slot)]?.expires = expires
        }
    }

    private mutating func place(_ entry: MemoryEntry) -> Int32 {
        let item = Self.item(entry)
        let slot = queue.insert(item)
        if Int(slot) == held.count {
            held.append(entry)
            seats.append(Seat())
        } else {
            held[Int(slot)] = entry
        }
        seats[Int(slot)] = seat(of: entry.key, item, at: slot)
        return slot
    }

    private mutating func seat(of key: String?, _ item: EvictionItem, at slot: Int32) -> Seat {
        guard let key, case let name = CacheKey.cache(inStored: key), !name.isEmpty else {
            return Seat()
        }
        let share = share(named: name)
        return Seat(share: share, place: shares[share].add(item, at: slot))
    }

    private static func item(_ entry: MemoryEntry) -> EvictionItem {
        // An entry without a key is never requested again; the block ID serves as a unique hash.
        let hash = entry.key.map { XXH3.hash64(Array($0.utf8).span.bytes) } ?? entry.block.value
        return EvictionItem(hash: hash, bytes: entry.cost)
    }

    /// Returns the block and the eviction data of the entry in a slot, which must be in use.
    func item(at slot: Int) -> (block: UInt64, item: EvictionItem) {
        guard let entry = held[slot] else { preconditionFailure("an indexed slot must be in use") }
        return (entry.block.value, Self.item(entry))
    }

    mutating func remove(at slot: Int32, asVictim: Bool = false) -> Departures {
        var gone = Departures()
        guard let entry = held[Int(slot)] else { return gone }
        if let key = entry.key { slotOfKey[key] = nil }
        if entry.key != nil || entry.isLarge { gone.evicted.append(entry.block) }
        queue.remove(slot, asVictim: asVictim)
        let seat = seats[Int(slot)]
        if seat.share >= 0 {
            shares[seat.share].remove(seat.place, cost: entry.cost, asVictim: asVictim)
            seats[Int(slot)] = Seat()
        }
        held[Int(slot)] = nil
        slotOfBlock[entry.block] = nil
        cost -= entry.cost
        gone.freed.append(entry.block)
        return gone
    }
}

/// An entry in the accounting of `results/`.
package struct MemoryEntry: Sendable, Hashable {
    /// The text of the cache key; `nil` for a result that is only delivered.
    package var key: String?
    /// The location of the bytes; its block identifies the entry.
    package var reference: BlockReference
    /// The metadata stored with the bytes.
    package var metadata: StoredMetadata
    /// The cost in bytes: the block, the key, `MemoryTier.overhead`, tags and extended data.
    package var cost: Int
    /// When it expires; `nil` for never.
    package var expires: UnixTime?
    /// When its bytes were stored; `nil` for a result that is only delivered.
    package var stored: UnixTime?

    /// Creates an entry; `blockBytes` is the size of the whole block, not only of the payload.
    package init(
        key: String?, reference: BlockReference, metadata: StoredMetadata, blockBytes: Int,
        expires: UnixTime? = nil, stored: UnixTime? = nil
    ) {
        self.stored = stored
        self.key = key
        self.reference = reference
        self.metadata = metadata
        self.cost = MemoryTier.cost(
            key: key, blockBytes: blockBytes, partBytes: metadata.partBytes)
        self.expires = expires
    }

    /// Whether its receivers may have mapped it (SEMANTICS §14.6).
    package var isLarge: Bool { reference.length >= UInt64(CacheStage.largeBytes) }

    /// The block, which identifies the entry.
    package var block: BlockID { reference.block }
}

/// Blocks that left the memory tier.
package struct Departures: Sendable, Hashable {
    /// Blocks that lost their keys or were large, which must be reported to the coordinator.
    package var evicted: [BlockID] = []
    /// Blocks whose bytes the memory tier no longer uses.
    package var freed: [BlockID] = []

    /// Whether no blocks left.
    package var isEmpty: Bool { evicted.isEmpty && freed.isEmpty }

    package mutating func append(_ other: Departures) {
        evicted += other.evicted
        freed += other.freed
    }
}

/// Decides whether the memory tier must shrink because memory is scarce, based on kernel statistics
/// that the caller reads.
package struct MemoryShortage: Sendable {
    /// The percentage of a group's limit above which the tier shrinks.
    package static let usedPercentMax = 90
    /// The percentage of time in which processes wait for memory, from which the tier shrinks.
    package static let stallPercentMax = 10.0
    /// The percentage of available system memory below which the tier shrinks.
    package static let availablePercentMin = 5
    /// The pause after shrinking in milliseconds: the kernel averages over ten seconds.
    package static let pause: Int64 = 10_000

    private var shrankAt: UnixTime?

    /// Creates the initial state, without a recent shrink.
    package init() {}

    /// Returns why the tier must shrink now; `nil` if it need not, or did so recently.
    package mutating func reason(_ supply: MemorySupply, now: UnixTime) -> String? {
        if let shrankAt, now >= shrankAt, now < shrankAt.adding(milliseconds: Self.pause) {
            return nil
        }
        guard let reason = Self.reason(supply) else { return nil }
        shrankAt = now
        return reason
    }

    private static func reason(_ supply: MemorySupply) -> String? {
        if let limit = supply.limitBytes, let used = supply.usedBytes,
            limit > 0, used >= limit / 100 * usedPercentMax
        {
            return "the control group uses \(used) of \(limit) bytes"
        }
        if let stall = supply.stallPercent, stall >= stallPercentMax {
            return "processes waited for memory \(Int(stall)) % of the time"
        }
        if let available = supply.availableBytes, let total = supply.totalBytes,
            available < total / 100 * availablePercentMin
        {
            return "the machine has \(available) of \(total) bytes left"
        }
        return nil
    }
}

internal import ImageModel
public import Linux
public import Messages
internal import XXHash

/// The account of `results/`: which block holds what, and which go first when room is needed.
///
/// Pure bookkeeping; the bytes belong to others. What is used most for its bytes stays
/// (`WorthQueue`). Use may be reported late and in batches (SEMANTICS §5.4).
///
/// Whether somebody still reads an entry that leaves is the coordinator's to know: it hears of
/// every large one (`Departures.evicted`) and answers with its release (SEMANTICS §14.6).
public struct MemoryTier: Sendable {
    /// Bytes of bookkeeping charged to each entry: slot, table entries, metadata.
    public static let overhead = 512

    /// The limit of `cost`, bytes.
    public private(set) var costMax: Int
    /// The limit of `count`; 0 is none.
    public private(set) var countMax: Int
    /// What all entries take, bytes.
    public private(set) var cost = 0

    private var queue: WorthQueue
    /// By the slots of the queue.
    private var held: [MemoryEntry?] = []
    /// Where each of them is in the share of its cache.
    var seats: [Seat] = []
    /// What named caches have, and where each of them is.
    var shares: [MemoryShare] = []
    var shareIndex: [String: Int] = [:]
    private var slotOfKey: [String: Int32] = [:]
    private var slotOfBlock: [BlockID: Int32] = [:]

    /// A place in the share of a named cache; `share` is -1 for an entry of no named cache, `place`
    /// where the share has no order.
    struct Seat {
        var share = -1
        var place: Int32 = -1
    }

    /// An empty tier of at most `costMax` bytes.
    public init(costMax: Int, countMax: Int = 0) {
        self.costMax = max(0, costMax)
        self.countMax = max(0, countMax)
        queue = WorthQueue(bytesMax: self.costMax)
    }

    /// Holds to other limits from now on; what does not fit any more leaves.
    public mutating func limit(costMax: Int, countMax: Int) -> Departures {
        (self.costMax, self.countMax) = (max(0, costMax), max(0, countMax))
        queue.limit(bytesMax: self.costMax)
        let countMax = self.countMax > 0 ? self.countMax : .max
        return evict { $0.cost <= $0.costMax && $0.count <= countMax }
    }

    /// Goes down to so many percent of its limit of bytes.
    public mutating func shrink(toPercent percent: Int) -> Departures {
        let target = costMax / 100 * percent + costMax % 100 * percent / 100
        return evict { $0.cost <= target }
    }

    private mutating func evict(until isDone: (Self) -> Bool) -> Departures {
        var gone = Departures()
        while !isDone(self), let departure = evictOne() { gone.append(departure) }
        return gone
    }

    /// How many entries there are, delivered ones included.
    public var count: Int { slotOfBlock.count }

    /// How many of them have a key.
    public var keyedCount: Int { slotOfKey.count }

    /// What an entry takes: its block, its key, `overhead`, and `partBytes` of tags and extended
    /// data.
    public static func cost(key: String?, blockBytes: Int, partBytes: Int = 0) -> Int {
        blockBytes + (key?.utf8.count ?? 0) + overhead + partBytes
    }

    // MARK: - Room

    /// Evicts until `cost` more bytes fit, in the key's own cache and in the tier; `nil`, with
    /// nothing evicted, where that cannot be.
    public mutating func makeRoom(for cost: Int, of key: String? = nil) -> Departures? {
        guard cost <= costMax else { return nil }
        var gone = makeRoom(in: key, for: cost)
        while self.cost + cost > costMax || (countMax > 0 && count >= countMax) {
            guard let departure = evictOne() else { return nil }
            gone.append(departure)
        }
        return gone
    }

    /// Evicts the entry that is worth least; `nil` where there is none.
    public mutating func evictOne() -> Departures? {
        guard let slot = queue.victim() else { return nil }
        return take(out: slot, asVictim: true)
    }

    // MARK: - Entries

    /// Takes an entry in; one of the same key leaves. The caller has made room.
    public mutating func insert(_ entry: MemoryEntry) -> Departures {
        precondition(slotOfBlock[entry.block] == nil, "block ids are never reused")
        let gone = entry.key.map { remove(key: $0) } ?? Departures()
        let slot = place(entry)
        slotOfBlock[entry.block] = slot
        if let key = entry.key { slotOfKey[key] = slot }
        cost += entry.cost
        return gone
    }

    /// The entry of a key, marked as used; one that has expired leaves instead.
    public mutating func lookup(_ key: String, now: UnixTime) -> (MemoryEntry?, Departures) {
        guard let slot = slotOfKey[key] else { return (nil, Departures()) }
        if let expires = held[Int(slot)]?.expires, expires <= now {
            return (nil, take(out: slot))
        }
        use(slot)
        return (held[Int(slot)], Departures())
    }

    /// Whether a key has an entry that has not expired; does not count as use.
    public func contains(_ key: String, now: UnixTime) -> Bool {
        guard let slot = slotOfKey[key] else { return false }
        return held[Int(slot)]?.expires.map { $0 > now } ?? true
    }

    /// Marks a block as used and answers its key; `nil` for blocks that left or have none.
    public mutating func touch(_ block: BlockID) -> String? {
        guard let slot = slotOfBlock[block] else { return nil }
        use(slot)
        return held[Int(slot)]?.key
    }

    private mutating func use(_ slot: Int32) {
        queue.use(slot)
        let seat = seats[Int(slot)]
        if seat.share >= 0 { shares[seat.share].use(seat.place) }
    }

    /// Removes the entry of a key, if there is one.
    public mutating func remove(key: String) -> Departures {
        slotOfKey[key].map { take(out: $0) } ?? Departures()
    }

    /// Removes every entry with a key.
    public mutating func clear() -> Departures {
        var gone = Departures()
        for slot in slotOfKey.values.sorted() { gone.append(take(out: slot)) }
        return gone
    }

    /// Removes what was only delivered.
    public mutating func removeKeyless() -> Departures {
        var gone = Departures()
        for case let entry? in held where entry.key == nil {
            if let slot = slotOfBlock[entry.block] { gone.append(take(out: slot)) }
        }
        return gone
    }

    /// Every entry with a key that has not expired, in no order.
    public func entries(now: UnixTime) -> [MemoryEntry] {
        held.compactMap { $0 }.filter { $0.key != nil && ($0.expires.map { $0 > now } ?? true) }
    }

    /// What the origin says of caching holds for the entry of a key, if that is of the same bytes.
    mutating func renew(_ key: String, _ renewal: Validity) {
        if let slot = slotOfKey[key] { held[Int(slot)]?.metadata.renew(renewal) }
    }

    /// Gives every entry so much more or less time.
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
        // What has no key is never asked for again: no other has the hash of its block.
        let hash = entry.key.map { XXH3.hash64(Array($0.utf8).span.bytes) } ?? entry.block.value
        return EvictionItem(hash: hash, bytes: entry.cost)
    }

    /// The entry of a slot that is in use.
    func item(at slot: Int) -> (block: UInt64, item: EvictionItem) {
        guard let entry = held[slot] else { preconditionFailure("a slot with a seat is in use") }
        return (entry.block.value, Self.item(entry))
    }

    mutating func take(out slot: Int32, asVictim: Bool = false) -> Departures {
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

/// Bytes in `results/` that the memory tier keeps account of.
public struct MemoryEntry: Sendable, Hashable {
    /// The text of the cache key; `nil` for a result that is only delivered.
    public var key: String?
    /// Where the bytes are; its block is the entry's name.
    public var reference: BlockReference
    /// What was stored with them.
    public var metadata: StoredMetadata
    /// Bytes that it takes: the block, the key, `MemoryTier.overhead`, tags and extended data.
    public var cost: Int
    /// From then on it is not used any more; `nil` for never.
    public var expires: UnixTime?
    /// When its bytes were stored; `nil` for what is only delivered.
    public var stored: UnixTime?

    /// Describes an entry; `blockBytes` is what the block takes, not only what is filled.
    public init(
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

    /// Its receivers may have mapped it (SEMANTICS §14.6).
    public var isLarge: Bool { reference.length >= UInt64(CacheStage.largeBytes) }

    /// Its name.
    public var block: BlockID { reference.block }
}

/// Blocks that left the memory tier.
public struct Departures: Sendable, Hashable {
    /// They hold their keys no longer, or were large: the coordinator must hear of it.
    public var evicted: [BlockID] = []
    /// The memory tier has no claim to their bytes any more.
    public var freed: [BlockID] = []

    /// None.
    public init() {}

    /// Nothing left.
    public var isEmpty: Bool { evicted.isEmpty && freed.isEmpty }

    /// Takes in what else left.
    public mutating func append(_ other: Departures) {
        evicted += other.evicted
        freed += other.freed
    }
}

/// Whether memory is so short that the memory tier has to shrink. A decision over what the kernel
/// says; whoever asks reads that.
public struct MemoryShortage: Sendable {
    /// The part of its limit that a group may use before the tier shrinks, percent.
    public static let usedPercentMax = 90
    /// From so many percent of waiting on, the tier shrinks.
    public static let stallPercentMax = 10.0
    /// Below so many percent of the machine's memory that are available, the tier shrinks.
    public static let availablePercentMin = 5
    /// How long the tier is left alone after it shrank, milliseconds: the averages of the kernel
    /// look back ten seconds.
    public static let pause: Int64 = 10_000

    private var shrankAt: UnixTime?

    /// Nothing was shrunk yet.
    public init() {}

    /// Why the tier has to shrink now; `nil` where it need not, or did a moment ago.
    public mutating func reason(_ supply: MemorySupply, now: UnixTime) -> String? {
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
            return "processes waited for memory in \(Int(stall)) of 100 seconds"
        }
        if let available = supply.availableBytes, let total = supply.totalBytes,
            available < total / 100 * availablePercentMin
        {
            return "the machine has \(available) of \(total) bytes left"
        }
        return nil
    }
}

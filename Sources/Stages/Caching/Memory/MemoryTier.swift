public import Messages

/// The account of `results/`: which block holds what, and which go first when room is needed.
///
/// Pure bookkeeping; the bytes belong to others. Eviction is SIEVE (Zhang et al., NSDI 2024): a
/// queue in order of arrival, one "visited" bit each, and a hand that moves from old to new, takes
/// the first entry without the bit and clears it on its way. A hit sets one bit and moves nothing,
/// so use may be reported late and in batches (SEMANTICS §5.4).
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

    private(set) var slots = SieveQueue()
    private var slotOfKey: [String: Int32] = [:]
    private var slotOfBlock: [BlockID: Int32] = [:]

    /// An empty tier of at most `costMax` bytes.
    public init(costMax: Int, countMax: Int = 0) {
        self.costMax = max(0, costMax)
        self.countMax = max(0, countMax)
    }

    /// Holds to other limits from now on; what does not fit any more leaves.
    public mutating func limit(costMax: Int, countMax: Int) -> Departures {
        (self.costMax, self.countMax) = (max(0, costMax), max(0, countMax))
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

    /// What an entry takes: its block, its key, and `overhead`.
    public static func cost(key: String?, blockBytes: Int) -> Int {
        blockBytes + (key?.utf8.count ?? 0) + overhead
    }

    // MARK: - Room

    /// Evicts until `cost` more bytes fit; `nil`, with nothing evicted, where that cannot be.
    public mutating func makeRoom(for cost: Int) -> Departures? {
        guard cost <= costMax else { return nil }
        var gone = Departures()
        while self.cost + cost > costMax || (countMax > 0 && count >= countMax) {
            guard let departure = evictOne() else { return nil }
            gone.append(departure)
        }
        return gone
    }

    /// Evicts the next entry in SIEVE's order; `nil` where there is none.
    public mutating func evictOne() -> Departures? {
        guard let slot = slots.victim() else { return nil }
        return take(out: slot)
    }

    // MARK: - Entries

    /// Takes an entry in; one of the same key leaves. The caller has made room.
    public mutating func insert(_ entry: MemoryEntry) -> Departures {
        precondition(slotOfBlock[entry.block] == nil, "block ids are never reused")
        let gone = entry.key.map { remove(key: $0) } ?? Departures()
        let slot = slots.insert(entry)
        slotOfBlock[entry.block] = slot
        if let key = entry.key { slotOfKey[key] = slot }
        cost += entry.cost
        return gone
    }

    /// The entry of a key, marked as used; one that has expired leaves instead.
    public mutating func lookup(_ key: String, now: UnixTime) -> (MemoryEntry?, Departures) {
        guard let slot = slotOfKey[key] else { return (nil, Departures()) }
        if let expires = slots[slot].entry.expires, expires <= now {
            return (nil, take(out: slot))
        }
        slots[slot].visited = true
        return (slots[slot].entry, Departures())
    }

    /// Whether a key has an entry that has not expired; does not count as use.
    public func contains(_ key: String, now: UnixTime) -> Bool {
        guard let slot = slotOfKey[key] else { return false }
        return slots[slot].entry.expires.map { $0 > now } ?? true
    }

    /// Marks a block as used and answers its key; `nil` for blocks that left or have none.
    public mutating func touch(_ block: BlockID) -> String? {
        guard let slot = slotOfBlock[block] else { return nil }
        slots[slot].visited = true
        return slots[slot].entry.key
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
        for entry in slots.inOrder() where entry.key == nil {
            if let slot = slotOfBlock[entry.block] { gone.append(take(out: slot)) }
        }
        return gone
    }

    /// Every entry with a key that has not expired, oldest first.
    public func entries(now: UnixTime) -> [MemoryEntry] {
        slots.inOrder().filter { $0.key != nil && ($0.expires.map { $0 > now } ?? true) }
    }

    /// Gives every entry so much more or less time.
    mutating func moveExpiries(by milliseconds: Int64) {
        for slot in slotOfKey.values {
            slots[slot].entry.expires = slots[slot].entry.expires?.adding(
                milliseconds: milliseconds)
        }
    }

    private mutating func take(out slot: Int32) -> Departures {
        var gone = Departures()
        let entry = slots[slot].entry
        if let key = entry.key { slotOfKey[key] = nil }
        if entry.key != nil || entry.isLarge { gone.evicted.append(entry.block) }
        slots.remove(slot)
        slotOfBlock[entry.block] = nil
        cost -= entry.cost
        gone.freed.append(entry.block)
        return gone
    }
}

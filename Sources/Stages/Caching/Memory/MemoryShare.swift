internal import ImageModel

/// What one named cache may take of a tier besides what all caches may together; 0 is no limit.
public struct ShareLimits: Sendable, Hashable {
    /// Bytes.
    public var bytesMax: Int
    /// Entries.
    public var countMax: Int

    /// Limits; none unless told otherwise.
    public init(bytesMax: Int = 0, countMax: Int = 0) {
        (self.bytesMax, self.countMax) = (max(0, bytesMax), max(0, countMax))
    }

    /// Whether there is none.
    var isNone: Bool { bytesMax == 0 && countMax == 0 }
}

/// What one named cache has in the memory tier. Where it has limits of its own it has an order of
/// its own as well, so that it makes room among its own entries.
struct MemoryShare: Sendable {
    let name: String
    private(set) var limits = ShareLimits()
    /// What its entries take, bytes.
    private(set) var cost = 0
    private(set) var count = 0
    /// Entries that left.
    private(set) var evictions: UInt64 = 0
    private var order: WorthQueue?
    /// The slots of the tier, by those of the order.
    private var slots: [Int32] = []

    init(name: String) { self.name = name }

    /// Whether an entry of such a cost may be in it at all.
    func mayHold(_ cost: Int) -> Bool { limits.bytesMax == 0 || cost <= limits.bytesMax }

    /// Whether one more entry of such a cost is too much.
    func isFull(for cost: Int) -> Bool {
        limits.bytesMax > 0 && self.cost + cost > limits.bytesMax
            || limits.countMax > 0 && count >= limits.countMax
    }

    /// Whether what is there is too much.
    var isOver: Bool {
        limits.bytesMax > 0 && cost > limits.bytesMax
            || limits.countMax > 0 && count > limits.countMax
    }

    /// Holds to other limits from now on; true where its entries are to be put in order.
    mutating func limit(_ limits: ShareLimits) -> Bool {
        let hadOrder = order != nil
        self.limits = limits
        let bytesMax = limits.bytesMax > 0 ? limits.bytesMax : Self.orderBytes
        if limits.isNone {
            (order, slots) = (nil, [])
        } else if hadOrder {
            order?.limit(bytesMax: bytesMax)
        } else {
            order = WorthQueue(bytesMax: bytesMax)
        }
        return !hadOrder && order != nil
    }

    /// By what the order measures what is new where only entries are limited.
    private static let orderBytes = 256 << 20

    /// Takes an entry in; its slot in the order, or -1 where there is none.
    mutating func add(_ item: EvictionItem, at slot: Int32) -> Int32 {
        cost += item.bytes
        count += 1
        return rank(item, at: slot)
    }

    /// Puts an entry that is there into the order.
    mutating func rank(_ item: EvictionItem, at slot: Int32) -> Int32 {
        guard let place = order?.insert(item) else { return -1 }
        if Int(place) == slots.count { slots.append(slot) } else { slots[Int(place)] = slot }
        return place
    }

    mutating func use(_ place: Int32) { if place >= 0 { order?.use(place) } }

    mutating func remove(_ place: Int32, cost: Int, asVictim: Bool) {
        self.cost -= cost
        count -= 1
        evictions += 1
        if place >= 0 { order?.remove(place, asVictim: asVictim) }
    }

    /// The slot in the tier of the entry that is worth least.
    mutating func victim() -> Int32? { order?.victim().map { slots[Int($0)] } }
}

/// What a named cache has in a tier.
public struct ShareUsage: Sendable, Hashable {
    /// Entries.
    public var entries: Int
    /// What they take, bytes.
    public var bytes: Int
}

// Named caches with limits of their own (SEMANTICS §5.17).
extension MemoryTier {
    /// Holds named caches to these limits from now on, and the others to none of their own. What
    /// does not fit any more leaves.
    public mutating func limit(shares limits: [String: ShareLimits]) -> Departures {
        for name in limits.keys { _ = share(named: name) }
        var gone = Departures()
        for index in shares.indices {
            if shares[index].limit(limits[shares[index].name] ?? ShareLimits()) {
                rankAll(of: index)
            }
            while shares[index].isOver, let slot = shares[index].victim() {
                gone.append(take(out: slot, asVictim: true))
            }
        }
        return gone
    }

    /// What named caches have; those that have something.
    public var usage: [String: ShareUsage] {
        var usage: [String: ShareUsage] = [:]
        for share in shares where share.count > 0 {
            usage[share.name] = ShareUsage(entries: share.count, bytes: share.cost)
        }
        return usage
    }

    /// Entries that left named caches; those that any left.
    public var evictions: [String: UInt64] {
        var evictions: [String: UInt64] = [:]
        for share in shares where share.evictions > 0 { evictions[share.name] = share.evictions }
        return evictions
    }

    /// Whether an entry of a key may be here at all; `cost` as by `cost(key:blockBytes:)`.
    public func mayHold(_ key: String?, cost: Int) -> Bool {
        guard cost <= costMax else { return false }
        return share(of: key).map { shares[$0].mayHold(cost) } ?? true
    }

    /// Evicts entries of the key's own cache until one more fits there.
    mutating func makeRoom(in key: String?, for cost: Int) -> Departures {
        var gone = Departures()
        guard let index = share(of: key), shares[index].mayHold(cost) else { return gone }
        while shares[index].isFull(for: cost), let slot = shares[index].victim() {
            gone.append(take(out: slot, asVictim: true))
        }
        return gone
    }

    /// The share of a key that has one already.
    private func share(of key: String?) -> Int? {
        guard let key, !shares.isEmpty else { return nil }
        return shareIndex[CacheKey.cache(inStored: key)]
    }

    /// The place of a share, which is made where there is none.
    mutating func share(named name: String) -> Int {
        if let index = shareIndex[name] { return index }
        shareIndex[name] = shares.count
        shares.append(MemoryShare(name: name))
        return shares.count - 1
    }

    /// Older ones first: their blocks have the smaller numbers.
    private mutating func rankAll(of index: Int) {
        let slots = seats.indices.filter { seats[$0].share == index }.sorted {
            item(at: $0).block < item(at: $1).block
        }
        for slot in slots {
            seats[slot].place = shares[index].rank(item(at: slot).item, at: Int32(slot))
        }
    }
}

internal import Model

/// The limits of one named cache in a tier, in addition to those of the whole tier; 0 is unlimited.
package struct ShareLimits: Sendable, Hashable {
    /// The maximum size in bytes.
    package var bytesMax: Int
    /// The maximum number of entries.
    package var countMax: Int

    /// Creates limits; unlimited by default.
    package init(bytesMax: Int = 0, countMax: Int = 0) {
        (self.bytesMax, self.countMax) = (max(0, bytesMax), max(0, countMax))
    }

    /// Whether there are no limits.
    var isNone: Bool { bytesMax == 0 && countMax == 0 }
}

/// The share of one named cache in the memory tier. If it has its own limits, it also has its own
/// eviction order, so that it evicts among its own entries.
struct MemoryShare: Sendable {
    let name: String
    private(set) var limits = ShareLimits()
    /// The size of its entries in bytes.
    private(set) var cost = 0
    private(set) var count = 0
    /// The number of evicted entries.
    private(set) var evictions: UInt64 = 0
    private var order: GDSFCache?
    /// The slots in the tier, by slot in the order.
    private var slots: [Int32] = []

    init(name: String) { self.name = name }

    /// Returns whether an entry of this cost can fit at all.
    func mayHold(_ cost: Int) -> Bool { limits.bytesMax == 0 || cost <= limits.bytesMax }

    /// Returns whether one more entry of this cost exceeds the limits.
    func isFull(for cost: Int) -> Bool {
        limits.bytesMax > 0 && self.cost + cost > limits.bytesMax
            || limits.countMax > 0 && count >= limits.countMax
    }

    /// Whether the current entries exceed the limits.
    var isOver: Bool {
        limits.bytesMax > 0 && cost > limits.bytesMax
            || limits.countMax > 0 && count > limits.countMax
    }

    /// Applies new limits; returns true if its entries must be ranked.
    mutating func limit(_ limits: ShareLimits) -> Bool {
        let hadOrder = order != nil
        self.limits = limits
        let bytesMax = limits.bytesMax > 0 ? limits.bytesMax : Self.orderBytes
        if limits.isNone {
            (order, slots) = (nil, [])
        } else if hadOrder {
            order?.limit(bytesMax: bytesMax)
        } else {
            order = GDSFCache(bytesMax: bytesMax)
        }
        return !hadOrder && order != nil
    }

    /// The size that determines which entries are new in the order if only the number of entries is
    /// limited.
    private static let orderBytes = 256 << 20

    /// Adds an entry; returns its slot in the order, or -1 if there is no order.
    mutating func add(_ item: EvictionItem, at slot: Int32) -> Int32 {
        cost += item.bytes
        count += 1
        return rank(item, at: slot)
    }

    /// Adds an existing entry to the order.
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

    /// Returns the slot in the tier of the next entry to evict.
    mutating func victim() -> Int32? { order?.victim().map { slots[Int($0)] } }
}

/// The usage of a tier by one named cache.
package struct ShareUsage: Sendable, Hashable {
    package var entries: Int
    /// Their size in bytes.
    package var bytes: Int
}

// Named caches with their own limits (SEMANTICS §5.17).
extension MemoryTier {
    /// Applies limits to named caches, and removes the limits of all other caches. Entries that no
    /// longer fit are evicted.
    package mutating func limit(shares limits: [String: ShareLimits]) -> Departures {
        for name in limits.keys { _ = share(named: name) }
        var gone = Departures()
        for index in shares.indices {
            if shares[index].limit(limits[shares[index].name] ?? ShareLimits()) {
                rankAll(of: index)
            }
            while shares[index].isOver, let slot = shares[index].victim() {
                gone.append(remove(at: slot, asVictim: true))
            }
        }
        return gone
    }

    /// The usage of named caches that have entries.
    package var usage: [String: ShareUsage] {
        var usage: [String: ShareUsage] = [:]
        for share in shares where share.count > 0 {
            usage[share.name] = ShareUsage(entries: share.count, bytes: share.cost)
        }
        return usage
    }

    /// The evictions of named caches that have any.
    package var evictions: [String: UInt64] {
        var evictions: [String: UInt64] = [:]
        for share in shares where share.evictions > 0 { evictions[share.name] = share.evictions }
        return evictions
    }

    /// Returns whether an entry of a key can fit at all; `cost` as returned by
    /// `cost(key:blockBytes:)`.
    package func mayHold(_ key: String?, cost: Int) -> Bool {
        guard cost <= costMax else { return false }
        return share(of: key).map { shares[$0].mayHold(cost) } ?? true
    }

    /// Evicts entries of the key's cache until one more fits there.
    mutating func makeRoom(in key: String?, for cost: Int) -> Departures {
        var gone = Departures()
        guard let index = share(of: key), shares[index].mayHold(cost) else { return gone }
        while shares[index].isFull(for: cost), let slot = shares[index].victim() {
            gone.append(remove(at: slot, asVictim: true))
        }
        return gone
    }

    /// Returns the index of a key's share, if it exists.
    private func share(of key: String?) -> Int? {
        guard let key, !shares.isEmpty else { return nil }
        return shareIndex[CacheKey.cache(inStored: key)]
    }

    /// Returns the index of a share, creating it if necessary.
    mutating func share(named name: String) -> Int {
        if let index = shareIndex[name] { return index }
        shareIndex[name] = shares.count
        shares.append(MemoryShare(name: name))
        return shares.count - 1
    }

    /// Ranks older entries first: their blocks have smaller numbers.
    private mutating func rankAll(of index: Int) {
        let slots = seats.indices.filter { seats[$0].share == index }.sorted {
            item(at: $0).block < item(at: $1).block
        }
        for slot in slots {
            seats[slot].place = shares[index].rank(item(at: slot).item, at: Int32(slot))
        }
    }
}

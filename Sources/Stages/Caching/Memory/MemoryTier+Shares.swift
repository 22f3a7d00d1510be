internal import ImageModel

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

internal import ImageModel
internal import Messages

extension CacheStage {
    /// Reserves memory for a body in `results/`, and evicts for it what has to go.
    func reserveResult(_ key: String?, length: Int) throws(ImageError) -> Body {
        let cost = MemoryTier.cost(key: key, blockBytes: length)
        // Room that never comes is not waited for.
        guard cost <= memory.costMax else { throw Self.tooLarge(length) }
        guard let gone = memory.makeRoom(for: cost, of: key) else { throw Self.noRoom(length) }
        apply(gone)
        while true {
            do { return try Body(in: .results(results), length: length) } catch {
                // The account says that there is room, the arena is not of that opinion: pieces of
                // it may be too small, and evicted bodies may still be read, or wait for the disk.
                guard error.code == .arenaFull else { throw error }
                if departing.giveUpOldest() { continue }
                guard let gone = memory.evictOne() else { throw error }
                apply(gone)
            }
        }
    }

    /// Publishes a filled body and takes it into the memory tier; without a key it stays until it
    /// is released or its room is needed.
    func deliver(
        _ body: Body, key: String?, _ metadata: StoredMetadata, expires: UnixTime?,
        stored: UnixTime, _ now: UnixTime
    ) {
        body.publish()
        let cost = MemoryTier.cost(
            key: key, blockBytes: body.blockBytes, partBytes: metadata.partBytes)
        let key = memory.mayHold(key, cost: cost) ? key : nil
        let entry = MemoryEntry(
            key: key, reference: body.reference, metadata: metadata, blockBytes: body.blockBytes,
            expires: expires, stored: stored)
        if let key { apply(memory.remove(key: key)) }
        // Again, now that the size of the block is known: others go, never the new one.
        if let gone = memory.makeRoom(for: entry.cost, of: key) { apply(gone) }
        bodies[entry.block] = body
        apply(memory.insert(entry))
        notify(entry, now)
    }

    /// Tells the coordinator that it may answer the key of an entry.
    func notify(_ entry: MemoryEntry, _ now: UnixTime) {
        if let notice = notice(of: entry, now) { act(.stored(notice)) }
    }

    /// Says and does what follows from entries that left the memory tier.
    func apply(_ gone: Departures) {
        counts.evictions += UInt64(gone.evicted.count)
        var rest = gone.evicted[...]
        while !rest.isEmpty {
            act(.evicted(Array(rest.prefix(MessageLimits.idsMax))))
            rest = rest.dropFirst(MessageLimits.idsMax)
        }
        for block in gone.freed {
            firstUses.forget(block)
            guard let body = bodies.removeValue(forKey: block) else { continue }
            if body.length >= Self.largeBytes { departing.add(body) }
        }
    }

    static func noRoom(_ length: Int) -> ImageError {
        ImageError(.arenaFull, "no room for a result of \(length) bytes; retry, or raise the limit")
    }

    private static func tooLarge(_ length: Int) -> ImageError {
        ImageError(
            .limitExceeded,
            "a result of \(length) bytes is larger than the memory tier: raise --memory-limit")
    }

    static let tooMuchWaits = ImageError(.busy, "too many requests wait in the cache; retry")
}

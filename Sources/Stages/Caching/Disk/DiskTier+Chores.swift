extension DiskTier {
    /// Does a bit of what is to be done between requests; true where more is to be done at once.
    func maintain(_ now: UnixTime) -> Bool {
        guard isRetryDue(now) else { return false }
        if health != .healthy, !probe(now) { return false }
        return attempt(now) { (index) throws(DiskError) in
            if accesses.isDue(now) { try flushAccesses(index) }
            if try correctDates(now, index) { return true }
            if try expire(now, index) { return true }
            if try trim(index) { return true }
            // Before the files: a body in the old index is newer than a file of its key.
            if try salvage(now, index) { return true }
            if try sweep(index) { return true }
            if try emptyTrash() { return true }
            if try recount(index) { return true }
            return try shrink(index)
        } ?? false
    }

    /// Writes what is noted in memory only; for the end of the process.
    func flush(_ now: UnixTime) {
        _ = attempt(now) { (index) throws(DiskError) in try flushAccesses(index) }
    }

    /// Whether a degraded tier can write again: tried with a small file and a transaction, so that
    /// it is healthy again without waiting for a store.
    private func probe(_ now: UnixTime) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            try files.probe()
            try index.transaction { () throws(DiskError) in }
            health = .healthy
            return true
        } ?? false
    }

    // MARK: - Limits

    /// What the entries and all beside them take, measured.
    func usage(of index: DiskIndex) throws(DiskError) -> DiskUsage {
        overhead = 0
        for name in [Self.indexName] + Self.setAsideNames {
            overhead += directory.bytes(of: name + "-wal") + directory.bytes(of: name + "-shm")
        }
        for name in Self.setAsideNames { overhead += directory.bytes(of: name) }
        var usage = try index.usage()
        usage.overhead = overhead
        return usage
    }

    /// Whether so many more bytes fit below the limit.
    func fits(_ charge: Int, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard policy.bytesMax > 0 else { return true }
        let room = try room(for: index, below: policy.bytesMax)
        return try index.usage().bytes + charge <= room
    }

    /// Removes the oldest entries until so many more bytes fit below the limit.
    func makeRoom(_ charge: Int, _ index: DiskIndex) throws(DiskError) {
        guard policy.bytesMax > 0, try !fits(charge, index) else { return }
        chores.isTrimming = true
        let target = try room(for: index, below: policy.bytesMax) - charge
        while try dropOldest(downTo: target, index) {}
    }

    /// What entries may take below a limit for all. They keep half of it whatever is beside them,
    /// so that a limit of a few kilobytes does not empty the tier.
    private func room(for index: DiskIndex, below limit: Int) throws(DiskError) -> Int {
        let beside = try usage(of: index).overhead
        return limit - min(beside, limit / 2)
    }

    /// Goes on down to the low-water mark.
    private func trim(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard chores.isTrimming else { return false }
        if try dropOldest(downTo: try room(for: index, below: policy.lowWater), index) {
            return true
        }
        chores.isTrimming = false
        chores.isShrinking = true
        return true
    }

    /// Gives entries of the future the date of now, once a minute: a clock that was set back would
    /// keep them until it is there again.
    private func correctDates(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard Chores.isDue(chores.correctsDatesAt, now) else { return false }
        if try index.correctDates(now, policy.expireType, count: Chores.batch) { return true }
        chores.correctsDatesAt = now.adding(milliseconds: Chores.expiryPeriod)
        return false
    }

    /// Removes entries over age.
    private func expire(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let limit = policy.expiryLimit(now: now), Chores.isDue(chores.expiresAt, now) else {
            return false
        }
        try flushAccesses(index)
        let victims = try index.oldest(upTo: limit, count: Chores.batch)
        try drop(victims, index)
        if victims.count < Chores.batch {
            chores.expiresAt = now.adding(milliseconds: Chores.expiryPeriod)
        }
        if !victims.isEmpty { chores.isShrinking = true }
        return !victims.isEmpty
    }

    /// Removes a batch of the oldest entries; false where the rest takes no more than `target`.
    private func dropOldest(downTo target: Int, _ index: DiskIndex) throws(DiskError) -> Bool {
        let bytes = try index.usage().bytes
        var excess = bytes - max(0, target)
        guard excess > 0 else { return false }
        try flushAccesses(index)
        let oldest = try index.oldest(
            upTo: UnixTime(milliseconds: .max), count: Chores.batch)
        guard !oldest.isEmpty else {
            throw DiskError(.badIndex, "the index counts \(bytes) bytes of no entry")
        }
        let victims = oldest.prefix { victim in
            defer { excess -= victim.charge }
            return excess > 0
        }
        try drop(Array(victims), index)
        return !victims.isEmpty
    }

    // MARK: - Leftovers

    /// Compares a few files with the index: unfinished ones are removed, whole ones that the index
    /// does not know are taken in. So an index that was lost comes back.
    private func sweep(_ index: DiskIndex) throws(DiskError) -> Bool {
        if chores.filesToSweep.isEmpty {
            guard let bucket = chores.bucketsToSweep.popLast() else { return false }
            chores.filesToSweep = try files.numbers(inBucket: bucket)
        }
        let numbers = chores.filesToSweep.suffix(Chores.batch)
        chores.filesToSweep.removeLast(numbers.count)
        var unknown: [Int64] = []
        for number in numbers where try !index.contains(number: number) { unknown.append(number) }
        if !unknown.isEmpty { try adopt(unknown, index) }
        return true
    }

    private func adopt(_ numbers: [Int64], _ index: DiskIndex) throws(DiskError) {
        try index.transaction { () throws(DiskError) in
            for number in numbers {
                if chores.adoptsFiles, try adopt(number, index) { continue }
                try files.remove(number)
            }
        }
    }

    /// False for a file that is no whole body, is older than what its key has, was removed
    /// meanwhile, or does not fit.
    private func adopt(_ number: Int64, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let (header, length) = try files.header(number),
            !chores.removed.contains(header.key), try isFree(header.key, index)
        else { return false }
        let charge = Self.charge(
            key: header.key, bodyLength: header.bodyLength, headerLength: length)
        guard try fits(charge, index) else { return false }
        let row = IndexRow(header, number: number, fileOffset: length)
        try index.insert(row, key: header.key, charge: charge, inline: nil)
        nextNumber = max(nextNumber, number + 1)
        return true
    }

    /// Whether a key has no entry; a damaged row makes way.
    private func isFree(_ key: String, _ index: DiskIndex) throws(DiskError) -> Bool {
        switch try index.finding(key) {
        case .nothing: return true
        case .entry: return false
        case .damaged(let number):
            noteDamaged()
            try index.delete(number)
            return true
        }
    }

    private func recount(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard chores.isRecounting else { return false }
        try index.recount()
        chores.isRecounting = false
        return true
    }

    private func emptyTrash() throws(DiskError) -> Bool {
        guard chores.hasTrash else { return false }
        chores.hasTrash = try files.emptyTrash()
        return true
    }

    private func shrink(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard chores.isShrinking else { return false }
        chores.isShrinking = try index.shrink(pages: 1_024)
        return true
    }
}

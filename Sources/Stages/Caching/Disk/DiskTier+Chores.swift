extension DiskTier {
    /// Does a bit of what is to be done between requests; true where more is to be done at once.
    func maintain(_ now: UnixTime) -> Bool {
        guard isRetryDue(now) else { return false }
        if health != .healthy, !probe(now) { return false }
        return attempt(now) { (index) throws(DiskError) in
            if accesses.isDue(now) { try flushAccesses(index) }
            if try expire(now, index) { return true }
            if try trim(index) { return true }
            if try sweep(index) { return true }
            if try emptyTrash() { return true }
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

    /// Removes the oldest entries until so many more bytes fit below the limit.
    func makeRoom(_ charge: Int, _ index: DiskIndex) throws(DiskError) {
        guard policy.bytesMax > 0, try index.usage().bytes + charge > policy.bytesMax else {
            return
        }
        chores.isTrimming = true
        while try dropOldest(downTo: policy.bytesMax - charge, index) {}
    }

    /// Goes on down to the low-water mark.
    private func trim(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard chores.isTrimming else { return false }
        if try dropOldest(downTo: policy.lowWater, index) { return true }
        chores.isTrimming = false
        chores.isShrinking = true
        return true
    }

    /// Removes entries over age.
    private func expire(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let limit = policy.expiryLimit(now: now), now >= chores.expiresAt ?? now else {
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
        var excess = try index.usage().bytes - target
        guard excess > 0 else { return false }
        try flushAccesses(index)
        let oldest = try index.oldest(
            upTo: UnixTime(milliseconds: .max), count: Chores.batch)
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
            for number in numbers where try !adopt(number, index) { try files.remove(number) }
        }
    }

    /// False for a file that is no whole body, is older than what its key has, or does not fit.
    private func adopt(_ number: Int64, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard number > 0, number < .max, let (header, length) = try files.header(number),
            try index.row(header.key) == nil
        else { return false }
        let charge = Self.charge(
            key: header.key, bodyLength: header.bodyLength, headerLength: length)
        let bytes = try index.usage().bytes
        guard policy.bytesMax == 0 || bytes + charge <= policy.bytesMax else { return false }
        let row = IndexRow(header, number: number, fileOffset: length)
        try index.insert(row, key: header.key, charge: charge, inline: nil)
        nextNumber = max(nextNumber, number + 1)
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

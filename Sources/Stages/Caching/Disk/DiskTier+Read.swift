internal import XXHash

extension DiskTier {
    /// The entry of a key; one over age is removed and is a miss.
    func locate(_ key: String, _ now: UnixTime) -> IndexRow? {
        attempt(now) { (index) throws(DiskError) in
            guard let row = try index.row(key) else { return nil }
            guard !isExpired(row, key, now) else {
                try drop([IndexVictim(row)], index)
                return nil
            }
            return row
        } ?? nil
    }

    /// Reads a located body straight into `buffer`, which has its length, and checks it.
    ///
    /// False where it is missing, cut short or wrong: such an entry is removed and is a miss.
    func read(
        _ key: String, _ row: IndexRow, into buffer: UnsafeMutableRawBufferPointer, _ now: UnixTime
    ) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            let isWhole =
                if let offset = row.fileOffset {
                    try files.read(row.number, from: offset, into: buffer)
                } else {
                    try index.copyBody(row.number, into: buffer)
                }
            guard isWhole, XXH3.hash64(UnsafeRawBufferPointer(buffer)) == row.checksum else {
                // Removed or overwritten since it was located: a miss, but no damage.
                guard try index.contains(number: row.number) else { return false }
                damaged += 1
                try drop([IndexVictim(row)], index)
                return false
            }
            accesses.note(key, now)
            return true
        } ?? false
    }

    /// Notes uses that other tiers answered.
    func touch(_ keys: [String], _ now: UnixTime) {
        for key in keys { accesses.note(key, now) }
    }

    /// Entries and bytes; `nil` while the index cannot be read.
    func usage(_ now: UnixTime) -> DiskUsage? {
        attempt(now) { (index) throws(DiskError) in try index.usage() }
    }

    private func isExpired(_ row: IndexRow, _ key: String, _ now: UnixTime) -> Bool {
        guard let limit = policy.expiryLimit(now: now) else { return false }
        var date = row.date(policy.expireType)
        if policy.expireType == .access { date = max(date, accesses[key] ?? date) }
        return date <= limit
    }

    /// Writes the noted uses into the index.
    func flushAccesses(_ index: DiskIndex) throws(DiskError) {
        let times = accesses.take()
        guard !times.isEmpty else { return }
        try index.transaction { () throws(DiskError) in
            for (key, time) in times { try index.setAccessed(key, time) }
        }
    }
}

extension IndexVictim {
    init(_ row: IndexRow) {
        self.init(number: row.number, hasFile: row.fileOffset != nil, charge: 0)
    }
}

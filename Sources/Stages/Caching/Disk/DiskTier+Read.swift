internal import XXHash

extension DiskTier {
    /// The entry of a key; one over age is removed and is a miss.
    func locate(_ key: String, _ now: UnixTime) -> IndexRow? {
        attempt(now) { (index) throws(DiskError) in
            guard let row = try entry(key, index) else { return nil }
            guard !isExpired(row, key, now) else {
                try drop([IndexVictim(row)], index)
                return nil
            }
            return row
        } ?? nil
    }

    /// Whether the file of a large body has its length, looked at before memory is reserved for it.
    /// One that has not is removed, and its entry with it.
    func isThere(_ row: IndexRow, _ now: UnixTime) -> Bool {
        guard let offset = row.fileOffset, row.bodyLength >= CacheStage.largeBytes else {
            return true
        }
        return attempt(now) { (index) throws(DiskError) in
            if try files.size(row.number) == offset + row.bodyLength { return true }
            noteDamaged()
            try drop([IndexVictim(row)], index)
            return false
        } ?? false
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
                guard try index.place(ofNumber: row.number) != nil else { return false }
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
        attempt(now) { (index) throws(DiskError) in
            var usage = try index.usage()
            usage.overhead = overhead
            return usage
        }
    }

    /// The entry of a key; a row that says what cannot be is removed, and is none.
    func entry(_ key: String, _ index: DiskIndex) throws(DiskError) -> IndexRow? {
        switch try index.finding(key) {
        case .nothing: return nil
        case .entry(let row): return row
        case .damaged(let number):
            noteDamaged()
            try drop([IndexVictim(number: number, hasFile: true, charge: 0)], index)
            return nil
        }
    }

    /// Counts an entry that is lost; its charge may have been wrong as well.
    func noteDamaged() {
        damaged += 1
        chores.isRecounting = true
    }

    private func isExpired(_ row: IndexRow, _ key: String, _ now: UnixTime) -> Bool {
        let policy = policy(of: key)
        guard let limit = policy.expiryLimit(now: now) else { return false }
        var date = row.date(policy.expireType)
        if policy.expireType == .access { date = max(date, accesses[key] ?? date) }
        return date <= limit
    }

    /// Writes noted uses into the index until that was long enough.
    func flushSome(_ index: DiskIndex) throws(DiskError) {
        let time = stepTime()
        try index.transaction { () throws(DiskError) in
            while let (key, used) = accesses.takeOne() {
                try index.setAccessed(key, used)
                if time.isOver { return }
            }
        }
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

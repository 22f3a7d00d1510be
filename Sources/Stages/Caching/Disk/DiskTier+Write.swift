internal import Messages

extension DiskTier {
    /// Removes the entry of a key; false where that failed and it may still be there.
    func remove(_ key: String, _ now: UnixTime) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            if let row = try entry(key, index) { try drop([IndexVictim(row)], index) }
            keepOut(key)
            return true
        } ?? false
    }

    /// What the origin says of caching holds for the entry of a key, if that is of the same bytes.
    /// The file of a large body keeps what it said before, which counts if the index is lost.
    func renew(_ key: String, _ renewal: Validity, _ now: UnixTime) {
        _ = attempt(now) { (index) throws(DiskError) in try index.renew(key, renewal) }
    }

    /// What is still taken in from files and an older index is not to bring a removed key back.
    private func keepOut(_ key: String) {
        guard chores.isSweeping || salvaging != nil, !chores.noteRemoved(key) else { return }
        // Too many to remember: then rather nothing comes back.
        salvaging = nil
        chores.adoptsFiles = false
    }

    /// Removes entries: files first, so that no file outlives its row and is taken in again.
    func drop(_ victims: [IndexVictim], _ index: DiskIndex) throws(DiskError) {
        for victim in victims where victim.hasFile { try files.remove(victim.number) }
        try index.transaction { () throws(DiskError) in
            for victim in victims { try index.delete(victim.number) }
        }
    }

    /// Removes entries, the first ones first, until that was long enough; those that are removed.
    /// Each file goes before its row is committed, as in `drop`.
    func dropSome(
        _ victims: [IndexVictim], _ index: DiskIndex
    ) throws(DiskError) -> [IndexVictim] {
        let time = stepTime()
        var count = 0
        try index.transaction { () throws(DiskError) in
            for victim in victims where count == 0 || !time.isOver {
                if victim.hasFile { try files.remove(victim.number) }
                try index.delete(victim.number)
                count += 1
            }
        }
        return Array(victims.prefix(count))
    }

    /// What an entry takes: a row with what it carries, and a file's blocks or pages of the index.
    static func charge(
        key: String, bodyLength: Int, headerLength: Int, partBytes: Int = 0
    ) -> Int {
        let row = rowCharge + key.utf8.count + partBytes
        guard bodyLength <= inlineBytesMax else { return row + blocks(headerLength + bodyLength) }
        // Of a few hundred bytes several share a page; what is longer has pages of its own.
        return bodyLength <= sharedBytesMax ? row + bodyLength * 5 / 4 : blocks(row + bodyLength)
    }

    private static let sharedBytesMax = 1_024

    private static func blocks(_ bytes: Int) -> Int { (bytes + 4095) / 4096 * 4096 }
}

internal import Messages
internal import XXHash

/// What became of a write to the disk tier.
enum DiskWriteResult: Hashable, Sendable {
    /// The entry is committed.
    case stored
    /// It is not there; why, for people.
    case skipped(String)
}

extension DiskTier {
    /// Stores a body under a key, in place of an older one; `now` is when it was stored.
    func write(
        _ key: String, _ body: UnsafeRawBufferPointer, _ metadata: StoredMetadata, _ now: UnixTime
    ) -> DiskWriteResult {
        guard isRetryDue(now) else { return .skipped(unwritable) }
        let result = attempt(now) { (index) throws(DiskError) in
            try store(key, body, metadata, now, index)
        }
        guard let result else { return .skipped(unwritable) }
        if result == .stored { health = .healthy }
        return result
    }

    /// Removes the entry of a key; false where that failed and it may still be there.
    func remove(_ key: String, _ now: UnixTime) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            if let row = try entry(key, index) { try drop([IndexVictim(row)], index) }
            keepOut(key)
            return true
        } ?? false
    }

    /// Gives the entry of a key another expiry, if it is of the same bytes. The file of a large
    /// body keeps the old one, which only counts where the index is lost.
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

    private var unwritable: String { "disk: \(health.reason?.description ?? "not open")" }

    private func store(
        _ key: String, _ body: UnsafeRawBufferPointer, _ metadata: StoredMetadata, _ now: UnixTime,
        _ index: DiskIndex
    ) throws(DiskError) -> DiskWriteResult {
        let old = try entry(key, index)
        let header = BodyHeader(
            key: key, bodyLength: body.count, checksum: XXH3.hash64(body),
            created: old?.created ?? now, stored: now, metadata: metadata)
        guard let head = header.encoded() else { return .skipped("disk: metadata over its limit") }
        let charge = Self.charge(
            key: key, bodyLength: body.count, headerLength: head.count,
            partBytes: metadata.partBytes)
        guard policy.bytesMax == 0 || charge <= policy.bytesMax else {
            return .skipped("disk: \(body.count) bytes are over the limit of the whole tier")
        }
        if let refusal = refusal(of: charge, key, length: body.count) { return .skipped(refusal) }
        try makeRoom(charge, key, index)
        let isInline = body.count <= Self.inlineBytesMax
        let row = IndexRow(header, number: nextNumber, fileOffset: isInline ? nil : head.count)
        nextNumber += 1
        if !isInline { try files.write(row.number, header: head, body: body) }
        do {
            // Looked up again: making room may have removed it.
            let replaced = try entry(key, index)
            try index.transaction { () throws(DiskError) in
                if let replaced { try index.delete(replaced.number) }
                try index.insert(row, key: key, charge: charge, inline: isInline ? body : nil)
            }
            if let replaced, replaced.fileOffset != nil { try files.remove(replaced.number) }
        } catch {
            if !isInline { try? files.remove(row.number) }
            throw error
        }
        counts.bytesWritten += UInt64(clamping: head.count + body.count)
        return .stored
    }
}

extension IndexRow {
    init(_ header: BodyHeader, number: Int64, fileOffset: Int?) {
        self.init(
            number: number, bodyLength: header.bodyLength, checksum: header.checksum,
            fileOffset: fileOffset, created: header.created, stored: header.stored,
            accessed: header.stored, metadata: header.metadata)
    }
}

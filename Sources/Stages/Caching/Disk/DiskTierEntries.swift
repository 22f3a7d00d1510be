internal import Messages
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

/// What became of a write to the disk tier.
enum DiskWriteResult: Hashable, Sendable {
    /// The entry is committed.
    case stored
    /// It is not there; why, for people.
    case skipped(String)
}

extension DiskTier {
    /// Stores bodies, each under its key in place of an older one, in one transaction (group
    /// commit): the entries are committed when this returns. What became of each, in their order.
    ///
    /// A body whose file cannot be written ends the group: those before it are stored, it and those
    /// behind it are not. Where the index cannot be written, none is.
    func write(_ writes: [DiskWrite], _ now: UnixTime) -> [DiskWriteResult] {
        guard isRetryDue(now) else { return writes.map { _ in .skipped(unwritable) } }
        let group = attempt(now) { (index) throws(DiskError) in try commit(writes, index) }
        guard let group else { return writes.map { _ in .skipped(unwritable) } }
        counts.bytesWritten += group.bytes
        if let failure = group.failure {
            degrade(failure, now)
        } else if group.results.contains(.stored) {
            health = .healthy
        }
        let missing = writes.count - group.results.count
        return group.results + (0..<missing).map { _ in .skipped(unwritable) }
    }

    private var unwritable: String { "disk: \(health.reason?.description ?? "not open")" }

    private func commit(
        _ writes: [DiskWrite], _ index: DiskIndex
    ) throws(DiskError) -> WriteGroup {
        var group = WriteGroup()
        do {
            try index.transaction { () throws(DiskError) in
                for write in writes where group.failure == nil {
                    try store(write, in: &group, index)
                }
            }
        } catch {
            for number in group.written { try? files.remove(number) }
            throw error
        }
        // Only now: until the commit, a process that is killed leaves the older entries.
        for number in group.replaced {
            do throws(DiskError) { try files.remove(number) } catch { group.failure = error }
        }
        return group
    }

    private func store(
        _ write: DiskWrite, in group: inout WriteGroup, _ index: DiskIndex
    ) throws(DiskError) {
        let old = try entry(write.key, index)
        let header = BodyHeader(
            key: write.key, bodyLength: write.body.count, checksum: XXH3.hash64(write.body),
            created: old?.created ?? write.stored, stored: write.stored, metadata: write.metadata)
        guard let head = header.encoded() else {
            return group.results.append(.skipped("disk: metadata over its limit"))
        }
        let charge = Self.charge(
            key: write.key, bodyLength: write.body.count, headerLength: head.count,
            partBytes: write.metadata.partBytes)
        if let refusal = refusal(of: charge, write) {
            return group.results.append(.skipped(refusal))
        }
        try makeRoom(charge, write.key, index)
        let isInline = write.body.count <= Self.inlineBytesMax
        let row = IndexRow(header, number: nextNumber, fileOffset: isInline ? nil : head.count)
        nextNumber += 1
        if !isInline {
            do throws(DiskError) {
                try files.write(row.number, header: head, body: write.body)
            } catch {
                group.failure = error
                return
            }
            group.written.append(row.number)
        }
        // Looked up again: making room may have removed it.
        if let replaced = try entry(write.key, index) {
            try index.delete(replaced.number)
            if replaced.fileOffset != nil { group.replaced.append(replaced.number) }
        }
        try index.insert(row, key: write.key, charge: charge, inline: isInline ? write.body : nil)
        group.bytes += UInt64(clamping: head.count + write.body.count)
        group.results.append(.stored)
    }

    /// Why a body can never be there; `nil` where it can.
    private func refusal(of charge: Int, _ write: DiskWrite) -> String? {
        guard policy.bytesMax == 0 || charge <= policy.bytesMax else {
            return "disk: \(write.body.count) bytes are over the limit of the whole tier"
        }
        return refusal(of: charge, write.key, length: write.body.count)
    }
}

/// A body for the disk.
struct DiskWrite {
    let key: String
    /// Not changed while it is written.
    let body: UnsafeRawBufferPointer
    let metadata: StoredMetadata
    /// When it was stored.
    let stored: UnixTime
}

/// What a transaction with several bodies has come to so far.
private struct WriteGroup {
    /// Of the first ones, in their order.
    var results: [DiskWriteResult] = []
    /// The numbers of files that were written for it.
    var written: [Int64] = []
    /// The numbers of files that go when it is committed.
    var replaced: [Int64] = []
    var bytes: UInt64 = 0
    /// What ended it early.
    var failure: DiskError?
}

extension IndexRow {
    init(_ header: BodyHeader, number: Int64, fileOffset: Int?) {
        self.init(
            number: number, bodyLength: header.bodyLength, checksum: header.checksum,
            fileOffset: fileOffset, created: header.created, stored: header.stored,
            accessed: header.stored, metadata: header.metadata)
    }
}

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

/// Uses of entries that are not in the index yet: one write for many reads.
///
/// A kill loses at most the last ten seconds of them.
struct AccessBatch: Sendable {
    /// Keys from which on they are written without waiting longer.
    static let countEnough = 512
    /// Keys at most; uses beyond that are not noted, which only blurs the order of going.
    static let countMax = 4_096
    /// How long the first of them waits, milliseconds.
    static let delayMax: Int64 = 10_000

    private(set) var times: [String: UnixTime] = [:]
    private var since: UnixTime?

    /// Notes a use.
    mutating func note(_ key: String, _ now: UnixTime) {
        guard times.count < Self.countMax || times[key] != nil else { return }
        times[key] = max(times[key] ?? now, now)
        since = since ?? now
    }

    /// When a key was last used, as far as it is noted here.
    subscript(key: String) -> UnixTime? { times[key] }

    /// Whether it is time to write them.
    func isDue(_ now: UnixTime) -> Bool {
        guard let since else { return false }
        // A clock that was set back is behind the first of them.
        return times.count >= Self.countEnough || now < since
            || now >= since.adding(milliseconds: Self.delayMax)
    }

    /// Hands one of them out; `nil` where none is left.
    mutating func takeOne() -> (key: String, used: UnixTime)? {
        let one = times.popFirst()
        if times.isEmpty { since = nil }
        return one.map { ($0.key, $0.value) }
    }

    /// Hands all of them out.
    mutating func take() -> [String: UnixTime] {
        defer { self = AccessBatch() }
        return times
    }
}

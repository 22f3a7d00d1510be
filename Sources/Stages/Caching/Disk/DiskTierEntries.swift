internal import Model
internal import XXHash

extension DiskTier {
    /// Looks a key up; an expired entry is removed and is a miss.
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

    /// Returns whether the file of a large body has the correct length, checked before memory is
    /// reserved for it. Otherwise the file and the entry are removed.
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

    /// Reads a located body into `buffer`, which must have its length, and verifies it.
    ///
    /// Returns false if it is missing, truncated or wrong: the entry is removed and is a miss.
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
                // Removed or overwritten since it was located: a miss, but not damaged.
                guard try index.place(ofNumber: row.number) != nil else { return false }
                state.damaged += 1
                try drop([IndexVictim(row)], index)
                return false
            }
            accesses.note(key, now)
            return true
        } ?? false
    }

    /// Records hits of other tiers.
    func touch(_ keys: [String], _ now: UnixTime) {
        for key in keys { accesses.note(key, now) }
    }

    /// Returns the number of entries and their size; `nil` while the index can't be read.
    func usage(_ now: UnixTime) -> DiskUsage? {
        attempt(now) { (index) throws(DiskError) in
            var usage = try index.usage()
            usage.overhead = overhead
            return usage
        }
    }

    /// Returns the entry of a key; an invalid row is removed and counts as missing.
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

    /// Counts a lost entry, whose charge may have been wrong as well.
    func noteDamaged() {
        state.damaged += 1
        chores.isRecounting = true
    }

    private func isExpired(_ row: IndexRow, _ key: String, _ now: UnixTime) -> Bool {
        let policy = policy(of: key)
        guard let limit = policy.expiryLimit(now: now) else { return false }
        var date = row.date(policy.expireType)
        if policy.expireType == .access { date = max(date, accesses[key] ?? date) }
        return date <= limit
    }

    /// Writes recorded uses to the index until the time limit.
    func flushSome(_ index: DiskIndex) throws(DiskError) {
        let time = stepTime()
        try index.transaction { () throws(DiskError) in
            while let (key, used) = accesses.popFirst() {
                try index.setAccessed(key, used)
                if time.isOver { return }
            }
        }
    }

    /// Writes the recorded uses to the index.
    func flushAccesses(_ index: DiskIndex) throws(DiskError) {
        let times = accesses.removeAll()
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

enum DiskWriteResult: Hashable, Sendable {
    /// The entry is committed.
    case stored
    /// The entry was not written; the reason, for people.
    case skipped(String)
}

extension DiskTier {
    /// Stores bodies in one transaction (group commit), replacing older entries of their keys; they
    /// are committed on return. Returns the results in order.
    ///
    /// A body whose file can't be written ends the group: earlier ones are stored, that one and
    /// later ones aren't. If the index can't be written, none is stored.
    func write(_ writes: [DiskWrite], _ now: UnixTime) -> [DiskWriteResult] {
        guard isRetryDue(now) else { return writes.map { _ in .skipped(unwritable) } }
        let group = attempt(now) { (index) throws(DiskError) in try commit(writes, index) }
        guard let group else { return writes.map { _ in .skipped(unwritable) } }
        state.counts.bytesWritten += group.bytes
        if let failure = group.failure {
            degrade(failure, now)
        } else if group.results.contains(.stored) {
            state.health = .healthy
        }
        let missing = writes.count - group.results.count
        return group.results + (0..<missing).map { _ in .skipped(unwritable) }
    }

    private var unwritable: String { "disk: \(state.health.reason?.description ?? "not open")" }

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
        // After the commit, so that a process killed earlier leaves the older entries intact.
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
            return group.results.append(.skipped("disk: metadata exceeds its limit"))
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
        // Looked up again, because eviction may have removed it.
        if let replaced = try entry(write.key, index) {
            try index.delete(replaced.number)
            if replaced.fileOffset != nil { group.replaced.append(replaced.number) }
        }
        try index.insert(row, key: write.key, charge: charge, inline: isInline ? write.body : nil)
        group.bytes += UInt64(clamping: head.count + write.body.count)
        group.results.append(.stored)
    }

    /// Returns why a body can never be stored; `nil` if it can.
    private func refusal(of charge: Int, _ write: DiskWrite) -> String? {
        let exceeded = limits(of: write.key).last {
            $0.policy.bytesMax > 0 && charge > $0.policy.bytesMax
        }
        return exceeded.map { limits in
            let what = limits.cache == nil ? "whole tier" : "cache"
            return "disk: \(write.body.count) bytes exceed the limit of the \(what)"
        }
    }
}

struct DiskWrite {
    let key: String
    /// Must not change while it is written.
    let body: UnsafeRawBufferPointer
    let metadata: StoredMetadata
    let stored: UnixTime
}

/// The state of a transaction with several bodies.
private struct WriteGroup {
    /// The results of the first bodies, in order.
    var results: [DiskWriteResult] = []
    /// The numbers of files written for it.
    var written: [Int64] = []
    /// The numbers of files to remove after the commit.
    var replaced: [Int64] = []
    var bytes: UInt64 = 0
    /// The error that ended it early.
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
    /// Removes the entry of a key; returns false if that failed and it may still exist.
    func remove(_ key: String, _ now: UnixTime) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            if let row = try entry(key, index) { try drop([IndexVictim(row)], index) }
            keepOut(key)
            return true
        } ?? false
    }

    /// Updates the caching information of a key's entry, if its bytes are the same. The file of a
    /// large body keeps the old information, which is used if the index is lost.
    func renew(_ key: String, _ renewal: Validity, _ now: UnixTime) {
        _ = attempt(now) { (index) throws(DiskError) in try index.renew(key, renewal) }
    }

    /// Prevents files and an older index that are still being imported from restoring a removed
    /// key.
    private func keepOut(_ key: String) {
        guard chores.isSweeping || salvaging != nil, !chores.noteRemoved(key) else { return }
        // Too many to remember: stop importing entirely.
        salvaging = nil
        chores.adoptsFiles = false
    }

    /// Removes entries: files first, so that no file outlives its row and is imported again.
    func drop(_ victims: [IndexVictim], _ index: DiskIndex) throws(DiskError) {
        for victim in victims where victim.hasFile { try files.remove(victim.number) }
        try index.transaction { () throws(DiskError) in
            for victim in victims { try index.delete(victim.number) }
        }
    }

    /// Removes entries in order until the time limit; returns the removed ones. Each file is
    /// removed before its row, as in `drop`.
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

    /// Returns the space used by an entry: a row with its additional data, and blocks of a file or
    /// pages of the index.
    static func charge(
        key: String, bodyLength: Int, headerLength: Int, partBytes: Int = 0
    ) -> Int {
        let row = rowCharge + key.utf8.count + partBytes
        guard bodyLength <= inlineBytesMax else { return row + blocks(headerLength + bodyLength) }
        // Small bodies share a page; larger ones have their own pages.
        return bodyLength <= sharedBytesMax ? row + bodyLength * 5 / 4 : blocks(row + bodyLength)
    }

    private static let sharedBytesMax = 1_024

    private static func blocks(_ bytes: Int) -> Int { (bytes + 4095) / 4096 * 4096 }
}

/// Uses of entries that are not recorded in the index yet, to combine many reads into one write.
///
/// Killing the process loses at most the last ten seconds.
struct AccessBatch: Sendable {
    /// The number of keys at which they are written without further delay.
    static let countEnough = 512
    /// The maximum number of keys; further uses are not recorded, which only makes the eviction
    /// order less precise.
    static let countMax = 4_096
    /// The maximum delay of the first key in milliseconds.
    static let delayMax: Int64 = 10_000

    private(set) var times: [String: UnixTime] = [:]
    private var since: UnixTime?

    /// Records a use.
    mutating func note(_ key: String, _ now: UnixTime) {
        guard times.count < Self.countMax || times[key] != nil else { return }
        times[key] = max(times[key] ?? now, now)
        since = since ?? now
    }

    /// The last recorded use of a key.
    subscript(key: String) -> UnixTime? { times[key] }

    /// Returns whether it is time to write them.
    func isDue(_ now: UnixTime) -> Bool {
        guard let since else { return false }
        // A clock that was set back may be earlier than the first of them.
        return times.count >= Self.countEnough || now < since
            || now >= since.adding(milliseconds: Self.delayMax)
    }

    /// Removes and returns one use; `nil` if there are none.
    mutating func popFirst() -> (key: String, used: UnixTime)? {
        let one = times.popFirst()
        if times.isEmpty { since = nil }
        return one.map { ($0.key, $0.value) }
    }

    /// Removes and returns all uses.
    mutating func removeAll() -> [String: UnixTime] {
        defer { self = AccessBatch() }
        return times
    }
}

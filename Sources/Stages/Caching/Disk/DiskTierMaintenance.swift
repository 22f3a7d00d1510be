internal import Messages
internal import SQLite

extension DiskTier {
    /// Does a bit of what is to be done between requests; true where more is to be done at once.
    func maintain(_ now: UnixTime) -> Bool {
        guard isRetryDue(now) else { return false }
        if health != .healthy, !probe(now) { return false }
        return attempt(now) { (index) throws(DiskError) in
            if accesses.isDue(now) { try flushSome(index) }
            if try correctDates(now, index) { return true }
            if try expire(now, index) { return true }
            if try trimCaches(index) { return true }
            if try trim(index) { return true }
            // Before the files: a body in the old index is newer than a file of its key.
            if try salvage(now, index) { return true }
            if try sweep(index) { return true }
            if try emptyTrash() { return true }
            if try recount(index) { return true }
            if try shrink(index) { return true }
            return accesses.isDue(now)
        } ?? false
    }

    /// Writes what is noted in memory only; for the end of the process.
    func flush(_ now: UnixTime) {
        _ = attempt(now) { (index) throws(DiskError) in
            try flushAccesses(index)
            // The log is empty then: the directory can be copied, and read by others.
            try onIndex { () throws(SQLiteError) in
                try index.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
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

    /// Whether one more entry of so many bytes fits below the limits, and below those of its cache.
    func fits(
        _ charge: Int, _ key: String, _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        guard try fitsOwn(charge, key, index) else { return false }
        return try fits(charge, index)
    }

    private func fits(_ charge: Int, _ index: DiskIndex) throws(DiskError) -> Bool {
        let usage = try index.usage()
        if policy.countMax > 0, usage.entries >= policy.countMax { return false }
        guard policy.bytesMax > 0 else { return true }
        return usage.bytes + charge <= (try room(for: index, below: policy.bytesMax))
    }

    /// Removes the oldest entries until one more of so many bytes fits below the limits: those of
    /// its cache first.
    func makeRoom(_ charge: Int, _ key: String, _ index: DiskIndex) throws(DiskError) {
        try makeOwnRoom(charge, key, index)
        guard try !fits(charge, index) else { return }
        beginTrim()
        var target = try target(of: index, bytes: policy.bytesMax, entries: policy.countMax)
        if policy.bytesMax > 0 { target.bytes -= charge }
        if policy.countMax > 0 { target.entries -= 1 }
        while try dropOldest(downTo: target, index) {}
    }

    /// From now on the tier goes down to the low-water mark, bit by bit.
    func beginTrim() {
        guard !chores.isTrimming, policy.bytesMax > 0 || policy.countMax > 0 else { return }
        chores.isTrimming = true
        counts.trims += 1
    }

    /// Trims and lets go of what is over age now, whether or not it is time to.
    func trimNow() {
        beginTrim()
        beginAllOwnTrims()
        chores.expiresAt = nil
    }

    /// What may be left, where 0 is no limit.
    private func target(
        of index: DiskIndex, bytes: Int, entries: Int
    ) throws(DiskError) -> (bytes: Int, entries: Int) {
        let bytesLeft = policy.bytesMax > 0 ? try room(for: index, below: bytes) : .max
        return (bytesLeft, policy.countMax > 0 ? entries : .max)
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
        let target = try target(
            of: index, bytes: policy.lowWater, entries: policy.countLowWater)
        if try dropOldest(downTo: target, index) { return true }
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
        guard Chores.isDue(chores.expiresAt, now) else { return false }
        let victims =
            policy.hasOwnAges ? try overAge(now, index) : try overAgeOfAll(now, index)
        let removed = try dropSome(victims, index)
        counts.expired.add(removed)
        let isLast = victims.count < Chores.batch && removed.count == victims.count
        if policy.hasOwnAges ? victims.isEmpty : isLast {
            chores.expiresAt = now.adding(milliseconds: Chores.expiryPeriod)
        }
        if !victims.isEmpty { chores.isShrinking = true }
        return !victims.isEmpty
    }

    private func overAgeOfAll(_ now: UnixTime, _ index: DiskIndex) throws(DiskError)
        -> [IndexVictim]
    {
        guard let limit = policy.expiryLimit(now: now) else { return [] }
        try flushAccesses(index)
        return try index.oldest(upTo: limit, count: Chores.batch)
    }

    /// Removes a batch of the oldest entries; false where the rest takes no more than `target`.
    private func dropOldest(
        downTo target: (bytes: Int, entries: Int), _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        let usage = try index.usage()
        var excess = usage.bytes - max(0, target.bytes)
        var surplus = usage.entries - max(0, target.entries)
        guard excess > 0 || surplus > 0 else { return false }
        try flushAccesses(index)
        let oldest = try index.oldest(
            upTo: UnixTime(milliseconds: .max), count: Chores.batch)
        guard !oldest.isEmpty else {
            throw DiskError(
                .badIndex,
                "the index counts \(usage.entries) entries of \(usage.bytes) bytes that are not "
                    + "there")
        }
        let victims = oldest.prefix { victim in
            defer {
                excess -= victim.charge
                surplus -= 1
            }
            return excess > 0 || surplus > 0
        }
        counts.trimmed.add(try dropSome(Array(victims), index))
        return !victims.isEmpty
    }

    // MARK: - Leftovers

    /// Compares a few files with the index: unfinished ones are removed, whole ones that the index
    /// does not know are taken in. So an index that was lost comes back. What an index that is
    /// whole does not know, although its numbers went on, was replaced: it is removed.
    private func sweep(_ index: DiskIndex) throws(DiskError) -> Bool {
        let time = stepTime()
        // Most buckets are empty where the tier is small.
        while chores.filesToSweep.isEmpty {
            guard let bucket = chores.bucketsToSweep.popLast() else {
                if chores.owesSwept { try index.noteSwept() }
                chores.owesSwept = false
                return false
            }
            chores.filesToSweep = try files.numbers(inBucket: bucket)
            if time.isOver { return true }
        }
        let numbers = chores.filesToSweep.suffix(Chores.batch).reversed()
        var count = 0
        // One that fails is passed over.
        defer { chores.filesToSweep.removeLast(count) }
        try index.transaction { () throws(DiskError) in
            for number in numbers where count == 0 || !time.isOver {
                count += 1
                try compare(number, index)
            }
        }
        return true
    }

    /// Rows of one bucket are far apart: each waits for the device where the page cache is empty.
    private func compare(_ number: Int64, _ index: DiskIndex) throws(DiskError) {
        switch try index.place(ofNumber: number) {
        case .file: return
        // A process was killed before it committed the file, and the next one gave its number to
        // a body that lies in the index.
        case .index: break
        case nil:
            let mayBeNew = chores.adoptsFiles && number > chores.knownUpTo
            if mayBeNew, try adopt(number, index) { return }
        }
        try files.remove(number)
    }

    /// False for a file that is no whole body, is older than what its key has, was removed
    /// meanwhile, or does not fit.
    private func adopt(_ number: Int64, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let (header, length) = try files.header(number),
            !chores.wasRemoved(header.key, header.stored, tags: header.metadata.tags),
            try isFree(header.key, index)
        else { return false }
        let charge = Self.charge(
            key: header.key, bodyLength: header.bodyLength, headerLength: length,
            partBytes: header.metadata.partBytes)
        guard try fits(charge, header.key, index) else { return false }
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
        try index.recountCaches()
        chores.isRecounting = false
        return true
    }

    private func emptyTrash() throws(DiskError) -> Bool {
        guard chores.hasTrash else { return false }
        chores.hasTrash = try files.emptyTrash(stepTime())
        return true
    }

    private func shrink(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard chores.isShrinking else { return false }
        chores.isShrinking = try index.shrink(pages: Chores.pages)
        return true
    }
}

/// What the disk tier does bit by bit between requests.
struct Chores: Sendable {
    /// Buckets whose files have not been compared with the index since the start.
    var bucketsToSweep = Array((0..<BodyFiles.buckets).reversed())
    /// Files of a bucket that have not been looked at yet.
    var filesToSweep: [Int64] = []
    /// Going down to the low-water mark.
    var isTrimming = false
    /// Named caches that go down to their own low-water mark.
    var trimmedCaches: Set<String> = []
    /// When entries over age are looked for next; `nil` is now.
    var expiresAt: UnixTime?
    /// Keys that were removed since the start: what is taken in again does not bring them back.
    private(set) var removed: Set<String> = []
    /// Selections of entries that were removed since the start, likewise.
    private(set) var removedSelections: [DiskSelection] = []
    /// Whether files that the index does not know are taken in; else they are removed.
    var adoptsFiles = true
    /// Files up to this number are not taken in: the index knew all of them.
    var knownUpTo: Int64 = 0
    /// The index is not told yet that it knows all files.
    var owesSwept = true
    /// When dates of the future are looked for next; `nil` is now.
    var correctsDatesAt: UnixTime?
    /// The account of the index is in doubt.
    var isRecounting = false
    /// The trash may hold something.
    var hasTrash = true
    /// The index may have pages to give back.
    var isShrinking = true

    /// How often entries over age and dates of the future are looked for, milliseconds.
    static let expiryPeriod: Int64 = 60_000
    /// Keys in `removed` at most.
    static let removedMax = 16_384
    /// Selections in `removedSelections` at most.
    static let selectionsMax = 64
    /// Entries that one step removes, or files that it looks at, at most: a few milliseconds.
    static let batch = 128
    /// Free pages of the index that one step gives back: a millisecond or two.
    static let pages: Int = 64

    /// Whether what the tier lost sight of is still looked for.
    var isSweeping: Bool { !bucketsToSweep.isEmpty || !filesToSweep.isEmpty }

    /// Notes that a key was removed. Beyond the limit nothing is taken in any more: false then.
    mutating func noteRemoved(_ key: String) -> Bool {
        guard removed.contains(key) || removed.count < Self.removedMax else { return false }
        removed.insert(key)
        return true
    }

    /// The same of a selection; repeated for each step of a removal.
    mutating func noteRemoved(_ selection: DiskSelection) -> Bool {
        let isKnown = removedSelections.contains {
            $0.selection == selection.selection && $0.storedUpTo == selection.storedUpTo
        }
        guard isKnown || removedSelections.count < Self.selectionsMax else { return false }
        if !isKnown { removedSelections.append(selection) }
        return true
    }

    /// Goes on to keep out what was removed before.
    mutating func keepRemovals(of other: Chores) {
        removed = other.removed
        removedSelections = other.removedSelections
        adoptsFiles = other.adoptsFiles
    }

    /// Whether an entry that is found somewhere was removed since the start.
    func wasRemoved(_ key: String, _ stored: UnixTime, tags: [String]) -> Bool {
        removed.contains(key)
            || removedSelections.contains { $0.matches(key, stored, tags: tags) }
    }

    /// Whether it is time for what is done every minute; a clock that was set back delays nothing.
    static func isDue(_ moment: UnixTime?, _ now: UnixTime) -> Bool {
        guard let moment else { return true }
        return now >= moment || moment > now.adding(milliseconds: expiryPeriod)
    }
}

/// How long one step of housekeeping may remove or compare: hits wait until it is over.
///
/// A row that is not in the page cache waits for the device. What the removal of a file takes
/// differs a hundredfold between file systems, from 10 µs to some milliseconds where the device is
/// told of freed blocks at once (`discard`).
struct StepTime {
    /// Nanoseconds after which a step ends.
    static let longest: UInt64 = 1_000_000

    private let clock: () -> UInt64
    private let began: UInt64

    /// Begins now; `clock` says nanoseconds since any moment, and never goes back.
    init(_ clock: @escaping () -> UInt64) {
        self.clock = clock
        began = clock()
    }

    /// Whether the step is to end; the first piece of its work is always done.
    var isOver: Bool { clock() - began >= Self.longest }
}

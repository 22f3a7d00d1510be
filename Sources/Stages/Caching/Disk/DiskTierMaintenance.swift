internal import Model

extension DiskTier {
    /// Performs one step of maintenance between requests; returns true if more is to be done
    /// immediately.
    func maintain(_ now: UnixTime) -> Bool {
        guard isRetryDue(now) else { return false }
        if state.health != .healthy, !probe(now) { return false }
        return attempt(now) { (index) throws(DiskError) in
            if accesses.isDue(now) { try flushSome(index) }
            if try correctDates(now, index) { return true }
            if try expire(now, index) { return true }
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

    /// Writes data that is only in memory; called at the end of the process.
    func flush(_ now: UnixTime) {
        _ = attempt(now) { (index) throws(DiskError) in
            try flushAccesses(index)
            try index.emptyLog()
        }
    }

    /// Checks with a small file and a transaction whether a degraded tier can write again, so that
    /// it recovers without waiting for a store.
    private func probe(_ now: UnixTime) -> Bool {
        attempt(now) { (index) throws(DiskError) in
            try files.probe()
            try index.transaction { () throws(DiskError) in }
            state.health = .healthy
            return true
        } ?? false
    }

    // MARK: - Limits

    /// Returns the measured usage of the entries and everything else.
    func usage(of index: DiskIndex) throws(DiskError) -> DiskUsage {
        overhead = 0
        for name in [Self.indexName] + Self.quarantinedNames {
            overhead += directory.bytes(of: name + "-wal") + directory.bytes(of: name + "-shm")
        }
        for name in Self.quarantinedNames { overhead += directory.bytes(of: name) }
        var usage = try index.usage()
        usage.overhead = overhead
        return usage
    }

    /// Returns whether one more entry of this size fits below the limits of the tier and of its
    /// cache.
    func fits(
        _ charge: Int, _ key: String, _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        for limits in limits(of: key) {
            guard try fits(charge, limits, index) else { return false }
        }
        return true
    }

    private func fits(
        _ charge: Int, _ limits: DiskLimits, _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        let policy = limits.policy
        guard policy.isLimited else { return true }
        let usage = try index.usage(of: limits.cache)
        let most = try target(
            of: limits, bytes: policy.bytesMax, entries: policy.countMax, index)
        return usage.entries < most.entries && usage.bytes + charge <= most.bytes
    }

    /// Evicts the oldest entries until one more of this size fits below the limits, those of its
    /// cache first.
    func makeRoom(_ charge: Int, _ key: String, _ index: DiskIndex) throws(DiskError) {
        for limits in limits(of: key) {
            guard try !fits(charge, limits, index) else { continue }
            beginTrim(limits)
            let most = try target(
                of: limits, bytes: limits.policy.bytesMax, entries: limits.policy.countMax, index)
            let target = (bytes: most.bytes - charge, entries: most.entries - 1)
            while try dropOldest(of: limits, downTo: target, index) {}
        }
    }

    /// Starts trimming to the low-water mark in steps.
    private func beginTrim(_ limits: DiskLimits) {
        guard limits.policy.isLimited else { return }
        if chores.trims.insert(limits.cache).inserted { state.counts.trims += 1 }
    }

    /// Starts trimming where a limit is exceeded.
    func beginTrims(_ index: DiskIndex) throws(DiskError) {
        for limits in allLimits {
            let usage = try limits.cache == nil ? usage(of: index) : index.usage(of: limits.cache)
            if limits.policy.isExceeded(by: usage) { beginTrim(limits) }
        }
    }

    /// Starts trimming and expiry immediately.
    func trimNow() {
        for limits in allLimits { beginTrim(limits) }
        chores.expiresAt = nil
    }

    /// Returns the targets of a trim, treating a limit of 0 as unlimited.
    private func target(
        of limits: DiskLimits, bytes: Int, entries: Int, _ index: DiskIndex
    ) throws(DiskError) -> (bytes: Int, entries: Int) {
        let entriesLeft = limits.policy.countMax > 0 ? entries : .max
        guard limits.policy.bytesMax > 0 else { return (.max, entriesLeft) }
        guard limits.cache == nil else { return (bytes, entriesLeft) }
        // The overhead takes at most half of a total limit, so that entries remain even under a
        // limit of a few kilobytes.
        let beside = try usage(of: index).overhead
        return (bytes - min(beside, bytes / 2), entriesLeft)
    }

    /// Performs one step of trimming to the low-water marks, those of named caches first.
    private func trim(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard !chores.trims.isEmpty else { return false }
        let cache = chores.trims.compactMap { $0 }.first
        let own = cache == nil ? policy : cache.flatMap { policy.caches[$0] }
        if let policy = own, policy.isLimited {
            let limits = DiskLimits(cache: cache, policy: policy)
            let target = try target(
                of: limits, bytes: policy.lowWater, entries: policy.countLowWater, index)
            if try dropOldest(of: limits, downTo: target, index) { return true }
        }
        chores.trims.remove(cache)
        chores.isShrinking = true
        return true
    }

    /// Sets future dates to now, once a minute: after the clock was set back, such entries would
    /// otherwise be kept until it catches up.
    private func correctDates(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard Chores.isDue(chores.correctsDatesAt, now) else { return false }
        if try index.correctDates(now, policy.expireType, count: Chores.batch) { return true }
        chores.correctsDatesAt = now.adding(milliseconds: Chores.expiryPeriod)
        return false
    }

    /// Removes expired entries.
    private func expire(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard Chores.isDue(chores.expiresAt, now) else { return false }
        let victims =
            policy.hasOwnAges ? try overAge(now, index) : try overAgeOfAll(now, index)
        let removed = try dropSome(victims, index)
        state.counts.expired.add(removed)
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

    /// Removes a batch of the oldest entries to which limits apply; returns false if the rest is
    /// within `target`.
    private func dropOldest(
        of limits: DiskLimits, downTo target: (bytes: Int, entries: Int), _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        let usage = try index.usage(of: limits.cache)
        var excess = usage.bytes - max(0, target.bytes)
        var surplus = usage.entries - max(0, target.entries)
        guard excess > 0 || surplus > 0 else { return false }
        try flushAccesses(index)
        let oldest = try index.oldest(
            of: limits.cache.map { (name: $0, type: limits.policy.expireType) },
            upTo: UnixTime(milliseconds: .max), count: Chores.batch)
        guard !oldest.isEmpty else {
            let what = limits.cache == nil ? "of \(usage.bytes) bytes" : "of a cache"
            throw DiskError(
                .badIndex, "the index counts \(usage.entries) entries \(what) that do not exist")
        }
        let victims = oldest.prefix { victim in
            defer {
                excess -= victim.charge
                surplus -= 1
            }
            return excess > 0 || surplus > 0
        }
        state.counts.trimmed.add(try dropSome(Array(victims), index))
        return !victims.isEmpty
    }

    // MARK: - Leftovers

    /// Compares some files with the index: temporary ones are removed, and complete ones that the
    /// index doesn't know are imported, which restores a lost index. A file that is unknown to an
    /// intact index with higher numbers was replaced, and is removed.
    private func sweep(_ index: DiskIndex) throws(DiskError) -> Bool {
        let time = stepTime()
        // Most buckets are empty in a small tier.
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
        // A file that fails is skipped.
        defer { chores.filesToSweep.removeLast(count) }
        try index.transaction { () throws(DiskError) in
            for number in numbers where count == 0 || !time.isOver {
                count += 1
                try compare(number, index)
            }
        }
        return true
    }

    /// Looks up one file at a time: the rows of one bucket are far apart, and each waits for the
    /// device if the page cache is cold.
    private func compare(_ number: Int64, _ index: DiskIndex) throws(DiskError) {
        switch try index.place(ofNumber: number) {
        case .file: return
        // A process was killed before it committed the file, and the next one assigned its number
        // to a body in the index.
        case .index: break
        case nil:
            let mayBeNew = chores.adoptsFiles && number > chores.knownUpTo
            if mayBeNew, try adopt(number, index) { return }
        }
        try files.remove(number)
    }

    /// Imports a file; returns false if it isn't a complete body, is older than the entry of its
    /// key, was removed meanwhile, or doesn't fit.
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

    /// Returns whether a key has no entry; a damaged row is removed.
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

/// The maintenance work of the disk tier, done in steps between requests.
struct Chores: Sendable {
    /// Buckets whose files have not been compared with the index since the start.
    var bucketsToSweep = Array((0..<BodyFiles.buckets).reversed())
    /// Files of a bucket that remain to be checked.
    var filesToSweep: [Int64] = []
    /// What is being trimmed to its low-water mark: named caches, and `nil` for the whole tier.
    var trims: Set<String?> = []
    /// When to check for expired entries next; `nil` for now.
    var expiresAt: UnixTime?
    /// Keys removed since the start, which must not be imported again.
    private(set) var removed: Set<String> = []
    /// Selections of entries removed since the start, which must not be imported again.
    private(set) var removedSelections: [DiskSelection] = []
    /// Whether files unknown to the index are imported; otherwise they are removed.
    var adoptsFiles = true
    /// Files up to this number are not imported, because the index knew all of them.
    var knownUpTo: Int64 = 0
    /// Whether the index must still be marked as swept.
    var owesSwept = true
    /// When to check for future dates next; `nil` for now.
    var correctsDatesAt: UnixTime?
    /// Whether the totals of the index may be wrong.
    var isRecounting = false
    /// Whether the trash may contain files.
    var hasTrash = true
    /// Whether the index may have free pages.
    var isShrinking = true

    /// The interval of checks for expired entries and future dates, in milliseconds.
    static let expiryPeriod: Int64 = 60_000
    /// The maximum number of keys in `removed`.
    static let removedMax = 16_384
    /// The maximum number of selections in `removedSelections`.
    static let selectionsMax = 64
    /// The maximum number of entries removed or files checked per step: a few milliseconds.
    static let batch = 128
    /// The number of free index pages returned per step: a millisecond or two.
    static let pages: Int = 64

    /// Whether the sweep for unknown files is in progress.
    var isSweeping: Bool { !bucketsToSweep.isEmpty || !filesToSweep.isEmpty }

    /// Records the removal of a key. Returns false beyond the limit: importing must then stop.
    mutating func noteRemoved(_ key: String) -> Bool {
        guard removed.contains(key) || removed.count < Self.removedMax else { return false }
        removed.insert(key)
        return true
    }

    /// Records the removal of a selection; repeated for each step of a removal.
    mutating func noteRemoved(_ selection: DiskSelection) -> Bool {
        let isKnown = removedSelections.contains {
            $0.selection == selection.selection && $0.storedUpTo == selection.storedUpTo
        }
        guard isKnown || removedSelections.count < Self.selectionsMax else { return false }
        if !isKnown { removedSelections.append(selection) }
        return true
    }

    /// Carries over the recorded removals.
    mutating func keepRemovals(of other: Chores) {
        removed = other.removed
        removedSelections = other.removedSelections
        adoptsFiles = other.adoptsFiles
    }

    /// Returns whether an entry found while importing was removed since the start.
    func wasRemoved(_ key: String, _ stored: UnixTime, tags: [String]) -> Bool {
        removed.contains(key)
            || removedSelections.contains { $0.matches(key, stored, tags: tags) }
    }

    /// Returns whether a periodic task is due; a clock that was set back doesn't delay it.
    static func isDue(_ moment: UnixTime?, _ now: UnixTime) -> Bool {
        guard let moment else { return true }
        return now >= moment || moment > now.adding(milliseconds: expiryPeriod)
    }
}

/// The time limit of one maintenance step, during which hits wait.
///
/// A row that isn't in the page cache waits for the device. The time to remove a file varies by a
/// factor of hundred between file systems, from 10 µs to several milliseconds if freed blocks are
/// discarded at once (`discard`).
struct StepTime {
    /// The duration in nanoseconds after which a step ends.
    static let longest: UInt64 = 1_000_000

    private let clock: () -> UInt64
    private let began: UInt64

    /// Starts the time limit; `clock` returns monotonic nanoseconds.
    init(_ clock: @escaping () -> UInt64) {
        self.clock = clock
        began = clock()
    }

    /// Whether the step must end; checked after its first item, so each step makes progress.
    var isOver: Bool { clock() - began >= Self.longest }
}

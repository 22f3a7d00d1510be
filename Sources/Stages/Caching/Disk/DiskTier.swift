internal import Linux
internal import Messages

/// The disk tier: bodies and their facts by key, in one directory, within limits.
///
/// Bodies up to `inlineBytesMax` lie in the index, larger ones in files of their own. Owned by the
/// one thread that does disk work; dates are given to it. It never throws at its user: what
/// fails is a miss, or a store that did not happen, and the tier is *degraded* until a later try.
///
/// Killed at any instant, every entry is whole or absent: a file gets its name when it is complete
/// and before its row is committed; a file is removed before its row. What is left over either way
/// is a whole file without a row, which the sweep takes in again, or a row without a file, which is
/// a miss.
final class DiskTier {
    /// Up to here a body lies in the index: below about 20 KB SQLite reads and writes a blob faster
    /// than the file system opens a file (sqlite.org/fasterthanfs.html), and a file takes a block.
    static let inlineBytesMax = 16 * 1024
    /// What a row takes beside key and body, bytes: columns, the order by date, the key's index.
    static let rowCharge = 512

    let directory: CacheDirectory
    private(set) var policy: DiskPolicy
    let files: BodyFiles
    var index: DiskIndex?
    /// The next number of an entry.
    var nextNumber: Int64 = 1
    /// Uses that are not in the index yet.
    var accesses = AccessBatch()
    /// Work that is done bit by bit.
    var chores = Chores()

    /// Works or not, and why not.
    var health: DiskHealth {
        didSet { if case .healthy = health { degradedSince = nil } }
    }
    /// Since when it does not.
    private(set) var degradedSince: UnixTime?
    /// What was done since the process started.
    var counts = DiskCounts()
    /// Entries that were found damaged and removed.
    var damaged = 0
    /// Indexes that were set aside.
    var rebuilt = 0
    /// Why the last of them was.
    var setAsideReason: DiskError?
    /// The version of the index before it was upgraded as the tier was opened; `nil` where it was
    /// not.
    var upgradedFrom: Int64?
    /// The index that was set aside, while bodies are taken out of it.
    var salvaging: SetAsideIndex?
    /// What the log of the index and the indexes that were set aside take, as of the last look.
    var overhead = 0

    /// Nanoseconds since any moment, by which steps end.
    private let clock: @Sendable () -> UInt64

    /// What named caches have, as of the last look.
    var usageByCache: [String: DiskUsage] = [:]

    /// Opens the tier, or starts degraded where that fails.
    init(
        directory: CacheDirectory, policy: DiskPolicy, now: UnixTime,
        clock: @escaping @Sendable () -> UInt64 = MonotonicClock.now
    ) {
        self.directory = directory
        self.clock = clock
        self.policy = policy
        files = BodyFiles(in: directory)
        health = .healthy
        open(now)
    }

    /// Runs what needs the disk; a failure degrades the tier and is answered as `nil`. Where the
    /// index turns out to be damaged, it is replaced, and `body` runs once more on the new one.
    func attempt<R>(
        _ now: UnixTime, _ body: (DiskIndex) throws(DiskError) -> R
    ) -> R? {
        if index == nil, isRetryDue(now) { open(now) }
        guard let index else { return nil }
        do {
            return try body(index)
        } catch {
            guard fail(error, now), let index = self.index else { return nil }
            do { return try body(index) } catch {
                degrade(error, now)
                return nil
            }
        }
    }

    /// Whether writing may be tried: healthy, or the pause after the last failure is over.
    func isRetryDue(_ now: UnixTime) -> Bool {
        switch health {
        case .healthy: true
        case .degraded(_, let retryAt):
            // A clock that was set back makes no pause longer.
            now >= retryAt || retryAt > now.adding(milliseconds: DiskHealth.pause)
        }
    }

    /// The time of a step that begins now.
    func stepTime() -> StepTime { StepTime(clock) }

    /// Holds to other limits from now on.
    func adopt(_ policy: DiskPolicy, _ now: UnixTime) {
        guard policy != self.policy else { return }
        self.policy = policy
        // The order of going and the log of the index follow the policy.
        guard index != nil else { return }
        let before = chores
        index = nil
        open(now)
        chores.keepRemovals(of: before)
    }

    /// Notes a failure; a damaged index is set aside and a new one begun. True where that worked.
    private func fail(_ error: DiskError, _ now: UnixTime) -> Bool {
        guard error.kind == .badIndex else {
            degrade(error, now)
            return false
        }
        replaceIndex(error, now)
        return index != nil
    }

    func degrade(_ error: DiskError, _ now: UnixTime) {
        if case .healthy = health {
            degradedSince = now
            counts.failures += 1
        }
        health = .degraded(error, retryAt: now.adding(milliseconds: DiskHealth.pause))
    }
}

/// Whether the disk tier works.
public enum DiskHealth: Sendable, Hashable {
    /// It reads and writes.
    case healthy
    /// It writes nothing, and reads what it can; tried again at `retryAt`.
    case degraded(DiskError, retryAt: UnixTime)

    /// How long the disk is left alone after a failure, milliseconds.
    static let pause: Int64 = 5_000

    /// Why it is degraded.
    public var reason: DiskError? {
        switch self {
        case .healthy: nil
        case .degraded(let error, _): error
        }
    }
}

extension DiskTier {
    static let indexName = "index.sqlite"
    /// Indexes that are kept after they were set aside; the last one is overwritten beyond that.
    static let setAsideMax = 4

    /// Opens the index; sets a damaged one or one of another version aside and begins anew.
    func open(_ now: UnixTime) {
        do {
            try files.prepare()
            do {
                try begin()
            } catch  where error.kind == .badIndex {
                index = nil
                try setAside(for: error)
                try begin()
            }
            health = .healthy
        } catch {
            index = nil
            degrade(error, now)
        }
    }

    /// Sets the index aside while it is open, and begins anew from the files.
    func replaceIndex(_ reason: DiskError, _ now: UnixTime) {
        index = nil
        do {
            try setAside(for: reason)
            open(now)
        } catch {
            degrade(error, now)
        }
    }

    /// Begins with an empty index and no files; what was there is removed bit by bit.
    func clear(_ now: UnixTime) -> Bool {
        do {
            // Files first: without the index alone they would be taken in again.
            try files.prepare()
            try files.discardAll()
            index = nil
            salvaging = nil
            for name in [Self.indexName] + Self.setAsideNames { try removeIndex(name) }
        } catch {
            degrade(error, now)
            return false
        }
        accesses = AccessBatch()
        open(now)
        return index != nil
    }

    /// Opens the index; numbers go on behind every entry and every file, chores begin again.
    private func begin() throws(DiskError) {
        try prepareIndex()
        let index = try DiskIndex(Self.indexName, in: directory, policy: policy)
        self.index = index
        upgradedFrom = index.upgradedFrom ?? upgradedFrom
        let largest = try index.largestNumber()
        // Only a new index does not know the files: their numbers are looked up then.
        let floor = largest > 0 ? largest : try files.largestNumber()
        nextNumber = max(nextNumber, floor + 1)
        chores = Chores()
        if try index.isSwept() { (chores.knownUpTo, chores.owesSwept) = (largest, false) }
        let usage = try usage(of: index)
        if policy.bytesMax > 0 && usage.total > policy.bytesMax
            || policy.countMax > 0 && usage.entries > policy.countMax
        {
            beginTrim()
        }
        try beginOwnTrims(index)
    }

    /// Makes the file, which SQLite gives its log the mode of, and narrows what is there.
    private func prepareIndex() throws(DiskError) {
        try onFiles("cannot open \(Self.indexName)") { () throws(Errno) in
            try directory.prepareFile(Self.indexName)
            for name in [Self.indexName] + Self.setAsideNames {
                for suffix in ["", "-wal", "-shm"] { try directory.narrow(name + suffix) }
            }
        }
    }

    /// Renames the index to `index.sqlite.bad-<n>`; its log first, so that a kill in between
    /// leaves an index that is bad as before. What only it has is taken out of it bit by bit.
    private func setAside(for reason: DiskError) throws(DiskError) {
        rebuilt += 1
        setAsideReason = reason
        salvaging = nil
        let taken = try? Set(directory.root.openDirectory(".").entries())
        let name =
            Self.setAsideNames.first { taken?.contains($0) == false }
            ?? Self.setAsideNames[Self.setAsideMax - 1]
        try removeIndex(name)
        for suffix in ["-wal", ""] {
            try rename(Self.indexName + suffix, to: name + suffix)
        }
        try removeFile("\(Self.indexName)-shm")
        salvaging = SetAsideIndex(name: name, in: directory)
        if salvaging == nil, isTooLarge(name) { try removeIndex(name) }
    }

    static let setAsideNames = (1...setAsideMax).map { "\(indexName).bad-\($0)" }

    /// Removes an index with its log, the log first.
    func removeIndex(_ name: String) throws(DiskError) {
        for suffix in ["-wal", "-shm", ""] { try removeFile(name + suffix) }
    }

    private func rename(_ name: String, to newName: String) throws(DiskError) {
        do { try directory.root.rename(name, to: newName) } catch .noSuchFile { return } catch {
            throw DiskError(error, "cannot set \(name) aside")
        }
    }

    private func removeFile(_ name: String) throws(DiskError) {
        do { try directory.root.unlink(name) } catch .noSuchFile { return } catch {
            throw DiskError(error, "cannot remove \(name)")
        }
    }
}

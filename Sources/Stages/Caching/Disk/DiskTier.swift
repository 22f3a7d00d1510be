internal import Linux
internal import Model

/// The disk tier: bodies and their properties by key, in one directory, within limits.
///
/// Bodies up to `inlineBytesMax` are stored in the index, larger ones in files. Owned by the disk
/// thread; the caller supplies dates. It never throws to its user: a failure is a miss, or a store
/// that is skipped, and the tier is *degraded* until a later retry.
///
/// Killing the process at any time leaves every entry either complete or absent: a file is renamed
/// after it is complete and before its row is committed, and a file is removed before its row. The
/// possible leftovers are a complete file without a row, which the sweep imports, and a row without
/// a file, which is a miss.
final class DiskTier {
    /// Bodies up to this size are stored in the index: below about 20 KB SQLite reads and writes a
    /// blob faster than the file system opens a file (sqlite.org/fasterthanfs.html), and a file
    /// takes at least a block.
    static let inlineBytesMax = 16 * 1024
    /// The overhead of a row in bytes besides key and body: columns, the index on the date, the
    /// key's index.
    static let rowCharge = 512

    let directory: CacheDirectory
    private(set) var policy: DiskPolicy
    let files: BodyFiles
    var index: DiskIndex?
    var nextNumber: Int64 = 1
    /// Uses that are not recorded in the index yet.
    var accesses = AccessBatch()
    /// Work that is done in steps.
    var chores = Chores()

    /// Health and counters; its usage is that of the last report.
    var state = DiskStatus()
    /// The index that was set aside, while its bodies are being imported.
    var salvaging: QuarantinedIndex?
    /// The size of the index's log and of the set-aside indexes when last checked.
    var overhead = 0

    /// Monotonic nanoseconds, for the time limits of steps.
    private let clock: @Sendable () -> UInt64

    /// Opens the tier; starts degraded if that fails.
    init(
        directory: CacheDirectory, policy: DiskPolicy, now: UnixTime,
        clock: @escaping @Sendable () -> UInt64 = MonotonicClock.now
    ) {
        self.directory = directory
        self.clock = clock
        self.policy = policy
        files = BodyFiles(in: directory)
        open(now)
    }

    /// Runs an operation on the disk; a failure degrades the tier and returns `nil`. If the index
    /// turns out to be damaged, it is replaced, and `body` runs again on the new one.
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

    /// Returns whether to attempt writing: the tier is healthy, or the pause after the last failure
    /// is over.
    func isRetryDue(_ now: UnixTime) -> Bool {
        switch state.health {
        case .healthy: true
        case .degraded(_, let retryAt):
            // Setting the clock back must not extend the pause.
            now >= retryAt || retryAt > now.adding(milliseconds: DiskHealth.pause)
        }
    }

    /// Returns the time limit of a step that begins now.
    func stepTime() -> StepTime { StepTime(clock) }

    /// Applies new limits.
    func adopt(_ policy: DiskPolicy, _ now: UnixTime) {
        guard policy != self.policy else { return }
        self.policy = policy
        // The eviction order and the size of the log depend on the policy.
        guard index != nil else { return }
        let before = chores
        index = nil
        open(now)
        chores.keepRemovals(of: before)
    }

    /// Records a failure; sets a damaged index aside and creates a new one. Returns true if that
    /// worked.
    private func fail(_ error: DiskError, _ now: UnixTime) -> Bool {
        guard error.kind == .badIndex else {
            degrade(error, now)
            return false
        }
        replaceIndex(error, now)
        return index != nil
    }

    func degrade(_ error: DiskError, _ now: UnixTime) {
        if case .healthy = state.health {
            state.degradedSince = now
            state.counts.failures += 1
        }
        state.health = .degraded(error, retryAt: now.adding(milliseconds: DiskHealth.pause))
    }
}

/// Whether the disk tier works.
package enum DiskHealth: Sendable, Hashable {
    /// It reads and writes.
    case healthy
    /// It doesn't write, and reads if possible; writing is retried at `retryAt`.
    case degraded(DiskError, retryAt: UnixTime)

    /// The pause after a failure in milliseconds.
    static let pause: Int64 = 5_000

    /// Why it is degraded.
    package var reason: DiskError? {
        switch self {
        case .healthy: nil
        case .degraded(let error, _): error
        }
    }
}

extension DiskTier {
    static let indexName = "index.sqlite"
    /// The maximum number of set-aside indexes; beyond it, the last one is overwritten.
    static let quarantinedMax = 4

    /// Opens the index; sets a damaged one, or one of another version, aside and creates a new one.
    func open(_ now: UnixTime) {
        do {
            try files.prepare()
            do {
                try begin()
            } catch  where error.kind == .badIndex {
                index = nil
                try quarantineIndex(for: error)
                try begin()
            }
            state.health = .healthy
        } catch {
            index = nil
            degrade(error, now)
        }
    }

    /// Sets the open index aside and rebuilds it from the files.
    func replaceIndex(_ reason: DiskError, _ now: UnixTime) {
        index = nil
        do {
            try quarantineIndex(for: reason)
            open(now)
        } catch {
            degrade(error, now)
        }
    }

    /// Starts with an empty index and no files; existing files are removed in steps.
    func clear(_ now: UnixTime) -> Bool {
        do {
            // Files first: without the index they would be imported again.
            try files.prepare()
            try files.discardAll()
            index = nil
            salvaging = nil
            for name in [Self.indexName] + Self.quarantinedNames { try removeIndex(name) }
        } catch {
            degrade(error, now)
            return false
        }
        accesses = AccessBatch()
        open(now)
        return index != nil
    }

    /// Opens the index; numbering continues after all entries and files, and chores restart.
    private func begin() throws(DiskError) {
        try prepareIndex()
        let index = try DiskIndex(Self.indexName, in: directory, policy: policy)
        self.index = index
        state.upgradedFrom = index.upgradedFrom ?? state.upgradedFrom
        let largest = try index.largestNumber()
        // Only a new index doesn't know the files, so their numbers are determined.
        let floor = largest > 0 ? largest : try files.largestNumber()
        nextNumber = max(nextNumber, floor + 1)
        chores = Chores()
        if try index.isSwept() { (chores.knownUpTo, chores.owesSwept) = (largest, false) }
        try beginTrims(index)
    }

    /// Creates the file, whose mode SQLite uses for its log, and restricts existing modes.
    private func prepareIndex() throws(DiskError) {
        try onFiles("cannot open \(Self.indexName)") { () throws(Errno) in
            try directory.prepareFile(Self.indexName)
            for name in [Self.indexName] + Self.quarantinedNames {
                for suffix in ["", "-wal", "-shm"] { try directory.narrow(name + suffix) }
            }
        }
    }

    /// Renames the index to `index.sqlite.bad-<n>`; its log first, so that a kill in between leaves
    /// an index that is still detected as bad. Bodies that only it contains are imported in steps.
    private func quarantineIndex(for reason: DiskError) throws(DiskError) {
        state.rebuilt += 1
        state.quarantineReason = reason
        salvaging = nil
        let taken = try? Set(directory.root.openDirectory(".").entries())
        let name =
            Self.quarantinedNames.first { taken?.contains($0) == false }
            ?? Self.quarantinedNames[Self.quarantinedMax - 1]
        try removeIndex(name)
        for suffix in ["-wal", ""] {
            try rename(Self.indexName + suffix, to: name + suffix)
        }
        try removeFile("\(Self.indexName)-shm")
        salvaging = QuarantinedIndex(name: name, in: directory)
        if salvaging == nil, isTooLarge(name) { try removeIndex(name) }
    }

    static let quarantinedNames = (1...quarantinedMax).map { "\(indexName).bad-\($0)" }

    /// Removes an index with its log, the log first.
    func removeIndex(_ name: String) throws(DiskError) {
        for suffix in ["-wal", "-shm", ""] { try removeFile(name + suffix) }
    }

    private func rename(_ name: String, to newName: String) throws(DiskError) {
        _ = try onFiles("cannot quarantine \(name)", except: .noSuchFile) { () throws(Errno) in
            try directory.root.rename(name, to: newName)
        }
    }

    private func removeFile(_ name: String) throws(DiskError) {
        _ = try onFiles("cannot remove \(name)", except: .noSuchFile) { () throws(Errno) in
            try directory.root.unlink(name)
        }
    }
}

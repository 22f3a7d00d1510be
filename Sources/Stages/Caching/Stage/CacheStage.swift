internal import ImageModel
internal import Linux
internal import Messages
public import StageContract

/// What the cache worker does: answers queries from memory and disk, takes stores, and keeps both
/// tiers within their limits. It knows no bus: jobs go in, actions come out.
///
/// One thread owns it, the bus thread, and never waits in it: the disk has a thread of its own, and
/// so have copies of 1 MiB and more. Their answers are taken by `collect` after `wake`.
public final class CacheStage {
    /// Copies of that many bytes and more are kept off the calling thread (SEMANTICS §14.7);
    /// results of that size may be mapped by their receivers, and are held for them
    /// (SEMANTICS §14.6).
    public static let largeBytes = 1 << 20
    /// Requests that wait for the disk, or for a copy, at most.
    static let requestsMax = 4_096
    /// Uses of memory entries that wait to be noted on the disk at most.
    static let touchesMax = 4_096

    var policy: CachePolicy
    /// Of named caches, as far as theirs says something else.
    var namedPolicies: [String: CachePolicy] = [:]
    /// The limit of the memory tier for which the arena was made.
    let memoryBytesAtStart: Int
    let results: any ResultSpace
    let staging: any OutputSpace
    let source: any PayloadSource
    let heap = HeapSpace()

    var memory: MemoryTier
    /// The bytes of every entry of `memory`.
    var bodies: [BlockID: Body] = [:]
    /// Large bodies that left `memory` and that clients may still have mapped.
    var departing: DepartingBodies
    /// Originals that decoders read.
    var staged: [BlockID: Body] = [:]
    var writeBehind: WriteBehind
    /// Jobs that are answered when a write has ended, by its number.
    var waiters: [UInt64: [StoreWaiter]] = [:]
    var firstUses = FirstUses()
    /// Where caches look for what they do not have themselves, by their names.
    var readOnlyPaths: [String: [String]] = [:]
    /// How these directories are, as of the last answer, and what was found in each.
    var readOnlyStates: [String: ReadOnlyState] = [:]
    var readOnlyHits: [String: UInt64] = [:]
    var isChecking = false
    /// What named caches were asked, by their names.
    var queries: [String: CacheQueries] = [:]
    var touches: Set<String> = []
    /// Keys whose older value is still on the disk, since it could not be removed yet: none of them
    /// is answered from there.
    var outdated: Set<String> = []
    /// Removals of several entries whose walk over the disk is not over, by their jobs.
    var sweeps: [JobID: DiskScan] = [:]

    /// Jobs about several caches.
    var rounds: [JobID: CacheRound] = [:]
    /// What the turns of some of them came to.
    var turnsEnded: [(job: JobID, result: JobResult)] = []

    let inbox: Inbox
    let disk: WorkThread<DiskRequest, DiskAnswer>?
    let copier: WorkThread<CopyRequest, CopyAnswer>
    /// Begun where a cache has such a directory.
    var readOnly: WorkThread<ReadOnlyRequest, ReadOnlyAnswer>?
    /// Whether these threads answer.
    var diskStall = StallDetector()
    var copyStall = StallDetector()
    var readOnlyStall = StallDetector()
    /// Since when the disk does not answer.
    var diskStalledSince: UnixTime?
    /// More keys became outdated while the disk did not answer than are remembered: everything on
    /// it is removed before anything is answered from there again.
    var owesClear = false
    var pending: [UInt64: PendingWork] = [:]
    private var nextTicket: UInt64 = 1
    var isMaintaining = false
    /// Whether the disk lets go of what is over age or over limits by itself: not before it is
    /// known what the configuration sets.
    public var maintains = true
    /// The disk holds to another policy, which found no room in its queue yet.
    var owesPolicy = false
    /// What the clock said at the last tick.
    var lastTick: UnixTime?
    var draining = Draining.no
    var saidDrained = false

    var counts = CacheStatistics()
    private var actions: [CacheAction] = []

    /// A store whose job waits for the disk.
    struct StoreWaiter {
        let job: CacheJob
        var report: StoreReport
    }

    /// How far the end is.
    enum Draining { case no, asked, flushing, done }

    /// Starts the threads. Without a directory there is memory only.
    ///
    /// `wake` is called from other threads and makes the owner call `collect`. The directory is
    /// opened on the disk's thread: queries that come before are answered after.
    public init(
        policy: CachePolicy, directory: CacheDirectory?, results: any ResultSpace,
        staging: any OutputSpace, source: any PayloadSource, now: UnixTime,
        wake: @escaping @Sendable () -> Void
    ) throws(DiskError) {
        self.policy = policy
        memoryBytesAtStart = policy.memoryBytesMax
        self.results = results
        self.staging = staging
        self.source = source
        memory = MemoryTier(costMax: policy.memoryBytesMax, countMax: policy.memoryCountMax)
        departing = DepartingBodies(bytesMax: policy.memoryBytesMax / 4)
        writeBehind = WriteBehind(bytesMax: policy.writeBehindBytesMax)
        let inbox = Inbox(wake: wake)
        self.inbox = inbox
        do {
            copier = try WorkThread(name: "cache-copy", requestsMax: Self.requestsMax) {
                { $0.perform() }
            } deliver: {
                inbox.put(.copy($0))
            }
            disk = try directory.map { (directory) throws(Errno) in
                try Self.diskThread(directory, policy.disk, now, inbox)
            }
        } catch {
            throw DiskError(error, "cannot start a thread")
        }
    }

    private static func diskThread(
        _ directory: CacheDirectory, _ policy: DiskPolicy, _ now: UnixTime, _ inbox: Inbox
    ) throws(Errno) -> WorkThread<DiskRequest, DiskAnswer> {
        try WorkThread(name: "cache-disk", requestsMax: requestsMax, isChore: \.isChore) {
            let tier = DiskTier(directory: directory, policy: policy, now: now)
            return { tier.perform($0) }
        } deliver: {
            inbox.put(.disk($0))
        }
    }

    /// Ends the threads after what they were asked; the last call. Write-behind that was not
    /// drained is lost.
    public func stop() {
        disk?.stop()
        copier.stop()
        readOnly?.stop()
    }

    /// The policy of the cache of which a key is.
    func policy(of key: String?) -> CachePolicy {
        guard let key, !namedPolicies.isEmpty else { return policy }
        return namedPolicies[CacheKey.cache(inStored: key)] ?? policy
    }

    /// Whether entries of such keys are kept on a disk, and it answers.
    func usesDisk(_ key: String?) -> Bool {
        disk != nil && !isDiskAway && policy(of: key).usesDisk
    }

    // MARK: - Actions

    func act(_ action: CacheAction) { actions.append(action) }

    func answer(_ job: CacheJob?, _ result: JobResult) {
        guard let job, !endedTurn(job, result) else { return }
        act(.outcome(job.id, attempt: job.attempt, result))
    }

    func takeActions() -> [CacheAction] {
        defer { actions = [] }
        return actions
    }

    // MARK: - Threads

    /// Asks the disk's thread; false where there is none, it does not answer, or too much waits
    /// there.
    func ask(_ work: DiskWork, _ why: PendingWork, _ now: UnixTime) -> Bool {
        guard let disk, !diskStall.isStalled,
            disk.submit(DiskRequest(ticket: nextTicket, work: work, now: now))
        else { return false }
        pending[nextTicket] = why
        nextTicket += 1
        return true
    }

    /// Asks the thread of the directories in which nothing is changed; false where there is none,
    /// it does not answer, or too much waits there.
    func ask(_ work: ReadOnlyWork, _ why: PendingWork) -> Bool {
        guard let readOnly, !readOnlyStall.isStalled,
            readOnly.submit(ReadOnlyRequest(ticket: nextTicket, work: work))
        else { return false }
        pending[nextTicket] = why
        nextTicket += 1
        return true
    }

    /// Asks for a copy; false where too much waits.
    func ask(copying source: CopySource, into body: Body, for filling: Filling) -> Bool {
        let request = CopyRequest(
            ticket: nextTicket, source: source, target: body, comparand: filling.comparand,
            wantsDigest: filling.wantsDigest)
        guard copier.submit(request) else { return false }
        pending[nextTicket] = .copying(filling, body)
        nextTicket += 1
        return true
    }
}

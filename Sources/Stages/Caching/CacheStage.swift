internal import ImageModel
internal import Linux
public import Messages
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

/// What the owner of a `CacheStage` has to do, in this order.
public enum CacheAction: Sendable, Hashable {
    /// Answer a job; its one answer.
    case outcome(JobID, attempt: UInt32, JobResult)
    /// Tell the coordinator that it may answer a key by itself.
    case stored(StoredNotice)
    /// Tell the coordinator that blocks hold their keys no longer; at most
    /// `MessageLimits.idsMax` of them.
    case evicted([BlockID])
    /// A command of the operator is carried out; `false` where the disk could not do its part.
    case commanded(CacheCommandID, Bool)
    /// Everything is on the disk that was to go there, and no job is left.
    case drained
}

/// Names a command of the operator; chosen by the caller.
public struct CacheCommandID: Sendable, Hashable {
    /// Any number.
    public let value: UInt64

    /// Takes a number.
    public init(_ value: UInt64) { self.value = value }
}

extension CacheStage {
    /// Takes a job; its outcome is among these actions, or among later ones.
    public func perform(_ job: Job, now: UnixTime) -> [CacheAction] {
        let id = CacheJob(id: job.id, attempt: job.attempt)
        if beginRound(id, job.work, now) { return settle(now) }
        switch job.work {
        case .query(let work): query(id, work, now)
        case .store(let work): store(id, work, now)
        case .entry(let work): attendSeveral(id, to: work, now)
        case .fetch, .decode, .transform, .paint:
            let error = ImageError(
                .protocolViolation, "the cache does no \(job.work.kind.name) job")
            answer(id, .failed(error))
        }
        return settle(now)
    }

    /// Ends a job that nobody wants any more: it is answered at once. A store goes on without it.
    public func cancel(_ id: JobID, now: UnixTime) -> [CacheAction] {
        endRound(of: id)
        for (ticket, work) in pending {
            guard let job = work.job, job.id == id else { continue }
            withdraw(ticket, work)
            answer(job, .failed(ImageError(.cancelled, "cancelled")))
        }
        for (number, waiting) in waiters {
            for waiter in waiting where waiter.job.id == id {
                answer(waiter.job, .failed(ImageError(.cancelled, "cancelled")))
            }
            waiters[number] = waiting.filter { $0.job.id != id }
        }
        return settle(now)
    }

    /// Takes the answers of the threads; to be called after `wake`.
    public func collect(now: UnixTime) -> [CacheAction] {
        for answer in inbox.takeAll() {
            switch answer {
            case .copy(let answer): copied(answer, now)
            case .disk(let answer): answered(answer, now)
            case .readOnly(let answer): answered(answer, now)
            }
        }
        return settle(now)
    }

    /// These blocks were used; in batches, late is early enough.
    public func touched(_ blocks: [BlockID]) {
        for block in blocks {
            guard let key = memory.touch(block) else { continue }
            noteUse(key)
            writeWithheld(block)
        }
    }

    /// These blocks have no receiver any more. Unknown ones are ignored.
    public func release(_ blocks: [BlockID], now: UnixTime) -> [CacheAction] {
        for block in blocks where staged.removeValue(forKey: block) == nil {
            departing.release(block)
        }
        return settle(now)
    }

    /// A new life of the coordinator: its predecessor's jobs are not answered, and what only they
    /// had is freed. Entries with keys stay, and so does what is on its way to the disk.
    public func beginEpoch(now: UnixTime) -> [CacheAction] {
        for (ticket, work) in pending where work.job != nil { withdraw(ticket, work) }
        waiters = [:]
        rounds = [:]
        turnsEnded = []
        staged = [:]
        apply(memory.removeKeyless())
        departing.distrust(bodies.values)
        return settle(now)
    }

    /// The passing of time: about once a second. `uptime` is in monotonic nanoseconds.
    public func tick(now: UnixTime, uptime: UInt64? = nil) -> [CacheAction] {
        lookForStalls(now, uptime: uptime ?? MonotonicClock.now())
        if !touches.isEmpty, ask(.touch(Array(touches)), .noting, now) { touches = [] }
        followClock(now)
        tellPolicy(now)
        removeAgain(now)
        checkDirectories()
        maintain(now)
        return settle(now)
    }

    // MARK: - Inside

    /// What follows from any step: further caches have their turns, the next write begins, and
    /// the end may be reached.
    func settle(_ now: UnixTime) -> [CacheAction] {
        if !turnsEnded.isEmpty { goRound(now) }
        pumpWrites(now)
        continueDraining(now)
        return takeActions()
    }

    func maintain(_ now: UnixTime) {
        guard maintains, !isMaintaining, draining == .no else { return }
        isMaintaining = ask(.maintain, .maintaining, now)
    }

    /// A clock that was set back would keep entries of memory until it is there again: what was
    /// left of their time is left of it now.
    private func followClock(_ now: UnixTime) {
        if let last = lastTick, now < last {
            memory.moveExpiries(by: now.milliseconds - last.milliseconds)
        }
        lastTick = now
    }

    private func answered(_ answer: DiskAnswer, _ now: UnixTime) {
        counts.disk = answer.status
        guard let work = pending.removeValue(forKey: answer.ticket) else { return }
        switch (work, answer.result) {
        case (.looking(let job, let query), let result): looked(result, job, query, now)
        case (.reading(let job, let query, let located, let body), .read(let row)):
            didRead(row != nil, row ?? located, body, job, query, now)
        case (.writing(let writes), .written(let results)): didWrite(writes, results, now)
        case (.removing(let key), .removed(false)): outdate(key)
        case (.attending(let job, let work, let tiers), let result):
            attended(job, to: work, inMemory: tiers, result)
        case (.scanning(let job, let work, let page, let scan), .scanned(let step)):
            scanned(step, job, work, page, scan, now)
        case (.trimming(let job, let page, let before), .maintained(let more)):
            trimmed(more, job, page, before: before, now)
        case (.clearing, .removed(let isDone)): owesClear = !isDone
        case (.commanding(let id), .removed(let isDone)): act(.commanded(id, isDone))
        case (.maintaining, .maintained(let more)):
            isMaintaining = false
            if more { maintain(now) }
        case (.flushing, .done): draining = .done
        default: break
        }
    }

    /// Takes a job out of work that is under way: a query is dropped with its bytes, a store goes
    /// on unanswered where something is kept.
    private func withdraw(_ ticket: UInt64, _ work: PendingWork) {
        if case .copying(.store(_, let store, let plan), let body) = work,
            plan.toMemory || plan.toDisk
        {
            pending[ticket] = .copying(.store(nil, store, plan), body)
        } else {
            if let job = work.job { sweeps[job.id] = nil }
            pending[ticket] = nil
        }
    }
}

extension CacheStage {
    /// All entries of the memory tier, for a coordinator that knows none of them.
    public func notices(now: UnixTime) -> [StoredNotice] {
        memory.entries(now: now).compactMap { notice(of: $0, now) }
    }

    /// What the coordinator is told of an entry; `nil` where it has no key, or is outdated.
    func notice(of entry: MemoryEntry, _ now: UnixTime) -> StoredNotice? {
        guard let key = entry.key, !entry.metadata.isOutdated(under: key) else { return nil }
        let left = entry.expires.map { UInt64(max(0, $0.milliseconds - now.milliseconds)) }
        let validity = Validity(entry.metadata)
        var notice = StoredNotice(
            key: key, reference: entry.reference, info: entry.metadata.info,
            expiresInMilliseconds: left, validity: validity == Validity() ? nil : validity)
        notice.digest = entry.metadata.digest
        return notice
    }
}

/// What the cache worker holds and did, for status.
public struct CacheStatistics: Sendable, Hashable {
    /// Entries with a key in the memory tier.
    public var memoryEntries = 0
    /// Bytes of the memory tier and of what is being delivered.
    public var memoryBytes = 0
    /// Bytes that receivers have not released yet.
    public var heldBytes = 0
    /// Blocks staged for decoders.
    public var stagedBlocks = 0
    /// Bodies that wait for the disk.
    public var writeBehindCount = 0
    /// Their bytes.
    public var writeBehindBytes = 0
    /// Stores that skipped the disk since the write-behind was full.
    public var writeBehindSkipped: UInt64 = 0
    /// Stores that the disk did not take.
    public var diskSkipped: UInt64 = 0
    /// Queries answered from memory.
    public var memoryHits: UInt64 = 0
    /// Queries answered from the disk, or on the way there.
    public var diskHits: UInt64 = 0
    /// Queries that found nothing.
    public var misses: UInt64 = 0
    /// Blocks that lost their keys.
    public var evictions: UInt64 = 0
    /// How often the memory tier went down to its low-water mark since memory was short.
    public var memoryShrinks: UInt64 = 0
    /// The limit of the memory tier, bytes.
    public var memoryBytesMax = 0
    /// The limit of its entries; 0 for none.
    public var memoryCountMax = 0
    /// The limit of the disk tier, bytes; 0 for none.
    public var diskBytesMax = 0
    /// The limit of its entries; 0 for none.
    public var diskCountMax = 0
    /// Named caches.
    public var caches: [String: Named] = [:]

    /// What a named cache has, and may have.
    public struct Named: Sendable, Hashable {
        /// In memory.
        public var memory = ShareUsage(entries: 0, bytes: 0)
        /// On the disk, as of about a second ago.
        public var disk = ShareUsage(entries: 0, bytes: 0)
        /// Of its own.
        public var memoryLimits = ShareLimits()
        /// Of its own.
        public var diskLimits = ShareLimits()
        /// What it was asked.
        public var queries = CacheQueries()
        /// Blocks of its memory that lost their keys.
        public var evictions: UInt64 = 0
    }

    /// Where caches look for what they do not have themselves.
    public var directories: [Directory] = []

    /// A directory in which nothing is changed.
    public struct Directory: Sendable, Hashable {
        /// Whose it is; empty: the default cache's.
        public var cache: String
        /// Where it is.
        public var path: String
        /// Why nothing is found there, and what helps; empty where it can be used.
        public var reason: String
        /// Queries that were answered from it.
        public var hits: UInt64
        /// Entries that were not what their index says.
        public var damaged: UInt64
    }

    /// The disk tier as of its last answer; `nil` where there is none, or before the first.
    public var disk: DiskStatus?
}

/// What one named cache was asked, and had; since the process started.
public struct CacheQueries: Sendable, Hashable {
    /// Queries that it answered from memory.
    public var memoryHits: UInt64 = 0
    /// Queries that it answered from the disk.
    public var diskHits: UInt64 = 0
    /// Queries to which it had nothing.
    public var misses: UInt64 = 0

    /// None.
    public init() {}
}

extension CacheStage {
    /// What is held and what was done.
    public var statistics: CacheStatistics {
        var all = counts
        all.memoryEntries = memory.keyedCount
        all.memoryBytes = memory.cost
        all.heldBytes = departing.bytes
        all.stagedBlocks = staged.count
        all.writeBehindCount = writeBehind.count
        all.writeBehindBytes = writeBehind.bytes
        all.writeBehindSkipped = writeBehind.skipped
        all.memoryBytesMax = policy.memoryBytesMax
        all.memoryCountMax = policy.memoryCountMax
        all.diskBytesMax = disk == nil ? 0 : policy.disk.bytesMax
        all.diskCountMax = disk == nil ? 0 : policy.disk.countMax
        all.disk = diskStatus
        all.caches = cacheStatistics
        all.directories = directoryStatistics
        return all
    }

    /// Of named caches that have something, had something, or have limits of their own.
    private var cacheStatistics: [String: CacheStatistics.Named] {
        var all: [String: CacheStatistics.Named] = [:]
        for (name, usage) in memory.usage { all[name, default: .init()].memory = usage }
        for (name, usage) in counts.disk?.caches ?? [:] {
            all[name, default: .init()].disk = ShareUsage(
                entries: usage.entries, bytes: usage.bytes)
        }
        for (name, asked) in queries { all[name, default: .init()].queries = asked }
        for (name, count) in memory.evictions { all[name, default: .init()].evictions = count }
        for (name, own) in namedPolicies {
            all[name, default: .init()].memoryLimits = ShareLimits(
                bytesMax: own.memoryBytesMax, countMax: own.memoryCountMax)
            all[name, default: .init()].diskLimits = ShareLimits(
                bytesMax: own.disk.bytesMax, countMax: own.disk.countMax)
        }
        return all
    }

    /// Counts what a named cache was asked.
    func count(_ key: String, _ change: (inout CacheQueries) -> Void) {
        let name = CacheKey.cache(inStored: key)
        guard !name.isEmpty, queries[name] != nil || queries.count < DiskPolicy.cachesMax else {
            return
        }
        change(&queries[name, default: CacheQueries()])
    }
}

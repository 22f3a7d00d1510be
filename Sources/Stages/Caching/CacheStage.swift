internal import Linux
package import Model

/// The cache worker's logic: answers queries from memory and disk, stores entries, and keeps both
/// tiers within their limits. Independent of the bus: jobs in, actions out.
///
/// Owned by the bus thread, on which it never blocks: the disk and copies of 1 MiB and more have
/// their own threads. After `wake`, `collect` handles their answers.
package final class CacheStage {
    /// Copies of at least this size are not made on the calling thread (SEMANTICS §14.7). Receivers
    /// may map results of at least this size, which are kept for them (SEMANTICS §14.6).
    package static let largeBytes = 1 << 20
    /// The maximum number of requests that wait for the disk or for a copy.
    static let requestsMax = 4_096
    /// The maximum number of memory hits that wait to be recorded on disk.
    static let touchesMax = 4_096

    var policy: CachePolicy
    /// The policies of named caches that differ from the common one.
    var namedPolicies: [String: CachePolicy] = [:]
    /// The limit of the memory tier for which the arena was created.
    let memoryBytesAtStart: Int
    let results: any ResultSpace
    let staging: any OutputSpace
    let source: any PayloadSource
    let heap = HeapSpace()

    var memory: MemoryTier
    /// The bytes of every entry of `memory`.
    var bodies: [BlockID: Body] = [:]
    /// Large bodies evicted from `memory` that clients may still have mapped.
    var departing: DepartingBodies
    /// Originals staged for decoders.
    var staged: [BlockID: Body] = [:]
    var writeBehind: WriteBehind
    /// Jobs to answer when a write has completed, by the number of the write.
    var awaitedStores: [UInt64: [AwaitedStore]] = [:]
    var firstUses = FirstUses()
    /// The read-only directories by cache name, searched after a miss.
    var readOnlyPaths: [String: [String]] = [:]
    /// The state of these directories as of the last answer, and the hits in each.
    var readOnlyStates: [String: ReadOnlyState] = [:]
    var readOnlyHits: [String: UInt64] = [:]
    var isChecking = false
    /// Query counters of named caches, by name.
    var queries: [String: NamedCacheStatus] = [:]
    var touches: Set<String> = []
    /// Keys whose outdated value is still on disk because removing it failed; they are not answered
    /// from there.
    var outdated: Set<String> = []
    /// Removals of several entries that are still scanning the disk, by job.
    var sweeps: [JobID: DiskScan] = [:]

    /// Jobs for several caches.
    var rounds: [JobID: CacheRound] = [:]
    /// Results of individual caches for these jobs, to be processed.
    var turnsEnded: [(job: JobID, result: JobResult)] = []

    let inbox: Inbox
    let disk: WorkThread<DiskRequest, DiskAnswer>?
    let copier: WorkThread<CopyRequest, CopyAnswer>
    /// Started if any cache has a read-only directory.
    var readOnly: WorkThread<ReadOnlyRequest, ReadOnlyAnswer>?
    /// Detectors for threads that don't respond.
    var diskStall = StallDetector()
    var copyStall = StallDetector()
    var readOnlyStall = StallDetector()
    /// Since when the disk has not responded.
    var diskStalledSince: UnixTime?
    /// Whether more keys became outdated during a stall than can be remembered: the whole disk tier
    /// is cleared before it answers again.
    var owesClear = false
    var pending: [UInt64: PendingWork] = [:]
    private(set) var nextTicket: UInt64 = 1
    var isMaintaining = false
    /// Whether the disk removes expired and excess entries by itself; false until the configured
    /// settings are known.
    package var maintains = true
    /// Whether a policy for the disk waits for capacity in its queue.
    var owesPolicy = false
    /// The wall clock at the last tick.
    var lastTick: UnixTime?
    var draining = Draining.no
    var hasReportedDrained = false

    /// Counters since the process started; `status` adds the rest.
    package internal(set) var counts = CacheStatus()
    /// The status of the disk tier as of its last answer; `nil` before the first one.
    var lastDiskStatus: DiskStatus?
    private var actions: [CacheAction] = []

    /// A store whose job waits for the disk.
    struct AwaitedStore {
        let job: CacheJob
        var report: StoreReport
    }

    enum Draining { case no, asked, flushing, done }

    /// Starts the threads. Without a directory there is only memory.
    ///
    /// `wake` is called from other threads and must make the owner call `collect`. The directory is
    /// opened on the disk thread: queries that arrive earlier are answered afterwards.
    package init(
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

    /// Stops the threads after their pending requests; the last call. Write-behind data that was
    /// not drained is lost.
    package func stop() {
        disk?.stop()
        copier.stop()
        readOnly?.stop()
    }

    /// Returns the policy of a key's cache.
    func policy(of key: String?) -> CachePolicy {
        guard let key, !namedPolicies.isEmpty else { return policy }
        return namedPolicies[CacheKey.cache(inStored: key)] ?? policy
    }

    /// Returns whether entries with such keys are kept on a disk that responds.
    func usesDisk(_ key: String?) -> Bool {
        disk != nil && !isDiskAway && policy(of: key).usesDisk
    }

    // MARK: - Actions

    func act(_ action: CacheAction) { actions.append(action) }

    func answer(_ job: CacheJob?, _ result: JobResult) {
        guard let job, !endedTurn(job, result) else { return }
        act(.outcome(job.id, attempt: job.attempt, result))
    }

    func drainActions() -> [CacheAction] {
        defer { actions = [] }
        return actions
    }

    // MARK: - Threads

    /// Submits work to the disk thread. Returns false if there is none, it doesn't respond, or its
    /// queue is full.
    func ask(_ work: DiskWork, _ why: PendingWork, _ now: UnixTime) -> Bool {
        guard let disk, !diskStall.isStalled else { return false }
        let request = DiskRequest(ticket: nextTicket, work: work, now: now)
        return expect(why, disk.submit(request))
    }

    /// Submits work to the thread for read-only directories. Returns false if there is none, it
    /// doesn't respond, or its queue is full.
    func ask(_ work: ReadOnlyWork, _ why: PendingWork) -> Bool {
        guard let readOnly, !readOnlyStall.isStalled else { return false }
        let request = ReadOnlyRequest(ticket: nextTicket, work: work)
        return expect(why, readOnly.submit(request))
    }

    /// Notes what waits for the request of the next ticket, if it was accepted.
    func expect(_ why: PendingWork, _ isAccepted: Bool) -> Bool {
        guard isAccepted else { return false }
        pending[nextTicket] = why
        nextTicket += 1
        return true
    }
}

/// An action for the owner of a `CacheStage`, to be executed in order.
package enum CacheAction: Sendable, Hashable {
    /// Send the outcome of a job; exactly one per job.
    case outcome(JobID, attempt: UInt32, JobResult)
    /// Notify the coordinator that it may answer a key itself.
    case stored(StoredNotice)
    /// Notify the coordinator that blocks no longer have their keys; at most `MessageLimits.idsMax`
    /// blocks.
    case evicted([BlockID])
    /// All pending data is on disk, and no jobs are left.
    case drained
}

extension CacheStage {
    /// Executes a job; its outcome is among these or later actions.
    package func perform(_ job: Job, now: UnixTime) -> [CacheAction] {
        let id = CacheJob(id: job.id, attempt: job.attempt)
        if beginRound(id, job.work, now) { return settle(now) }
        switch job.work {
        case .query(let work): query(id, work, now)
        case .store(let work): store(id, work, now)
        case .entry(let work): performEntryWork(id, work, now)
        case .fetch, .decode, .transform, .paint:
            let error = ImageError(
                .protocolViolation, "the cache does not support \(job.work.kind.name) jobs")
            answer(id, .failed(error))
        }
        return settle(now)
    }

    /// Cancels a job, which is answered immediately. A store continues without it.
    package func cancel(_ id: JobID, now: UnixTime) -> [CacheAction] {
        endRound(of: id)
        for (ticket, work) in pending {
            guard let job = work.job, job.id == id else { continue }
            withdraw(ticket, work)
            answer(job, .failed(ImageError(.cancelled, "cancelled")))
        }
        for (number, waiting) in awaitedStores {
            for store in waiting where store.job.id == id {
                answer(store.job, .failed(ImageError(.cancelled, "cancelled")))
            }
            awaitedStores[number] = waiting.filter { $0.job.id != id }
        }
        return settle(now)
    }

    /// Handles the answers of the threads; must be called after `wake`.
    package func collect(now: UnixTime) -> [CacheAction] {
        for answer in inbox.removeAll() {
            switch answer {
            case .copy(let answer): copied(answer, now)
            case .disk(let answer): answered(answer, now)
            case .readOnly(let answer): answered(answer, now)
            }
        }
        return settle(now)
    }

    /// Marks blocks as used. Calls may be batched and delayed.
    package func touched(_ blocks: [BlockID]) {
        for block in blocks {
            guard let key = memory.touch(block) else { continue }
            noteUse(key)
            writeWithheld(block)
        }
    }

    /// Handles blocks that no longer have a receiver. Unknown IDs are ignored.
    package func release(_ blocks: [BlockID], now: UnixTime) -> [CacheAction] {
        for block in blocks where staged.removeValue(forKey: block) == nil {
            departing.release(block)
        }
        return settle(now)
    }

    /// Begins a session with a new coordinator: jobs of the previous one are not answered, and
    /// resources that only they used are freed. Entries with keys and pending disk writes stay.
    package func beginEpoch(now: UnixTime) -> [CacheAction] {
        for (ticket, work) in pending where work.job != nil { withdraw(ticket, work) }
        awaitedStores = [:]
        rounds = [:]
        turnsEnded = []
        staged = [:]
        apply(memory.removeKeyless())
        departing.distrust(bodies.values)
        return settle(now)
    }

    /// Handles the passing of time; called about once a second. `uptime` is in monotonic
    /// nanoseconds.
    package func tick(now: UnixTime, uptime: UInt64? = nil) -> [CacheAction] {
        lookForStalls(now, uptime: uptime ?? MonotonicClock.now())
        if !touches.isEmpty, ask(.touch(Array(touches)), .noting, now) { touches = [] }
        followClock(now)
        notifyPolicy(now)
        removeAgain(now)
        checkDirectories()
        maintain(now)
        return settle(now)
    }

    // MARK: - Internal

    /// Performs the follow-up of every step: continues rounds, starts the next writes and checks
    /// whether draining is complete.
    func settle(_ now: UnixTime) -> [CacheAction] {
        if !turnsEnded.isEmpty { goRound(now) }
        pumpWrites(now)
        continueDraining(now)
        return drainActions()
    }

    func maintain(_ now: UnixTime) {
        guard maintains, !isMaintaining, draining == .no else { return }
        isMaintaining = ask(.maintain, .maintaining, now)
    }

    /// Adjusts the expiry of memory entries when the wall clock is set back, so that their
    /// remaining time stays the same.
    private func followClock(_ now: UnixTime) {
        if let last = lastTick, now < last {
            memory.moveExpiries(by: now.milliseconds - last.milliseconds)
        }
        lastTick = now
    }

    private func answered(_ answer: DiskAnswer, _ now: UnixTime) {
        lastDiskStatus = answer.status
        guard let work = pending.removeValue(forKey: answer.ticket) else { return }
        switch (work, answer.result) {
        case (.query(let job, let query, .looking), let result): looked(result, job, query, now)
        case (.query(let job, let query, .reading(let located, let body)), .read(let row)):
            didRead(row != nil, row ?? located, body, job, query, now)
        case (.writing(let writes), .written(let results)): didWrite(writes, results, now)
        case (.removing(let key), .removed(false)): outdate(key)
        case (.entryWork(let job, let work, let tiers), let result):
            finishOnEntry(job, work, inMemory: tiers, result)
        case (.scanning(let job, let work, let page, let scan), .scanned(let step)):
            scanned(step, job, work, page, scan, now)
        case (.trimming(let job, let page, let before), .maintained(let more)):
            trimmed(more, job, page, before: before, now)
        case (.clearing, .removed(let isDone)): owesClear = !isDone
        case (.maintaining, .maintained(let more)):
            isMaintaining = false
            if more { maintain(now) }
        case (.flushing, .done): draining = .done
        default: break
        }
    }

    /// Removes a job from work in progress: a query is dropped with its bytes, a store continues
    /// unanswered if its body is kept.
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
    /// Returns notices for all entries of the memory tier, for a new coordinator.
    package func notices(now: UnixTime) -> [StoredNotice] {
        memory.entries(now: now).compactMap { notice(of: $0, now) }
    }

    /// Returns the notice for an entry; `nil` if it has no key or is outdated.
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

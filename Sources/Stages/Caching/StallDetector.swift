internal import Linux
internal import Model

/// Detects a stalled disk thread from the start of its current operation.
///
/// A stalled thread gets no requests until it has completed all pending ones. If the disk stalls
/// again soon after, the pause doubles each time, so that clients don't wait for each of its slow
/// operations. Times are monotonic nanoseconds supplied by the caller.
struct StallDetector: Sendable {
    /// The result of a check.
    enum Change: Hashable { case stalled, recovered }

    /// The maximum duration of an operation: far longer than on a working disk, and shorter than
    /// client timeouts.
    static let limit: UInt64 = 5_000_000_000
    /// The minimum and maximum pause of a disk that has stalled twice.
    static let pauses: ClosedRange<UInt64> = 5_000_000_000...60_000_000_000
    /// How long a disk must work until earlier stalls are forgotten.
    static let probation: UInt64 = 60_000_000_000

    /// The start of the operation that stalled.
    private(set) var stalledSince: UInt64?
    /// The number of stalls so far.
    private(set) var count: UInt64 = 0
    private var idleSince: UInt64?
    private var recovered: UInt64?
    private var pause: UInt64 = 0

    var isStalled: Bool { stalledSince != nil }

    /// Checks the thread at `now`: `busySince` is the start of its current operation, `nil` if it
    /// is idle.
    mutating func look(busySince: UInt64?, now: UInt64) -> Change? {
        guard isStalled else {
            guard let busySince, now >= busySince, now - busySince >= Self.limit else { return nil }
            (stalledSince, idleSince) = (busySince, nil)
            count += 1
            pause = nextPause(now)
            return .stalled
        }
        guard busySince == nil else {
            idleSince = nil
            return nil
        }
        let idle = idleSince ?? now
        idleSince = idle
        guard now - idle >= pause else { return nil }
        (stalledSince, recovered) = (nil, now)
        return .recovered
    }

    private func nextPause(_ now: UInt64) -> UInt64 {
        guard let recovered, now - recovered < Self.limit + Self.probation else { return 0 }
        return min(max(pause * 2, Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}

// Stalled disks (SEMANTICS §5.15): loads continue without them.
//
// A thread that hangs in the kernel can't be stopped, so nothing waits for it: waiting jobs are
// answered without the disk, and no new requests are submitted until the thread has completed all
// pending ones. Queued writes are kept meanwhile, as are the keys that the disk must no longer
// answer.
extension CacheStage {
    /// Whether the disk gets no requests, because it is stalled or must be cleared first.
    var isDiskAway: Bool { diskStall.isStalled || owesClear }

    /// Whether a copy in memory has taken so long that the process must be replaced.
    package var isCopyStalled: Bool { copyStall.isStalled }

    /// Checks whether the threads respond; `uptime` in monotonic nanoseconds.
    func lookForStalls(_ now: UnixTime, uptime: UInt64) {
        _ = copyStall.look(busySince: copier.busySince, now: uptime)
        if let disk {
            switch diskStall.look(busySince: disk.busySince, now: uptime) {
            case .stalled: leaveDisk(disk, now)
            case .recovered: diskStalledSince = nil
            case nil: break
            }
            if owesClear, !diskStall.isStalled, !pending.values.contains(where: \.isClearing) {
                clearOutdated(now)
            }
        }
        if let readOnly,
            readOnlyStall.look(busySince: readOnly.busySince, now: uptime) == .stalled
        {
            leaveDirectories(readOnly)
        }
    }

    // MARK: - The disk tier

    /// The status of the disk: its last report, or a stall; `nil` if there is none, or before the
    /// first report.
    package var diskStatus: DiskStatus? {
        guard let since = diskStalledSince else { return lastDiskStatus.map(withStalls) }
        var status = withStalls(lastDiskStatus ?? DiskStatus())
        let text = "an operation does not complete: check the disk of --cache-dir"
        status.health = .degraded(DiskError(.stalled, text), retryAt: since)
        status.degradedSince = status.degradedSince ?? since
        return status
    }

    private func withStalls(_ status: DiskStatus) -> DiskStatus {
        var status = status
        status.counts.failures += diskStall.count
        return status
    }

    /// Answers all jobs that wait for the disk without it. Changes stay in its queue and are
    /// executed in order when it recovers.
    private func leaveDisk(_ disk: WorkThread<DiskRequest, DiskAnswer>, _ now: UnixTime) {
        diskStalledSince = now
        disk.withdraw(where: \.isQuestion)
        for (ticket, work) in pending.sorted(by: { $0.key < $1.key }) where work.isOnDisk {
            leaveDisk(ticket, work, now)
        }
        for number in Array(awaitedStores.keys) { endWaiting(number, skipped: Self.diskStalled) }
    }

    private func leaveDisk(_ ticket: UInt64, _ work: PendingWork, _ now: UnixTime) {
        switch work {
        case .query(let job, let query, _):
            pending[ticket] = nil
            lookFurther(job, query, now)
        case .entryWork(let job, let work, let tiers):
            pending[ticket] = work.action == .remove ? .removing(work.key) : .noting
            performWithoutDisk(job, work, inMemory: tiers)
        case .scanning(let job, _, _, _), .trimming(let job, _, _):
            pending[ticket] = .noting
            sweeps[job.id] = nil
            answer(job, .failed(Self.diskFails))
        case .flushing: draining = .done
        case .writing, .removing, .clearing, .maintaining, .noting, .checking, .copying: break
        }
    }

    /// Looks up an entry in memory only, or reports that a removal is delayed.
    func performWithoutDisk(_ job: CacheJob, _ work: EntryWork, inMemory: CacheTypes) {
        guard work.action != .contains else { return answer(job, .entry(inMemory)) }
        // Removed when the disk recovers; until then it isn't answered from there.
        if work.action == .remove { outdate(work.key) }
        answer(job, .failed(Self.diskFails))
    }

    private func clearOutdated(_ now: UnixTime) {
        // The queue is ordered: everything earlier is cleared, and nothing overtakes it.
        if ask(.clear, .clearing, now) { outdated = [] }
    }

    static let diskStalled = "disk: not responding"

    // MARK: - Read-only directories

    private func leaveDirectories(_ thread: WorkThread<ReadOnlyRequest, ReadOnlyAnswer>) {
        thread.withdraw(where: \.isQuestion)
        for (ticket, work) in pending.sorted(by: { $0.key < $1.key }) {
            guard case .query(let job, let query, let step) = work, !step.isOnDisk else { continue }
            pending[ticket] = nil
            miss(job, query)
        }
    }
}

extension PendingWork {
    fileprivate var isClearing: Bool {
        if case .clearing = self { true } else { false }
    }
}

internal import ImageModel
internal import Linux
internal import Messages

/// Decides whether the thread of a disk is stalled, from when its current operation began.
///
/// A stalled thread is left alone until it has done everything that it was asked. A disk that
/// stalls again soon after that is left alone for longer each time, so that clients do not wait
/// for each of its slow operations. Times are monotonic nanoseconds, which the caller passes in.
struct StallDetector: Sendable {
    /// What a look found out.
    enum Change: Hashable { case stalled, recovered }

    /// How long an operation may take: far longer than on a disk that works, and shorter than
    /// clients wait.
    static let limit: UInt64 = 5_000_000_000
    /// How long a disk that stalled twice is left alone at least, and at most.
    static let pauses: ClosedRange<UInt64> = 5_000_000_000...60_000_000_000
    /// How long a disk has to work until an earlier stall no longer counts.
    static let probation: UInt64 = 60_000_000_000

    /// When the operation began that does not end.
    private(set) var stalledSince: UInt64?
    /// Stalls so far.
    private(set) var count: UInt64 = 0
    private var idleSince: UInt64?
    private var recovered: UInt64?
    private var pause: UInt64 = 0

    var isStalled: Bool { stalledSince != nil }

    /// Takes what the thread does at `now`: `busySince` is when its current operation began; `nil`
    /// if it has nothing to do.
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

// Disks that do not answer (SEMANTICS §5.15): loads go on without them.
//
// A thread that hangs in the kernel cannot be ended, so nobody waits for it: whoever waits is
// answered without the disk, and nothing more is asked until the thread has done all that it was
// asked. What waits for the disk is kept meanwhile, and so is what it must no longer answer.
extension CacheStage {
    /// Whether nothing is asked of the disk, since it does not answer or has to be cleared first.
    var isDiskAway: Bool { diskStall.isStalled || owesClear }

    /// Whether a copy between memories has not ended for so long that only another process helps.
    public var isCopyStalled: Bool { copyStall.isStalled }

    /// Looks whether the threads answer; `uptime` in monotonic nanoseconds.
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

    /// The status of the disk: what it last said of itself, unless it does not answer.
    var diskStatus: DiskStatus? {
        guard let since = diskStalledSince else { return counts.disk.map(withStalls) }
        var status = withStalls(counts.disk ?? .unknown)
        let text = "an operation does not end: check the disk under --cache-dir"
        status.health = .degraded(DiskError(.stalled, text), retryAt: since)
        status.degradedSince = status.degradedSince ?? since
        return status
    }

    private func withStalls(_ status: DiskStatus) -> DiskStatus {
        var status = status
        status.counts.failures += diskStall.count
        return status
    }

    /// Answers everybody who waits for the disk without it. What changes something stays in its
    /// queue: the disk does it in order when it answers again.
    private func leaveDisk(_ disk: WorkThread<DiskRequest, DiskAnswer>, _ now: UnixTime) {
        diskStalledSince = now
        disk.withdraw(where: \.isQuestion)
        for (ticket, work) in pending.sorted(by: { $0.key < $1.key }) where work.isOnDisk {
            leaveDisk(ticket, work, now)
        }
        for number in Array(waiters.keys) { endWaiting(number, skipped: Self.diskStalled) }
    }

    private func leaveDisk(_ ticket: UInt64, _ work: PendingWork, _ now: UnixTime) {
        switch work {
        case .looking(let job, let query), .reading(let job, let query, _, _):
            pending[ticket] = nil
            lookFurther(job, query, now)
        case .attending(let job, let work, let tiers):
            pending[ticket] = work.action == .remove ? .removing(work.key) : .noting
            attendWithoutDisk(job, to: work, inMemory: tiers)
        case .scanning(let job, _, _, _), .trimming(let job, _, _):
            pending[ticket] = .noting
            sweeps[job.id] = nil
            answer(job, .failed(Self.diskFails))
        case .commanding(let id):
            pending[ticket] = .noting
            act(.commanded(id, false))
        case .flushing: draining = .done
        case .writing, .removing, .clearing, .maintaining, .noting: break
        case .lookingFurther, .readingFurther, .checking, .copying: break
        }
    }

    /// Looks for an entry in memory alone, or says that it cannot be removed yet.
    func attendWithoutDisk(_ job: CacheJob, to work: EntryWork, inMemory: CacheTypes) {
        guard work.action != .contains else { return answer(job, .entry(inMemory)) }
        // Removed when the disk answers again; until then nothing is answered from it.
        if work.action == .remove { outdate(work.key) }
        answer(job, .failed(Self.diskFails))
    }

    private func clearOutdated(_ now: UnixTime) {
        // Nothing of before is left behind it, and nothing comes there before.
        if ask(.clear, .clearing, now) { outdated = [] }
    }

    static let diskStalled = "disk: it does not answer"

    // MARK: - Read-only directories

    private func leaveDirectories(_ thread: WorkThread<ReadOnlyRequest, ReadOnlyAnswer>) {
        thread.withdraw(where: \.isQuestion)
        for (ticket, work) in pending.sorted(by: { $0.key < $1.key }) {
            switch work {
            case .lookingFurther(let job, let query), .readingFurther(let job, let query, _, _):
                pending[ticket] = nil
                miss(job, query)
            default: break
            }
        }
    }
}

extension PendingWork {
    fileprivate var isClearing: Bool {
        if case .clearing = self { true } else { false }
    }
}

extension DiskStatus {
    /// Before the first answer.
    fileprivate static var unknown: DiskStatus {
        DiskStatus(
            health: .healthy, usage: nil, damaged: 0, rebuilt: 0, setAsideReason: nil,
            upgradedFrom: nil, degradedSince: nil, counts: DiskCounts(), caches: [:])
    }
}

import Caching
import Linux
import Model
import ProcessRuntime

extension Arena: ResultSpace {}
extension BlockCopier: PayloadSource {}

/// Connects the cache stage to the bus: passes jobs in and sends the resulting actions.
final class CacheExecutor: JobExecutor {
    private let stage: CacheStage
    /// The policy from the options of `serve`.
    private let policyAtStart: CachePolicy
    /// The most recent settings from the configuration.
    private var settings: [NamedCacheSettings] = []
    private let staging: Arena
    private let results: Arena
    private let reporter: WorkerReporter
    /// When each job began, for its timing.
    private var began: [JobID: Instant] = [:]
    private let log: Log
    /// Why there is no disk tier although one is configured.
    private let diskError: String?
    private let hasDisk: Bool
    private var watch = DiskWatch()
    private var directories = DirectoryWatch()
    private var reportedStatus: CacheStatus?
    private var shortage = MemoryShortage()
    private let memory: MemoryFiles

    /// The number of concurrent queries and stores; the stage itself limits what waits for the
    /// disk.
    let credit = WorkerKind.cache.creditMax
    let needsHardCancel = false

    init(
        policy: CachePolicy, disk: CacheDisk, results: Arena, staging: Arena,
        memory: MemoryFiles, directories: SegmentDirectories, reporter: WorkerReporter, log: Log
    ) throws {
        self.log = log
        policyAtStart = policy
        self.memory = memory
        diskError = disk.fault
        hasDisk = disk.directory != nil
        self.staging = staging
        self.results = results
        self.reporter = reporter
        stage = try CacheStage(
            policy: policy, directory: disk.directory, results: results, staging: staging,
            source: BlockCopier(directories: directories),
            now: Self.now, wake: { reporter.attend() })
        stage.maintains = false
    }

    func start(_ job: Job) {
        began[job.id] = .now()
        report(stage.perform(job, now: Self.now))
    }

    func cancel(_ id: JobID) { report(stage.cancel(id, now: Self.now)) }

    func release(_ blocks: [BlockID]) { report(stage.release(blocks, now: Self.now)) }

    func touched(_ blocks: [BlockID]) { stage.touched(blocks) }

    /// Applies settings from the configuration, which override the options.
    func adopt(_ settings: [NamedCacheSettings]) {
        stage.maintains = true
        guard settings != self.settings else { return }
        self.settings = settings
        var policy = policyAtStart
        for cache in settings where cache.name.isEmpty { policy.apply(cache.settings) }
        var named: [String: CachePolicy] = [:]
        for cache in settings where !cache.name.isEmpty {
            named[cache.name] = policy.named(cache.settings)
        }
        if policy.memoryBytesMax > policyAtStart.memoryBytesMax {
            log.warning(
                "raising memory-limit requires a restart of the cache",
                ["bytes": LogValue(UInt64(policyAtStart.memoryBytesMax))])
        }
        log.info("cache settings applied", ["caches": LogValue(UInt64(settings.count))])
        let directories = settings.reduce(into: [:]) { $0[$1.name] = $1.readOnly }
        report(stage.adopt(policy, named: named, readOnly: directories, now: Self.now))
    }

    func announcements() -> [WorkerMessage] {
        let notices = stage.notices(now: Self.now).map { WorkerMessage.stored($0) }
        guard isStatusKnown else { return notices }
        let status = status
        reportedStatus = status
        return notices + [.cacheStatus(status)]
    }

    func abandon() {
        began.removeAll()
        report(stage.beginEpoch(now: Self.now))
    }

    /// Releases staged blocks. Blocks in `results/` stay: each has a key or will be evicted.
    func discard(_ reference: BlockReference) {
        if reference.arena == .stage { release([reference.block]) }
    }

    func flush() { report(stage.drain(now: Self.now)) }

    /// Sends the first status as soon as the disk has answered.
    func attend() {
        report(stage.collect(now: Self.now))
        if reportedStatus == nil { notifyStatus() }
    }

    func tick() {
        report(stage.tick(now: Self.now))
        lookAtMemory()
        if let disk = stage.diskStatus { watch.look(at: disk, log) }
        directories.look(at: stage.directoryStatuses, log)
        notifyStatus()
    }

    /// Reports a stall if copying hangs: copies are between memory regions, so results can't be
    /// delivered, and another process has to take over. A hanging disk is bypassed instead.
    func heartbeat() -> ExecutorHeartbeat { stage.isCopyStalled ? .stands(at: nil) : .beats }

    private func notifyStatus() {
        guard isStatusKnown else { return }
        let status = status
        guard status != reportedStatus else { return }
        reportedStatus = status
        reporter.send(.cacheStatus(status))
    }

    /// Shrinks the memory tier under memory pressure, before the kernel reclaims memory.
    private func lookAtMemory() {
        let now = Self.now
        guard let reason = shortage.reason(memory.supply, now: now) else { return }
        let shrinks = stage.counts.memoryShrinks
        report(stage.shrinkMemory(now: now))
        guard stage.counts.memoryShrinks > shrinks else { return }
        log.warning(
            "memory pressure: trimming the memory tier to its low-water mark",
            ["reason": .string(reason)])
    }

    /// Whether the status is complete. Until an existing disk has answered, the status would look
    /// as if there were none.
    private var isStatusKnown: Bool { !hasDisk || stage.diskStatus != nil }

    private var status: CacheStatus { stage.status(fault: diskError) }

    private func report(_ actions: [CacheAction]) {
        for action in actions {
            switch action {
            case .outcome(let id, let attempt, let result): finish(id, attempt, result)
            case .stored(let notice): reporter.send(.stored(notice))
            case .evicted(let blocks): reporter.send(.evicted(blocks))
            case .drained: endWriting()
            }
        }
    }

    private func endWriting() {
        let lost = stage.pendingWrites
        if lost > 0 {
            log.warning(
                "the disk is not responding; pending stores are lost",
                ["count": LogValue(UInt64(lost))])
        }
        reporter.flushed()
    }

    private func finish(_ id: JobID, _ attempt: UInt32, _ result: JobResult) {
        let start = began.removeValue(forKey: id) ?? .now()
        let spent = (Instant.now().nanoseconds - start.nanoseconds) / 1000
        reporter.finish(
            JobOutcome(id: id, attempt: attempt, result: result, workMicroseconds: spent))
    }

    private static var now: UnixTime {
        UnixTime(milliseconds: WallClock.nanoseconds() / 1_000_000)
    }
}

/// Logs when the disk fails, when it recovers, and what was lost, once per change.
struct DiskWatch {
    private var reason: String?
    private var damaged = 0
    private var rebuilt = 0
    private var upgradedFrom: Int64?

    /// Checks the current state of the disk.
    mutating func look(at disk: DiskStatus, _ log: Log) {
        let reason = disk.health.reason?.description
        // The reason contains numbers of bytes and names that differ between attempts, so it isn't
        // compared.
        if self.reason == nil, let reason {
            log.warning(
                "disk cache failed; retrying, memory tier remains available",
                ["reason": .string(reason)])
        } else if self.reason != nil, reason == nil {
            log.info("disk cache recovered", [:])
        }
        self.reason = reason
        if disk.rebuilt > rebuilt {
            log.warning(
                "disk cache index quarantined; rebuilding",
                ["reason": .string(disk.quarantineReason?.description ?? "")])
        }
        if let version = disk.upgradedFrom, version != upgradedFrom {
            log.info(
                "disk cache index upgraded",
                ["from": LogValue(UInt64(clamping: version))])
        }
        if disk.damaged > damaged {
            log.warning(
                "removed damaged entries from the disk cache",
                ["count": LogValue(UInt64(disk.damaged - damaged))])
        }
        (damaged, rebuilt, upgradedFrom) = (disk.damaged, disk.rebuilt, disk.upgradedFrom)
    }
}

/// Logs when a read-only directory becomes unusable and when it is usable again, once per change.
struct DirectoryWatch {
    private var reasons: [String: String] = [:]

    /// Checks the current state of the directories.
    mutating func look(at directories: [ReadOnlyDirectory], _ log: Log) {
        var now: [String: String] = [:]
        for directory in directories { now[directory.path] = directory.reason }
        for (path, reason) in now.sorted(by: { $0.key < $1.key }) where reasons[path] != reason {
            if !reason.isEmpty {
                log.warning(
                    "read-only directory unusable; continuing without it",
                    ["directory": .string(path), "reason": .string(reason)])
            } else {
                log.info(
                    "read-only directory usable", ["directory": .string(path)])
            }
        }
        reasons = now
    }
}

/// The state of the stack as known to the coordinator.
public struct StatusReport: Hashable, Sendable {
    /// All processes, the coordinator first.
    public var processes: [ProcessStatus] = []
    /// All sockets of the coordinator.
    public var sockets: [SocketStatus] = []
    /// Counters by name, such as `requests`, `hits`, `fetches`.
    public var counters: [Counter] = []
    /// Milliseconds since the coordinator started.
    public var uptimeMilliseconds: UInt64 = 0
    /// How long canceled jobs occupied their workers, by stage.
    public var cancellations: [Cancellations] = []
    /// Load and latency of each stage.
    public var stages: [StageStatus] = []
    /// The latency of requests from admission to reply, excluding hits in the coordinator's index,
    /// which take no time.
    public var requests = LatencyHistogram()
    /// Usage and disk state of the cache processes.
    public var caches: [CacheStatus] = []
    /// All worker pools.
    public var pools: [PoolStatus] = []
    /// The durations of transfer phases; only those that occurred.
    public var transfers: [TransferTimes] = []
    /// Clients that are programs of the stack, such as gateways.
    public var fronts: [FrontStatus] = []
    /// Hosts whose certificates are exempt from verification by rules (SEMANTICS §10.22).
    public var unverifiedHosts: [String] = []

    /// Creates an empty report.
    public init() {}

    /// The state of a process.
    public struct ProcessStatus: Hashable, Sendable {
        /// The kind.
        public var kind: WorkerKind
        /// The process ID.
        public var pid: UInt32
        /// `ready`, `busy` or `draining`.
        public var state: String
        /// The number of restarts by its supervisor.
        public var restarts: UInt32
        /// The number of jobs it holds.
        public var jobs: UInt32
        /// The active sandbox layers that it reported.
        public var sandbox: SandboxLayers
        /// The maximum number of concurrent jobs.
        public var credit: UInt32
        /// The pool.
        public var pool: PoolName

        /// Creates a process state; by default in the built-in pool of its kind.
        public init(
            kind: WorkerKind, pid: UInt32, state: String, restarts: UInt32, jobs: UInt32,
            sandbox: SandboxLayers = [], credit: UInt32 = 0, pool: PoolName? = nil
        ) {
            self.pool = pool ?? PoolName(kind)
            self.kind = kind
            self.pid = pid
            self.state = state
            self.restarts = restarts
            self.jobs = jobs
            self.sandbox = sandbox
            self.credit = credit
        }
    }

    /// A client that is a program of the stack.
    public struct FrontStatus: Hashable, Sendable {
        /// Its description of itself.
        public var process: FrontProcess
        /// The process ID.
        public var pid: UInt32

        /// Creates a front state.
        public init(process: FrontProcess, pid: UInt32) {
            (self.process, self.pid) = (process, pid)
        }
    }

    /// The state of a stage.
    public struct StageStatus: Hashable, Sendable {
        /// `store`, `query`, `fetch`, `decode` or `transform`.
        public var stage: String
        /// The number of queued jobs.
        public var queued: UInt64
        /// Their total cost, in the unit of the stage (SEMANTICS §9.2).
        public var queuedCost: UInt64
        /// The number of jobs assigned to workers.
        public var running: UInt64
        /// How long jobs were queued.
        public var waits: LatencyHistogram
        /// How long jobs ran, as reported by the workers.
        public var works: LatencyHistogram

        /// Creates a stage state.
        public init(
            stage: String, queued: UInt64, queuedCost: UInt64, running: UInt64,
            waits: LatencyHistogram, works: LatencyHistogram
        ) {
            self.stage = stage
            self.queued = queued
            self.queuedCost = queuedCost
            self.running = running
            self.waits = waits
            self.works = works
        }
    }

    /// The state of a worker pool.
    public struct PoolStatus: Hashable, Sendable {
        /// The name.
        public var name: PoolName
        /// The kind of its workers.
        public var kind: WorkerKind
        /// Whether its workers are plug-ins.
        public var isExternal: Bool
        /// The number of connected workers.
        public var workers: UInt32
        /// The number of jobs they hold.
        public var jobs: UInt32
        /// The maximum number of concurrent jobs.
        public var credit: UInt32
        /// The number of jobs queued for them.
        public var queued: UInt64
        /// The bytes of their output in use.
        public var outputBytes: UInt64
        /// Whether its grant is so narrow that it receives no jobs and needs no worker.
        public var getsNoJob: Bool

        /// Creates a pool state.
        public init(
            name: PoolName, kind: WorkerKind, isExternal: Bool, workers: UInt32, jobs: UInt32,
            credit: UInt32, queued: UInt64, outputBytes: UInt64, getsNoJob: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.isExternal = isExternal
            self.workers = workers
            self.jobs = jobs
            self.credit = credit
            self.queued = queued
            self.outputBytes = outputBytes
            self.getsNoJob = getsNoJob
        }
    }

    /// The counters of a socket of the coordinator.
    public struct SocketStatus: Hashable, Sendable {
        /// The directory, such as `front` or `back/cache`.
        public var name: String
        /// Messages received.
        public var messagesReceived: UInt64
        /// Messages sent.
        public var messagesSent: UInt64
        /// Bytes received, in all frames.
        public var bytesReceived: UInt64
        /// Bytes sent, in all frames.
        public var bytesSent: UInt64
        /// The size of the largest message in either direction, in bytes.
        public var largestMessage: UInt64

        /// Creates socket counters.
        public init(
            name: String, messagesReceived: UInt64, messagesSent: UInt64, bytesReceived: UInt64,
            bytesSent: UInt64, largestMessage: UInt64
        ) {
            self.name = name
            self.messagesReceived = messagesReceived
            self.messagesSent = messagesSent
            self.bytesReceived = bytesReceived
            self.bytesSent = bytesSent
            self.largestMessage = largestMessage
        }
    }

    /// The time from `CancelJob` until the worker was free again, for one stage.
    public struct Cancellations: Hashable, Sendable {
        /// The stage: `fetch`, `query`, `decode`, `transform` or `store`.
        public var stage: String
        /// The number of cancellations that terminated the process because native code did not
        /// respond.
        public var hard: UInt64
        /// All cancellations; a hard one lasts until the replacement process is ready.
        public var durations: LatencyHistogram

        /// Creates cancellation counters.
        public init(stage: String, hard: UInt64, durations: LatencyHistogram) {
            self.stage = stage
            self.hard = hard
            self.durations = durations
        }
    }

    /// The durations of one phase of transfers.
    public struct TransferTimes: Hashable, Sendable {
        /// The phase: `name`, `connect`, `tls`, `firstByte` or `total`.
        public var phase: String
        /// All transfers that received a body and included the phase.
        public var durations: LatencyHistogram

        /// Creates transfer durations.
        public init(phase: String, durations: LatencyHistogram) {
            self.phase = phase
            self.durations = durations
        }
    }

    /// A counter or gauge.
    public struct Counter: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: UInt64

        /// Creates a counter.
        public init(name: String, value: UInt64) {
            self.name = name
            self.value = value
        }
    }
}

extension StatusReport {
    /// The pools that should receive jobs but have no worker; requests that need one of them wait.
    package var missingWorkers: [MissingWorkers] {
        pools.filter { $0.workers == 0 && !$0.getsNoJob }.map {
            MissingWorkers($0.name, kind: $0.kind, isExternal: $0.isExternal)
        }
    }
}

/// The usage of a cache process, and the state of its disk.
public struct CacheStatus: Hashable, Sendable {
    /// The state of the disk tier.
    public enum DiskState: UInt8, Hashable, Sendable, CaseIterable {
        /// No disk: memory only.
        case none = 0
        /// Readable and writable.
        case healthy = 1
        /// Not written, read where possible; retried periodically.
        case degraded = 2
    }

    /// The number of entries in the memory tier.
    public var memoryEntries: UInt64 = 0
    /// The bytes of these entries and of results being delivered.
    public var memoryBytes: UInt64 = 0
    /// The state of the disk tier.
    public var disk = DiskState.none
    /// Why the disk is degraded; empty if it isn't.
    public var diskReason = ""
    /// The number of entries in the disk tier.
    public var diskEntries: UInt64 = 0
    /// The bytes of these entries.
    public var diskBytes: UInt64 = 0
    /// The bytes of the index log and of quarantined indexes.
    public var diskOverheadBytes: UInt64 = 0
    /// The byte limit of the disk tier including this overhead; 0 for none.
    public var diskBytesMax: UInt64 = 0
    /// Damaged entries removed since the process started.
    public var entriesLost: UInt64 = 0
    /// Index rebuilds since the process started; the old index is quarantined.
    public var indexesSetAside: UInt64 = 0
    /// The reason of the last rebuild; empty if there was none.
    public var indexReason = ""
    /// The version from which the process upgraded the index; 0 if it didn't.
    public var indexUpgradedFrom: UInt64 = 0
    /// Stores that the disk tier rejected since the process started.
    public var storesSkipped: UInt64 = 0
    /// The byte limit of the memory tier.
    public var memoryBytesMax: UInt64 = 0
    /// The entry limit of the memory tier; 0 for none.
    public var memoryEntriesMax: UInt64 = 0
    /// The entry limit of the disk tier; 0 for none.
    public var diskEntriesMax: UInt64 = 0
    /// The time since which the disk is degraded, in milliseconds since 1970; 0 if it isn't.
    public var degradedSince: UInt64 = 0
    /// Memory hits, excluding those answered by the coordinator itself.
    public var memoryHits: UInt64 = 0
    /// Disk hits, including entries that are still being written.
    public var diskHits: UInt64 = 0
    /// Queries without a hit.
    public var misses: UInt64 = 0
    /// Bytes of bodies written to the disk.
    public var diskBytesWritten: UInt64 = 0
    /// The number of times the disk tier evicted down to its low-water mark.
    public var diskTrims: UInt64 = 0
    /// Entries evicted from the disk tier because of its limits.
    public var diskEntriesTrimmed: UInt64 = 0
    /// Expired entries removed from the disk tier.
    public var diskEntriesExpired: UInt64 = 0
    /// Evictions of blocks from the memory tier.
    public var memoryEvictions: UInt64 = 0
    /// The number of times the memory tier evicted down to its low-water mark because memory was
    /// short.
    public var memoryShrinks: UInt64 = 0
    /// The number of times the disk became degraded.
    public var diskFailures: UInt64 = 0
    /// Named caches that have entries or limits of their own, in order of their names.
    public var caches: [NamedCacheStatus] = []
    /// The read-only fallback directories.
    public var readOnly: [ReadOnlyDirectory] = []

    /// Creates the status of an empty cache without a disk.
    public init() {}
}

/// The usage and limits of a named cache.
public struct NamedCacheStatus: Hashable, Sendable {
    /// The usage and limits of a tier.
    public struct Usage: Hashable, Sendable {
        /// The number of entries.
        public var entries: UInt64 = 0
        /// The bytes of these entries.
        public var bytes: UInt64 = 0
        /// The cache's own entry limit; 0 for none.
        public var entriesMax: UInt64 = 0
        /// The cache's own byte limit; 0 for none.
        public var bytesMax: UInt64 = 0

        /// Creates empty usage without limits.
        package init() {}
    }

    /// The name.
    public var name: String
    /// The memory tier.
    public var memory = Usage()
    /// The disk tier.
    public var disk = Usage()
    /// Memory hits since the process started, excluding those answered by the coordinator itself.
    public var memoryHits: UInt64 = 0
    /// Disk hits, including entries that are still being written and read-only directories.
    public var diskHits: UInt64 = 0
    /// Queries without a hit.
    public var misses: UInt64 = 0
    /// Evictions of blocks from memory.
    public var memoryEvictions: UInt64 = 0

    /// Creates the status of an empty cache.
    package init(name: String) { self.name = name }

    /// The maximum number of caches in a status.
    public static let countMax = NamedCacheSettings.countMax
}

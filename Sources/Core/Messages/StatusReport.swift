/// What the coordinator knows of the stack.
public struct StatusReport: Hashable, Sendable {
    /// All processes, the coordinator first.
    public var processes: [ProcessStatus] = []
    /// All sockets of the coordinator.
    public var sockets: [SocketStatus] = []
    /// Counters by name, such as `requests`, `hits`, `fetches`.
    public var counters: [Counter] = []
    /// Milliseconds since the coordinator started.
    public var uptimeMilliseconds: UInt64 = 0
    /// How long cancelled jobs kept their workers, by stage.
    public var cancellations: [Cancellations] = []
    /// What each stage does and how long it takes.
    public var stages: [StageStatus] = []
    /// How long requests took from admission to reply; those that the coordinator's index of hits
    /// answered took no time, and are not in it.
    public var requests = LatencyHistogram()
    /// What the cache processes keep, and how their disks are.
    public var caches: [CacheStatus] = []
    /// All pools of workers.
    public var pools: [PoolStatus] = []
    /// How long the phases of transfers took; only those that took place.
    public var transfers: [TransferTimes] = []
    /// Clients that are programs of the stack, such as gateways.
    public var fronts: [FrontStatus] = []
    /// Hosts whose certificates rules leave unverified (SEMANTICS §10.22).
    public var unverifiedHosts: [String] = []

    /// Empty.
    public init() {}

    /// One process.
    public struct ProcessStatus: Hashable, Sendable {
        /// Its kind.
        public var kind: WorkerKind
        /// Its process id.
        public var pid: UInt32
        /// `ready`, `busy` or `draining`.
        public var state: String
        /// How often its supervisor restarted it.
        public var restarts: UInt32
        /// Jobs that it holds.
        public var jobs: UInt32
        /// What it cannot do any more, as it said.
        public var sandbox: SandboxLayers
        /// Jobs that it takes at a time.
        public var credit: UInt32
        /// Its pool.
        public var pool: PoolName

        /// Describes a process; of the pool that every stack has of its kind, where none is named.
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

    /// One client that is a program of the stack.
    public struct FrontStatus: Hashable, Sendable {
        /// What it says of itself.
        public var process: FrontProcess
        /// Its process id.
        public var pid: UInt32

        /// Describes a front.
        public init(process: FrontProcess, pid: UInt32) {
            (self.process, self.pid) = (process, pid)
        }
    }

    /// One stage.
    public struct StageStatus: Hashable, Sendable {
        /// `store`, `query`, `fetch`, `decode` or `transform`.
        public var stage: String
        /// Jobs that wait.
        public var queued: UInt64
        /// What they cost, in the unit of the stage (SEMANTICS §9.2).
        public var queuedCost: UInt64
        /// Jobs at workers.
        public var running: UInt64
        /// How long jobs waited for a worker.
        public var waits: LatencyHistogram
        /// How long workers took, as they said.
        public var works: LatencyHistogram

        /// Describes a stage.
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

    /// One pool of workers.
    public struct PoolStatus: Hashable, Sendable {
        /// Its name.
        public var name: PoolName
        /// What its workers do.
        public var kind: WorkerKind
        /// Whether its workers are somebody else's program.
        public var isForeign: Bool
        /// Workers that are connected.
        public var workers: UInt32
        /// Jobs that they hold.
        public var jobs: UInt32
        /// Jobs that they take at a time.
        public var credit: UInt32
        /// Jobs that wait for them.
        public var queued: UInt64
        /// Bytes of their output that are in use.
        public var outputBytes: UInt64
        /// Whether it is granted so little that it gets no job, and needs no worker.
        public var getsNoJob: Bool

        /// Describes a pool.
        public init(
            name: PoolName, kind: WorkerKind, isForeign: Bool, workers: UInt32, jobs: UInt32,
            credit: UInt32, queued: UInt64, outputBytes: UInt64, getsNoJob: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.isForeign = isForeign
            self.workers = workers
            self.jobs = jobs
            self.credit = credit
            self.queued = queued
            self.outputBytes = outputBytes
            self.getsNoJob = getsNoJob
        }
    }

    /// One socket of the coordinator.
    public struct SocketStatus: Hashable, Sendable {
        /// Its directory, such as `front` or `back/cache`.
        public var name: String
        /// Messages in.
        public var messagesReceived: UInt64
        /// Messages out.
        public var messagesSent: UInt64
        /// Bytes in, all frames.
        public var bytesReceived: UInt64
        /// Bytes out, all frames.
        public var bytesSent: UInt64
        /// Bytes of the largest message, in or out.
        public var largestMessage: UInt64

        /// Describes a socket.
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

    /// How long it took from `CancelJob` until the worker was free again, in one stage.
    public struct Cancellations: Hashable, Sendable {
        /// The stage: `fetch`, `query`, `decode`, `transform` or `store`.
        public var stage: String
        /// How many ended with the process, since native code did not heed them.
        public var hard: UInt64
        /// All of them; a hard one lasts until the next process is there.
        public var durations: LatencyHistogram

        /// Describes a stage.
        public init(stage: String, hard: UInt64, durations: LatencyHistogram) {
            self.stage = stage
            self.hard = hard
            self.durations = durations
        }
    }

    /// How long one phase of transfers took.
    public struct TransferTimes: Hashable, Sendable {
        /// The phase: `name`, `connect`, `tls`, `firstByte` or `total`.
        public var phase: String
        /// All transfers that brought a body and went through it.
        public var durations: LatencyHistogram

        /// Describes a phase.
        public init(phase: String, durations: LatencyHistogram) {
            self.phase = phase
            self.durations = durations
        }
    }

    /// One counter or gauge.
    public struct Counter: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: UInt64

        /// Names a value.
        public init(name: String, value: UInt64) {
            self.name = name
            self.value = value
        }
    }
}

extension StatusReport {
    /// Pools that get jobs and have no worker: requests that need one of them wait.
    package var missingWorkers: [MissingWorkers] {
        pools.filter { $0.workers == 0 && !$0.getsNoJob }.map {
            MissingWorkers($0.name, kind: $0.kind, isForeign: $0.isForeign)
        }
    }
}

/// What a cache process keeps, and how its disk is.
public struct CacheStatus: Hashable, Sendable {
    /// Whether the disk takes and gives entries.
    public enum DiskState: UInt8, Hashable, Sendable, CaseIterable {
        /// There is none: memory only.
        case none = 0
        /// It reads and writes.
        case healthy = 1
        /// It writes nothing, and reads what it can; tried again and again.
        case degraded = 2
    }

    /// Entries of the memory tier.
    public var memoryEntries: UInt64 = 0
    /// What they and results that are being delivered take.
    public var memoryBytes: UInt64 = 0
    /// Whether the disk works.
    public var disk = DiskState.none
    /// Why it does not; empty where it does.
    public var diskReason = ""
    /// Entries of the disk tier.
    public var diskEntries: UInt64 = 0
    /// What they take there.
    public var diskBytes: UInt64 = 0
    /// What lies beside them: the log of the index, and indexes that were set aside.
    public var diskOverheadBytes: UInt64 = 0
    /// The limit of both together; 0 for none.
    public var diskBytesMax: UInt64 = 0
    /// Entries that were found damaged and removed, since the process started.
    public var entriesLost: UInt64 = 0
    /// Indexes that were set aside and made anew, since the process started.
    public var indexesSetAside: UInt64 = 0
    /// Why the last of them was; empty where none was.
    public var indexReason = ""
    /// The version of the index before the process upgraded it; 0: it did not.
    public var indexUpgradedFrom: UInt64 = 0
    /// Stores that the disk did not take, since the process started.
    public var storesSkipped: UInt64 = 0
    /// The limit of the memory tier, bytes.
    public var memoryBytesMax: UInt64 = 0
    /// The limit of its entries; 0 for none.
    public var memoryEntriesMax: UInt64 = 0
    /// The limit of the entries of the disk tier; 0 for none.
    public var diskEntriesMax: UInt64 = 0
    /// Since when the disk is degraded, milliseconds since 1970; 0: it is not.
    public var degradedSince: UInt64 = 0
    /// Queries answered from memory; what the coordinator answers by itself is not among them.
    public var memoryHits: UInt64 = 0
    /// Queries answered from the disk, or from what is on its way there.
    public var diskHits: UInt64 = 0
    /// Queries that found nothing.
    public var misses: UInt64 = 0
    /// Bytes of bodies that were written to the disk.
    public var diskBytesWritten: UInt64 = 0
    /// How often the disk tier went down to its low-water mark.
    public var diskTrims: UInt64 = 0
    /// Entries that it let go of for its limits.
    public var diskEntriesTrimmed: UInt64 = 0
    /// Entries that it let go of for their age.
    public var diskEntriesExpired: UInt64 = 0
    /// Blocks of the memory tier that lost their keys.
    public var memoryEvictions: UInt64 = 0
    /// How often the memory tier went down to its low-water mark, since memory was short.
    public var memoryShrinks: UInt64 = 0
    /// How often the disk began to fail.
    public var diskFailures: UInt64 = 0
    /// Named caches that have entries or limits of their own, by name.
    public var caches: [NamedCacheStatus] = []
    /// Directories in which caches look for what they do not have themselves.
    public var readOnly: [ReadOnlyDirectory] = []

    /// Nothing, and no disk.
    public init() {}
}

/// What one named cache keeps, and may keep.
public struct NamedCacheStatus: Hashable, Sendable {
    /// Entries of one tier.
    public struct Usage: Hashable, Sendable {
        /// How many.
        public var entries: UInt64 = 0
        /// What they take, bytes.
        public var bytes: UInt64 = 0
        /// The cache's own limit of entries; 0 for none.
        public var entriesMax: UInt64 = 0
        /// The cache's own limit of bytes; 0 for none.
        public var bytesMax: UInt64 = 0

        /// Nothing, and no limits.
        package init() {}
    }

    /// Its name.
    public var name: String
    /// In memory.
    public var memory = Usage()
    /// On the disk.
    public var disk = Usage()
    /// Queries that it answered from memory, since the process started; what the coordinator
    /// answers by itself is not among them.
    public var memoryHits: UInt64 = 0
    /// Queries that it answered from its disk, from what is on its way there, or from a directory
    /// that is read only.
    public var diskHits: UInt64 = 0
    /// Queries to which it had nothing.
    public var misses: UInt64 = 0
    /// Blocks of its memory that lost their keys.
    public var memoryEvictions: UInt64 = 0

    /// Names a cache that has nothing.
    package init(name: String) { self.name = name }

    /// Caches of one status at most.
    public static let countMax = NamedCacheSettings.countMax
}

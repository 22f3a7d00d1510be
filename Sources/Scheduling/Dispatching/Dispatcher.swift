package import Model

/// Assigns jobs to workers and processes their outcomes. It performs no I/O, reads no clock, and
/// doesn't know which requests want a job.
///
/// The submitter of a job receives exactly one `Completion` with the job's number:
///
///     submit ──► queue ──assign──► worker ──outcome──► done, failed
///                 ▲  ▲                │
///                 │  └── set aside ◄──┤ no space, transient origin failure, dispute
///                 └───────────────────┘ worker lost
///
/// Calls change the state at once. Instructions to workers accumulate in `actions`, completions in
/// a queue; the caller drains both while handling the same event. Nothing that a worker reports is
/// trusted: references are verified, and a worker that sends an invalid one loses its session.
package struct Dispatcher: Sendable {
    private let passing = PassedByAddress()
    let limits: DispatchLimits

    // The connected workers.
    var roster: WorkerRoster

    // All jobs.
    var jobs: JobTable
    var numbers = Numbers()

    /// Whether transfers may start.
    package var transfers = TransferGate()

    // Blocks in use and their hold counts.
    var ledger: BlockLedger
    var forecast: OutputForecast
    /// Bytes of pixels that do not count as decoder output because their holders may be waiting for
    /// other pixels. Their holders enforce a separate limit.
    package var pixelBytesApart: UInt64 = 0
    /// The time of the last release per pool.
    var lastReleases: [Instant?]

    // Suspected and quarantined work.
    var quarantine: Quarantine
    package internal(set) var metrics = DispatchMetrics()

    /// The time of the current event.
    package var now = Instant(nanoseconds: 0)
    /// Actions for workers, in order. The event handler collects them.
    package var actions: [DispatchAction] = []
    /// Pending completions of jobs and departures of workers.
    package private(set) var completions = Deque<Completion>()

    /// Creates a dispatcher without workers and jobs.
    package init(limits: DispatchLimits) {
        self.limits = limits
        jobs = JobTable(limits)
        roster = WorkerRoster(pools: limits.pools.all.count)
        lastReleases = limits.pools.all.map { _ in nil }
        ledger = BlockLedger(
            segmentsMax: limits.segmentsPerWorkerMax, pools: limits.pools.all.count)
        forecast = OutputForecast(pools: limits.pools.all.count)
        quarantine = Quarantine(
            entriesMax: limits.quarantineMax, milliseconds: limits.quarantineMilliseconds)
    }

    /// Returns the oldest pending completion; each is returned once.
    package mutating func nextCompletion() -> Completion? { completions.popFirst() }

    mutating func complete(_ completion: Completion) { completions.append(completion) }

    /// The most recently issued numbers.
    struct Numbers: Sendable {
        var transfer = TransferSerial()
        /// The last number of an entry in any failure list.
        var denial: UInt64 = 0
    }
}

/// An instruction to a worker.
package indirect enum DispatchAction: Sendable {
    case assign(WorkerID, Job)
    /// Cancels a job that is no longer wanted.
    case cancelJob(WorkerID, JobID)
    /// Changes the deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Releases blocks to their producer, either at once or together with the next message.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// Ends the session of a worker that violated the protocol.
    case expel(WorkerID, ImageError)
}

/// The outcome of a job, or the departure of a worker.
package indirect enum Completion: Sendable {
    /// A worker started a transfer; sent once per attempt.
    case began(JobID, TransferSerial)
    /// Transfer progress, with the block of any partial output. The receiver must drop the block.
    case progressed(JobProgress, BlockHandle?)
    /// A job finished with a valid result. The receiver must drop the blocks, which are in the
    /// order of the result's references. Blocks that the cache put into `results/` are not
    /// included.
    case done(Ended, JobResult, ShortList<BlockHandle>)
    /// A job ended without a result.
    case failed(Ended, ImageError)
    /// A worker left and all of its output is lost. Its jobs remain assigned until the receiver has
    /// torn down everything that needs the worker's blocks and calls `redistribute(after:)`.
    case workerGone(Departure)
    /// The cache filled a block in `results/` for a job that is no longer wanted.
    case unclaimed(BlockReference, WorkerID)

    /// A finished job.
    package struct Ended: Sendable {
        /// The job's number.
        package let id: JobID
        package let stage: JobStage
        /// The worker that held the job last; `nil` if the job ended while waiting.
        package let worker: WorkerID?
        /// Milliseconds spent waiting.
        package let waited: Double
        /// Milliseconds of work in the last attempt, as reported by the worker.
        package let worked: Double

        /// Creates a record for a composite job, which has its own number.
        package init(
            _ id: JobID, _ stage: JobStage, worker: WorkerID?, waited: Double, worked: Double
        ) {
            (self.id, self.stage, self.worker) = (id, stage, worker)
            (self.waited, self.worked) = (waited, worked)
        }

        init(_ job: borrowing ActiveJob, worked: Double = 0) {
            (id, stage, worker) = (job.id, job.stage, job.worker)
            (waited, self.worked) = (job.waited, worked)
        }
    }
}

/// A worker that left.
package struct Departure: Sendable {
    /// The worker's session.
    package let worker: WorkerID
    package let kind: WorkerKind
    /// The worker's pool.
    package let pool: PoolID
    /// The crash record, if the worker left one.
    let crash: CrashRecord?
    /// Whether the worker vanished without a record, that is, it wasn't draining and its session
    /// wasn't ended deliberately.
    let isLost: Bool
}

/// A job to submit, with everything besides the work itself.
package struct Submission: Sendable {
    /// The work to do.
    package let spec: JobSpec
    /// The urgency of the job and the flows that want it.
    package var urgency: Urgency
    /// The block that the job reads. The dispatcher holds it, and `overlays`, for the lifetime of
    /// the job.
    package var input: BlockHandle?
    /// Additional blocks that the job reads; held like `input`.
    package var overlays: [BlockHandle] = []
    /// Smaller ranks are scheduled first within a class and worker kind: 0 to 3.
    package var rank: UInt8 = 2
    /// The suspect to record evidence against if a worker crashes with the job.
    package var suspect: Suspect?
    /// The producer of the bytes to be stored: the suspect to record evidence against if they are
    /// not the declared image.
    package var maker: Suspect?
    /// The pools that may run a decode, in order of preference; empty means all.
    package var coders: [String] = []
    /// Whether only external workers may run a transform: for custom steps, and for formats that
    /// only an external pool is granted.
    package var isExternal = false
    /// Log context of the request that started the work.
    package var logContext = LogContext()
    /// Whether the job may wait for space. Jobs without a waiting reply don't wait.
    package var waitsForSpace = true
    /// Whether progress reports are requested.
    package var wantsProgress = false
    /// Whether the partial data of a transfer is requested.
    package var wantsArrived = false
    /// The only pool that may run the job, at most once: an external cache.
    package var externalCache: PoolID?
    /// Whether the job is attempted at most once and is dropped if its worker is lost, if space is
    /// missing, or if other work needs the worker.
    package var isExpendable = false

    /// Creates a submission without inputs and without suspects.
    package init(_ spec: JobSpec, _ urgency: Urgency) {
        self.spec = spec
        self.urgency = urgency
    }
}

/// The work of a job; immutable and shared by all attempts.
package final class JobSpec: Sendable {
    package let work: JobWork
    package let kind: WorkerKind
    package let stage: JobStage
    /// The cost in the unit of the stage.
    package let cost: UInt64
    /// The target host of a transfer.
    package let host: HostName?

    package init(_ work: JobWork, host: HostName? = nil) {
        self.work = work
        kind = work.kind
        stage = work.stage
        cost = work.cost
        self.host = host
    }
}

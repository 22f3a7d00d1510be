import Model

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
/// Calls change the state at once. Instructions to workers are actions of the current event;
/// completions accumulate in a queue, which the caller drains while handling the same event.
/// Nothing that a worker reports is trusted: references are verified, and a worker that sends an
/// invalid one loses its session.
final class Dispatcher {
    let limits: DispatchLimits

    // The connected workers.
    var roster: WorkerRoster

    // All jobs.
    var jobs: JobTable
    var lastTransfer = TransferSerial()
    /// The last entry number issued for the quarantine and the other failure lists, which share one
    /// sequence so that numbers are unique.
    var lastDenial: UInt64 = 0

    /// Whether transfers may start.
    var transfers = TransferGate()

    // Blocks in use and their hold counts.
    var ledger: BlockLedger
    var forecast: OutputForecast
    /// Bytes of pixels that do not count as decoder output because their holders may be waiting for
    /// other pixels. Their holders enforce a separate limit.
    var pixelBytesApart: UInt64 = 0
    /// The time of the last release per pool.
    var lastReleases: [Instant?]

    // Suspected and quarantined work.
    var quarantine: Quarantine
    var metrics = DispatchMetrics()

    let shared: SharedState
    /// Pending completions of jobs and departures of workers.
    private(set) var completions = Deque<Completion>()

    /// Creates a dispatcher without workers and jobs.
    init(limits: DispatchLimits, _ shared: SharedState) {
        self.limits = limits
        self.shared = shared
        jobs = JobTable(limits, shared)
        roster = WorkerRoster(pools: limits.pools.all.count)
        lastReleases = limits.pools.all.map { _ in nil }
        ledger = BlockLedger(
            segmentsMax: limits.segmentsPerWorkerMax, pools: limits.pools.all.count)
        forecast = OutputForecast(pools: limits.pools.all.count)
        quarantine = Quarantine(
            entriesMax: limits.quarantineMax, milliseconds: limits.quarantineMilliseconds)
    }

    /// The time of the current event.
    var now: Instant { shared.now }

    /// Returns the oldest pending completion; each is returned once.
    func nextCompletion() -> Completion? { completions.popFirst() }

    func complete(_ completion: Completion) { completions.append(completion) }

    func fail(_ job: ActiveJob, _ error: ImageError) {
        complete(.ended(Completion.Ended(job), .failure(error), ShortList()))
    }
}

/// The outcome of a job, or the departure of a worker.
indirect enum Completion: Sendable {
    /// A worker started a transfer; sent once per attempt.
    case began(JobID, TransferSerial)
    /// Transfer progress, with the block of any partial output. The receiver must drop the block.
    case progressed(JobProgress, BlockHandle?)
    /// A job finished with a valid result, or ended without one. The receiver must drop the blocks,
    /// which are in the order of the result's references. Blocks that the cache put into `results/`
    /// are not included.
    case ended(Ended, Result<JobResult, ImageError>, ShortList<BlockHandle>)
    /// A worker left and all of its output is lost. Its jobs remain assigned until the receiver has
    /// torn down everything that needs the worker's blocks and calls `redistribute(after:)`.
    case workerGone(Departure)
    /// The cache filled a block in `results/` for a job that is no longer wanted.
    case unclaimed(BlockReference, WorkerID)

    /// A finished job.
    struct Ended: Sendable {
        /// The job's number.
        let id: JobID
        let stage: JobStage
        /// The worker that held the job last; `nil` if the job ended while waiting.
        let worker: WorkerID?
        /// Milliseconds spent waiting.
        let waited: Double
        /// Milliseconds of work in the last attempt, as reported by the worker.
        let worked: Double
    }
}

extension Completion.Ended {
    init(_ job: ActiveJob, worked: Double = 0) {
        self.init(
            id: job.id, stage: job.stage, worker: job.worker, waited: job.waited, worked: worked)
    }
}

/// A worker that left.
struct Departure: Sendable {
    /// The worker's session.
    let worker: WorkerID
    /// The worker's pool.
    let pool: PoolID
    /// The crash record, if the worker left one.
    let crash: CrashRecord?
    /// Whether the worker vanished without a record, that is, it wasn't draining and its session
    /// wasn't ended deliberately.
    let isLost: Bool
}

/// A job to submit, with everything besides the work itself.
struct Submission: Sendable {
    /// The work to do.
    let spec: JobSpec
    /// The urgency of the job and the flows that want it.
    var urgency: Urgency
    /// The block that the job reads. The dispatcher holds it, and `overlays`, for the lifetime of
    /// the job.
    var input: BlockHandle?
    /// Additional blocks that the job reads; held like `input`.
    var overlays: [BlockHandle] = []
    /// Smaller ranks are scheduled first within a class and worker kind: 0 to 3.
    var rank: UInt8 = 2
    /// The suspect to record evidence against if a worker crashes with the job.
    var suspect: Suspect?
    /// The producer of the bytes to be stored: the suspect to record evidence against if they are
    /// not the declared image.
    var maker: Suspect?
    /// The pools that may run a decode, in order of preference; empty means all.
    var coders: [String] = []
    /// Whether only external workers may run a transform: for custom steps, and for formats that
    /// only an external pool is granted.
    var isExternal = false
    /// Log context of the request that started the work.
    var logContext = LogContext()
    /// Whether the job may wait for space. Jobs without a waiting reply don't wait.
    var waitsForSpace = true
    /// Whether progress reports are requested.
    var wantsProgress = false
    /// Whether the partial data of a transfer is requested.
    var wantsArrived = false
    /// The only pool that may run the job, at most once: an external cache.
    var externalCache: PoolID?
    /// Whether the job is attempted at most once and is dropped if its worker is lost, if space is
    /// missing, or if other work needs the worker.
    var isExpendable = false

    /// Creates a submission without inputs and without suspects.
    init(_ spec: JobSpec, _ urgency: Urgency) {
        self.spec = spec
        self.urgency = urgency
    }
}

/// The work of a job; immutable and shared by all attempts.
final class JobSpec: Sendable {
    let work: JobWork
    let kind: WorkerKind
    let stage: JobStage
    /// The cost in the unit of the stage.
    let cost: UInt64
    /// The target host of a transfer.
    let host: HostName?

    init(_ work: JobWork, host: HostName? = nil) {
        self.work = work
        kind = work.kind
        stage = work.stage
        cost = work.cost
        self.host = host
    }
}

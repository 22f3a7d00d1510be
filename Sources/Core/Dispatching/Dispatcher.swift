package import ImageModel
package import Messages
package import Tables

/// Gives jobs to workers and takes back what came of them: no I/O, no clock, no word of who wants
/// what.
///
/// Who submits a job is told once what became of it (`Completion`), by its number:
///
///     submit ──► queue ──assign──► worker ──outcome──► done, failed
///                 ▲  ▲                │
///                 │  └── put aside ◄──┤ no space, its origin failed in passing, a dispute
///                 └───────────────────┘ its worker is gone
///
/// Calls change the state at once. What workers are to be told collects in `actions`, what became
/// of jobs in a queue; both are taken in the same event. Nothing that a worker says is believed:
/// what it refers to is checked, and who lies loses its session.
package struct Dispatcher: Sendable {
    private let passing = PassedByAddress()
    let limits: DispatchLimits

    // Who does it.
    var roster: WorkerRoster

    // What is done.
    var jobs: JobTable
    var numbers = Numbers()

    /// Whether transfers may begin.
    package var transfers = TransferGate()

    // What is read, and by how many.
    var ledger: BlockLedger
    var forecast: OutputForecast
    /// Bytes of pixels that do not count as output of decoders, since who keeps them may be waiting
    /// for other pixels. Whoever keeps them has a limit for them.
    package var pixelBytesApart: UInt64 = 0
    /// By pool: when something that its workers made became free last.
    var lastReleases: [Instant?]

    // What is not tried, and what was.
    var quarantine: Quarantine
    package internal(set) var figures = DispatchFigures()

    /// The time of the event that is being handled.
    package var now = Instant(nanoseconds: 0)
    /// What workers are to be told, in order; whoever handles the event takes it.
    package var actions: [DispatchAction] = []
    /// What is to be said of jobs and workers.
    package private(set) var completions = Fifo<Completion>()

    /// No worker is there, and no job.
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

    /// What became of a job, or of a worker, the earliest first; each is said once.
    package mutating func nextCompletion() -> Completion? { completions.popFirst() }

    /// Whoever wants to know is to be told.
    mutating func complete(_ completion: Completion) { completions.append(completion) }

    /// The last numbers that were given.
    struct Numbers: Sendable {
        var transfer = TransferSerial()
        /// Of an entry of any list of what is not tried.
        var denial: UInt64 = 0
    }
}

/// What a worker is to be told.
package indirect enum DispatchAction: Sendable {
    /// Give a job to a worker.
    case assign(WorkerID, Job)
    /// Tell a worker that nobody wants a job any more.
    case cancelJob(WorkerID, JobID)
    /// Tell a worker the new deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Tell a producer that blocks are free; at once, or together with what it is told next.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// End a session: its worker broke the protocol.
    case expel(WorkerID, ImageError)
}

/// What became of a job, or of a worker.
package indirect enum Completion: Sendable {
    /// A worker has a transfer now; once for each attempt.
    case began(JobID, TransferSerial)
    /// How far a transfer is, and the block of what it hands out, if it does: that is the
    /// receiver's to drop.
    case progressed(JobProgress, BlockHandle?)
    /// A job is over, with a result that answers it. The blocks, in the order of its references,
    /// are the receiver's to drop; what the cache put into `results/` is none of them.
    case done(Ended, JobResult, ShortList<BlockHandle>)
    /// A job is over without a result.
    case failed(Ended, ImageError)
    /// A worker is gone, and with it all that it made. Jobs that it held are still held: whoever
    /// has taken apart what needs its blocks calls `redistribute(after:)`.
    case workerGone(Departure)
    /// The cache filled a block of `results/` for a job that nobody wants any more.
    case unclaimed(BlockReference, WorkerID)

    /// A job that is over.
    package struct Ended: Sendable {
        /// Which one.
        package let id: JobID
        /// Its stage.
        package let stage: JobStage
        /// Who did it last; `nil` where it ended while it waited.
        package let worker: WorkerID?
        /// Milliseconds for which it waited.
        package let waited: Double
        /// Milliseconds for which a worker says that it worked, in the last attempt.
        package let worked: Double

        /// Of work that was several jobs, under a number of its own.
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

/// A worker that is gone.
package struct Departure: Sendable {
    /// Its session.
    package let worker: WorkerID
    /// Its kind.
    package let kind: WorkerKind
    /// Its pool.
    package let pool: PoolID
    /// The record that it left, where it crashed.
    let crash: CrashRecord?
    /// Whether it vanished without a record: it was not draining, and nobody ended its session.
    let isLost: Bool
}

/// A job that is wanted, with all that its work does not say.
package struct Submission: Sendable {
    /// What a worker is to do.
    package let spec: JobSpec
    /// How badly it is wanted, and by whom.
    package var urgency: Urgency
    /// The block that it reads, and those that it reads beside it: held for as long as the job is
    /// there.
    package var input: BlockHandle?
    /// See `input`.
    package var overlays: [BlockHandle] = []
    /// Within one class and kind of worker smaller ones go first: 0 to 3.
    package var rank: UInt8 = 2
    /// What a crash of its worker would be evidence against.
    package var suspect: Suspect?
    /// What made the bytes that the cache is to take: evidence against it, if they are not the
    /// image that was said.
    package var maker: Suspect?
    /// The pools that may do a decode, in the order in which they are asked; empty: all.
    package var coders: [String] = []
    /// Whether workers of somebody else transform, and none of ours: a custom step, or an encode
    /// that one of their pools is granted.
    package var isForeign = false
    /// Of the request that began the work.
    package var logContext = LogContext()
    /// Whether it waits for space outside, where there is none: what no reply waits for does not.
    package var waitsForSpace = true
    /// Whether anybody listens to how far it is.
    package var wantsProgress = false
    /// Whether somebody wants to look at what has arrived of a transfer.
    package var wantsArrived = false
    /// The pool that does it and no other, once or not at all: a cache that is somebody else's.
    package var foreignCache: PoolID?
    /// Whether it is done once or not at all: it ends where its worker is lost, where there is no
    /// space, and where other work waits for its worker.
    package var isExpendable = false

    /// Work that reads nothing and is suspected of nothing, unless that is said.
    package init(_ spec: JobSpec, _ urgency: Urgency) {
        self.spec = spec
        self.urgency = urgency
    }
}

/// What a worker is to do, written once and shared by every attempt.
package final class JobSpec: Sendable {
    package let work: JobWork
    package let kind: WorkerKind
    package let stage: JobStage
    /// In the unit of its stage.
    package let cost: UInt64
    /// Where a transfer goes.
    package let host: HostName?

    package init(_ work: JobWork, host: HostName? = nil) {
        self.work = work
        kind = work.kind
        stage = work.stage
        cost = work.cost
        self.host = host
    }
}

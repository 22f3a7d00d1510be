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

public import Linux
public import Model

/// Executes the jobs of a worker. All calls are made on the bus thread and must not block; results
/// go to the `WorkerReporter` from any thread, with exactly one outcome per started job.
public protocol JobExecutor: AnyObject {
    /// The maximum number of concurrently held jobs.
    var credit: UInt32 { get }
    /// Whether native code may ignore a cancellation, so that the process must exit
    /// (SEMANTICS §8.3).
    var needsHardCancel: Bool { get }
    /// Whether so much canceled work is still running that the process must exit.
    var hasTooManyAbandonedJobs: Bool { get }
    /// Starts a job.
    func start(_ job: Job)
    /// Called when a job's outcome reached the bus thread; releases everything that belongs to the
    /// job.
    func finished(_ id: JobID)
    /// Cancels a job. Idempotent; the outcome is still reported.
    func cancel(_ id: JobID)
    /// Applies a new deadline or class to a held job.
    func adjust(_ adjustment: JobAdjustment)
    /// Frees these blocks.
    func release(_ blocks: [BlockID])
    /// Marks these blocks as recently used.
    func touched(_ blocks: [BlockID])
    /// Replaces the configured settings of the caches.
    func adopt(_ settings: [NamedCacheSettings])
    /// Replaces the configured settings of transfers.
    func adopt(_ settings: DownloadSettings)
    /// Returns the messages that a new coordinator needs besides the list of segments.
    func announcements() -> [WorkerMessage]
    /// Cancels everything after the connection ended; later outcomes are discarded. Outstanding
    /// blocks are released individually before.
    func abandon()
    /// Frees a block of an outcome that nobody needs.
    func discard(_ reference: BlockReference)
    /// Writes unsaved data, then reports `flushed`.
    func flush()
    /// Called after `WorkerReporter.attend`: processes what other threads have done.
    func attend()
    /// Called about once a second.
    func tick()
    /// Returns whether its thread has made progress; called once a second.
    func heartbeat() -> ExecutorHeartbeat
}

extension JobExecutor {
    /// Returns false by default.
    public var hasTooManyAbandonedJobs: Bool { false }
    /// Does nothing by default.
    public func finished(_ id: JobID) {}
    /// Does nothing by default.
    public func adjust(_ adjustment: JobAdjustment) {}
    /// Does nothing by default.
    public func touched(_ blocks: [BlockID]) {}
    /// Does nothing by default.
    public func adopt(_ settings: [NamedCacheSettings]) {}
    /// Does nothing by default.
    public func adopt(_ settings: DownloadSettings) {}
    /// Returns no messages by default.
    public func announcements() -> [WorkerMessage] { [] }
    /// Does nothing by default.
    public func attend() {}
    /// Does nothing by default.
    public func tick() {}
    /// Reports progress by default, for executors without such a thread.
    public func heartbeat() -> ExecutorHeartbeat { .beats }
}

/// Whether the thread with which an executor serves many jobs makes progress.
public enum ExecutorHeartbeat: Hashable, Sendable {
    /// It makes progress, or the executor has no such thread.
    case beats
    /// It has been busy with the same task for a second or more: with this job, if known.
    case stands(at: JobID?)
}

/// A report from an executor to the bus thread.
public enum WorkerReport: Sendable {
    /// A job completed.
    case outcome(JobOutcome)
    /// Another message for the coordinator: progress, `stored`, `evicted`.
    case message(WorkerMessage)
    /// All data is written.
    case flushed
    /// Requests a call of `JobExecutor.attend` on the bus thread.
    case attend
}

/// Sends reports from an executor's threads to the bus thread. May be used from any thread.
public final class WorkerReporter: Sendable {
    let mailbox: Mailbox<WorkerReport>

    /// Creates a reporter with capacity for the outcomes of the full credit and for notices.
    public init() throws(Errno) { mailbox = try Mailbox(elementsMax: 65_536) }

    /// Reports the outcome of a job. Precondition: outcomes are bounded by the credit, so there is
    /// capacity.
    public func finish(_ outcome: JobOutcome) {
        let isPosted = mailbox.post(.outcome(outcome))
        precondition(isPosted, "the number of outcomes must not exceed the credit")
    }

    /// Sends a notice and returns whether it was queued. Notices are dropped if the queue is full,
    /// which is acceptable for progress.
    @discardableResult
    public func send(_ message: WorkerMessage) -> Bool { mailbox.post(.message(message)) }

    /// Schedules `JobExecutor.attend` on the bus thread.
    public func attend() { _ = mailbox.post(.attend) }

    /// Reports that all data is written.
    public func flushed() { _ = mailbox.post(.flushed) }
}

/// Executes one job at a time on a dedicated work thread: for decoders and transformers, in which
/// only the process can be killed (SEMANTICS §14.7).
public final class SingleJobExecutor: JobExecutor {
    /// The work of the thread.
    public struct Work {
        let perform: (JobWork, CancellationFlag) throws(ImageError) -> JobResult
        let whenIdle: () -> Void

        /// `perform` executes one job. `whenIdle` is called a few times after the last job, to
        /// release resources that only the next job would reuse.
        public init(
            perform: @escaping (JobWork, CancellationFlag) throws(ImageError) -> JobResult,
            whenIdle: @escaping () -> Void
        ) {
            self.perform = perform
            self.whenIdle = whenIdle
        }
    }

    private struct Assignment: Sendable {
        let job: Job
        let flag: CancellationFlag
    }

    /// The nice value of work threads, on top of that of their process.
    private static let nice: Int32 = 15

    private let arena: Arena
    private let reporter: WorkerReporter
    private let assignments: Mailbox<Assignment>
    private var current: (id: JobID, flag: CancellationFlag)?
    private let thread: Thread

    /// See `JobExecutor`.
    public let credit = WorkerKind.decode.creditMax
    /// See `JobExecutor`.
    public let needsHardCancel = true

    /// Starts the work thread; the work allocates its blocks from `arena`. `makeWork` is called
    /// once, on that thread, so that the state of the work needs no lock.
    public init(
        name: String, arena: Arena, reporter: WorkerReporter,
        makeWork: @escaping @Sendable () -> Work
    ) throws(Errno) {
        self.arena = arena
        self.reporter = reporter
        let assignments = try Mailbox<Assignment>(elementsMax: 16)
        self.assignments = assignments
        let body: @Sendable () -> Void = {
            // The bus thread takes precedence, since it handles cancellations. If lowering the
            // priority isn't permitted, both are equal.
            try? Thread.standBack(by: Self.nice)
            Self.run(assignments, reporter, makeWork())
        }
        thread = try Thread(name: name, body)
    }

    /// See `JobExecutor`.
    public func start(_ job: Job) {
        let flag = CancellationFlag()
        current = (job.id, flag)
        let isPosted = assignments.post(Assignment(job: job, flag: flag))
        precondition(isPosted, "the number of jobs must not exceed the credit")
    }

    /// See `JobExecutor`.
    public func cancel(_ id: JobID) {
        if let current, current.id == id { current.flag.cancel() }
    }

    /// See `JobExecutor`.
    public func finished(_ id: JobID) { if current?.id == id { current = nil } }

    /// See `JobExecutor`.
    public func release(_ blocks: [BlockID]) { for block in blocks { arena.free(block) } }

    /// See `JobExecutor`.
    public func abandon() { current?.flag.cancel() }

    /// See `JobExecutor`.
    public func discard(_ reference: BlockReference) { arena.free(reference.block) }

    /// See `JobExecutor`.
    public func flush() { reporter.flushed() }

    private static func run(
        _ assignments: Mailbox<Assignment>, _ reporter: WorkerReporter, _ work: Work
    ) {
        var rests = restMilliseconds[...]
        while true {
            let next: Assignment?
            do throws(Errno) {
                next = try assignments.next(milliseconds: rests.popFirst())
            } catch {
                // Without its mailbox the thread is useless; the job's deadline ends the process.
                return
            }
            guard let next else {
                work.whenIdle()
                continue
            }
            reporter.finish(outcome(of: next.job, next.flag, work))
            rests = restMilliseconds[...]
        }
    }

    /// The idle times in milliseconds after which the thread calls `whenIdle`: the input of a job
    /// is released soon, but not immediately.
    private static let restMilliseconds = [250, 1_000, 4_000]

    private static func outcome(
        of job: Job, _ flag: CancellationFlag, _ work: Work
    ) -> JobOutcome {
        let began = Instant.now()
        let result: JobResult
        do throws(ImageError) {
            guard !flag.isCancelled else { throw ImageError(.cancelled, "cancelled in the queue") }
            result = try work.perform(job.work, flag)
        } catch {
            result = .failed(error)
        }
        let spent = (Instant.now().nanoseconds - began.nanoseconds) / 1000
        return JobOutcome(
            id: job.id, attempt: job.attempt, result: result, workMicroseconds: spent)
    }
}

extension ImageError {
    /// Returns the error for a job that another kind of worker executes.
    public static func notOurs(_ work: JobWork) -> ImageError {
        ImageError(.protocolViolation, "this worker does not support \(work.kind.name) jobs")
    }
}

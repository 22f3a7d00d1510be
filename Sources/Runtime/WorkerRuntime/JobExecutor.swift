import EventLoop
public import ImageModel
public import Linux
public import Messages
public import SharedArena
public import StageContract

/// What does the jobs of a worker. All calls come on the bus thread and never block; results go to
/// the `WorkerReporter` from any thread, exactly one outcome for each job started.
public protocol JobExecutor: AnyObject {
    /// Jobs that may be held at a time.
    var credit: UInt32 { get }
    /// Whether native code may ignore a cancel, so that the process has to end (SEMANTICS §8.3).
    var needsHardCancel: Bool { get }
    /// Whether so much of what was cancelled goes on that the process has to end.
    var hasForsakenTooMuch: Bool { get }
    /// Begins a job.
    func start(_ job: Job)
    /// A job's outcome reached the bus thread: nothing of the job is left here.
    func finished(_ id: JobID)
    /// Stops a job. Idempotent; its outcome still comes.
    func cancel(_ id: JobID)
    /// A held job has another deadline or class.
    func adjust(_ adjustment: JobAdjustment)
    /// These blocks are free.
    func release(_ blocks: [BlockID])
    /// These blocks were used.
    func touched(_ blocks: [BlockID])
    /// The configuration sets this of the caches, and nothing else.
    func adopt(_ settings: [NamedCacheSettings])
    /// The configuration sets this of transfers, and nothing else.
    func adopt(_ settings: DownloadSettings)
    /// What a coordinator that knows nothing of this process has to hear besides its segments.
    func announcements() -> [WorkerMessage]
    /// The connection ended: cancel everything, no outcome that comes from now on is wanted. Blocks
    /// that were handed over are released one by one before.
    func abandon()
    /// A block of an outcome that nobody wants.
    func discard(_ reference: BlockReference)
    /// Writes what is unwritten, then reports `flushed`.
    func flush()
    /// `WorkerReporter.attend` was called: look after what other threads have done.
    func attend()
    /// About a second has passed.
    func tick()
    /// Called once a second: whether its thread has turned since.
    func pulse() -> ExecutorPulse
}

extension JobExecutor {
    /// Nothing goes on.
    public var hasForsakenTooMuch: Bool { false }
    /// Nothing.
    public func finished(_ id: JobID) {}
    /// Nothing.
    public func adjust(_ adjustment: JobAdjustment) {}
    /// Nothing.
    public func touched(_ blocks: [BlockID]) {}
    /// Nothing.
    public func adopt(_ settings: [NamedCacheSettings]) {}
    /// Nothing.
    public func adopt(_ settings: DownloadSettings) {}
    /// Segments are all there is.
    public func announcements() -> [WorkerMessage] { [] }
    /// Nothing.
    public func attend() {}
    /// Nothing.
    public func tick() {}
    /// There is no such thread.
    public func pulse() -> ExecutorPulse { .beats }
}

/// Whether the thread with which an executor serves many jobs still turns.
public enum ExecutorPulse: Hashable, Sendable {
    /// It does, or the executor has no such thread.
    case beats
    /// It has been at the same for a second or more; at this job, where that is known.
    case stands(at: JobID?)
}

/// What an executor tells the bus thread.
public enum WorkerReport: Sendable {
    /// A job ended.
    case outcome(JobOutcome)
    /// Something else that the coordinator should hear: progress, `stored`, `evicted`.
    case message(WorkerMessage)
    /// Everything is written.
    case flushed
    /// The executor wants to be called on the bus thread.
    case attend
}

/// The way from an executor's threads to the bus thread. Any thread.
public final class WorkerReporter: Sendable {
    let mailbox: Mailbox<WorkerReport>

    /// Room for all outcomes of the credit, and for notices.
    public init() throws(Errno) { mailbox = try Mailbox(elementsMax: 65_536) }

    /// The end of a job. A precondition: reports are bounded by credit, so there is room.
    public func finish(_ outcome: JobOutcome) {
        let isPosted = mailbox.post(.outcome(outcome))
        precondition(isPosted, "outcomes are bounded by credit")
    }

    /// A notice; one that finds no room is dropped, which progress allows. Whether it found some.
    @discardableResult
    public func tell(_ message: WorkerMessage) -> Bool { mailbox.post(.message(message)) }

    /// Has `JobExecutor.attend` called on the bus thread.
    public func attend() { _ = mailbox.post(.attend) }

    /// Everything is written.
    public func flushed() { _ = mailbox.post(.flushed) }
}

/// One job at a time on a work thread of its own: for decoders and transformers, where a process is
/// what can be killed (SEMANTICS §14.7).
public final class SingleJobExecutor: JobExecutor {
    /// What the work thread does.
    public struct Work {
        let perform: (JobWork, CancellationFlag) throws(ImageError) -> JobResult
        let rest: () -> Void

        /// `perform` does one job. `rest` is called a few times after the last one: it gives back
        /// what only the next job would need.
        public init(
            perform: @escaping (JobWork, CancellationFlag) throws(ImageError) -> JobResult,
            rest: @escaping () -> Void
        ) {
            self.perform = perform
            self.rest = rest
        }
    }

    private struct Assignment: Sendable {
        let job: Job
        let flag: CancellationFlag
    }

    /// How far work that fills a processor stands back, further than its own process does.
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

    /// Starts the work thread; `arena` is where the work's blocks come from. `makeWork` is called
    /// once, on that thread, so that what the work holds needs no lock.
    public init(
        name: String, arena: Arena, reporter: WorkerReporter,
        makeWork: @escaping @Sendable () -> Work
    ) throws(Errno) {
        self.arena = arena
        self.reporter = reporter
        let assignments = try Mailbox<Assignment>(elementsMax: 16)
        self.assignments = assignments
        let body: @Sendable () -> Void = {
            // The bus thread with its cancels goes first; where this one may not stand back, it is
            // as urgent.
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
        precondition(isPosted, "a worker holds no more jobs than its credit")
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
                next = try assignments.take(milliseconds: rests.popFirst())
            } catch {
                // Without its mailbox the thread is of no use; the job's deadline ends the process.
                return
            }
            guard let next else {
                work.rest()
                continue
            }
            reporter.finish(outcome(of: next.job, next.flag, work))
            rests = restMilliseconds[...]
        }
    }

    /// Milliseconds after which an idle thread rests: what a job has read is released soon, but
    /// not at once.
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
    /// A job that another kind of worker does.
    public static func notOurs(_ work: JobWork) -> ImageError {
        ImageError(.protocolViolation, "this worker does no \(work.kind.name) job")
    }
}

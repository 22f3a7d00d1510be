import EventLoop
public import ImageModel
public import Linux
public import Messages
public import SharedArena
public import StageContract

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

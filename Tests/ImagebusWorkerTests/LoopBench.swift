import Glibc
import Model
import TestKit

@testable import ProcessRuntime

/// An executor that only does what a test specifies, and records its calls.
final class NotingExecutor: JobExecutor {
    enum Call: Equatable {
        case start(JobID)
        case finished(JobID)
        case cancel(JobID)
        case adjust(JobAdjustment)
        case release([BlockID])
        case abandon
        case discard(BlockID)
        case flush
    }

    let credit: UInt32 = 3
    let needsHardCancel: Bool
    var hasTooManyAbandonedJobs = false
    let reporter: WorkerReporter
    private(set) var calls: [Call] = []
    /// Whether it immediately reports an outcome when a job starts or is canceled.
    var answersStart = false
    var answersCancel = false

    init(needsHardCancel: Bool = true) throws {
        self.needsHardCancel = needsHardCancel
        reporter = try WorkerReporter()
    }

    /// The number of recorded calls equal to this one.
    func count(_ call: Call) -> Int { calls.count { $0 == call } }

    func start(_ job: Job) {
        calls.append(.start(job.id))
        if answersStart { report(job.id, .miss) }
    }

    func finished(_ id: JobID) { calls.append(.finished(id)) }

    func cancel(_ id: JobID) {
        calls.append(.cancel(id))
        if answersCancel { report(id, .failed(ImageError(.cancelled, "as told"))) }
    }

    func adjust(_ adjustment: JobAdjustment) { calls.append(.adjust(adjustment)) }

    func release(_ blocks: [BlockID]) { calls.append(.release(blocks)) }

    func abandon() { calls.append(.abandon) }

    func discard(_ reference: BlockReference) { calls.append(.discard(reference.block)) }

    func flush() {
        calls.append(.flush)
        reporter.flushed()
    }

    private func report(_ id: JobID, _ result: JobResult) {
        reporter.finish(JobOutcome(id: id, attempt: 1, result: result, workMicroseconds: 1))
    }
}

/// A worker's loop without a coordinator: a test supplies the coordinator's messages and the time.
/// Timers due at that time fire as if it had come.
final class LoopBench {
    var loop: WorkerLoop
    let executor: NotingExecutor
    private let folder: TestKit.TemporaryDirectory

    init(
        _ executor: NotingExecutor, standing: WorkerTrust = .own,
        _ change: (inout WorkerPolicy) -> Void = { _ in }
    ) throws {
        let folder = TestKit.TemporaryDirectory()
        let arguments = try ProgramArguments(
            ["--runtime-dir", folder.path, "--log-level", "error"], valued: Bootstrap.valued)
        var policy = WorkerPolicy()
        change(&policy)
        // A program blocks signals for all its threads; this thread runs other tests as well.
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        defer { pthread_sigmask(SIG_SETMASK, &mask, nil) }
        let bootstrap = try Bootstrap(program: "imagebus-test", arguments)
        let loop = try WorkerLoop(
            pool: PoolName(.decode), bootstrap: bootstrap,
            machine: WorkerMachine(executor: executor, arenas: []), reporter: executor.reporter,
            memory: nil, policy: policy, trust: standing)
        self.loop = loop
        self.executor = executor
        self.folder = folder
    }

    var exitStatus: Int32? { loop.exitStatus }
    var outbox: [WorkerMessage] { loop.outbox }

    /// The last message to the coordinator, if it is a goodbye.
    var goodbye: GoodbyeReason? {
        if case .goodbye(let reason)? = loop.outbox.last { reason } else { nil }
    }

    /// Delivers an event to the session and performs its actions.
    func happen(_ event: (inout WorkerSession) -> [WorkerSession.Action]) throws {
        let actions = event(&loop.session)
        try loop.perform(actions)
    }

    /// Delivers a command of the coordinator.
    func hear(_ command: WorkerCommand) throws { try happen { $0.received(command) } }

    /// Connects, and lets the coordinator welcome the worker.
    func join() throws {
        try happen { $0.linkUp() }
        let epoch = Epoch(Identifier128(high: 1, low: 1))
        try hear(.welcome(WorkerWelcome(epoch: epoch)))
    }

    /// Assigns a job.
    func give(_ job: UInt64, milliseconds: UInt32) throws {
        let work = JobWork.fetch(FetchWork(url: "http://h/a", headers: [], bodyBytesMax: 1))
        try hear(
            .job(
                Job(
                    id: JobID(job), attempt: 1, work: work, millisecondsLeft: milliseconds,
                    priority: .normal)))
    }

    /// Adjusts the deadline of a job.
    func adjust(_ job: UInt64, milliseconds: UInt32) throws {
        try hear(
            .adjust(
                JobAdjustment(
                    id: JobID(job), millisecondsLeft: milliseconds, priority: .normal)))
    }

    /// Fires all timers due at that time.
    func pass(to now: Instant) throws {
        while let timer = loop.timers.removeDue(at: now) { try loop.fire(timer, at: now) }
    }
}

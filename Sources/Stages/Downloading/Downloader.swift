import Curl
public import ImageModel
import Linux
public import Messages
public import StageContract
import Synchronization

/// Fetches URLs into shared memory: one thread, many transfers. Any thread may call it.
///
/// Every job that was started gets exactly one outcome, and no progress after it.
public final class Downloader: Sendable {
    /// As options say.
    private let configuration: DownloadConfiguration
    private let inbox: DownloadInbox
    private let waker: TransferWaker
    private let loopPulse: LoopPulse
    private let thread: Mutex<Linux.Thread?>
    private let onOutcome: @Sendable (JobOutcome) -> Void

    /// Starts the thread. What `onProgress` is told of as handed out is the receiver's to free in
    /// the space. `onProgress` and `onOutcome` are called on it, or by `start` on the
    /// caller's thread where a job cannot be taken; they must not block.
    ///
    /// Throws `invalidRequest` for a configuration that makes no sense, and `internalError` where
    /// the library or the system gives no handle or thread.
    public init(
        _ configuration: DownloadConfiguration, into space: any SharingSpace,
        onProgress: @escaping @Sendable (JobProgress) -> Void,
        onOutcome: @escaping @Sendable (JobOutcome) -> Void
    ) throws(ImageError) {
        if let file = configuration.certificatesFile { try CertificatesFile.check(file) }
        let policy = try configuration.policy()
        self.configuration = configuration
        let inbox = DownloadInbox(jobsMax: configuration.jobsMax)
        let loop: DownloadLoop
        do throws(CurlError) {
            loop = DownloadLoop(
                try TransferSet(try CurlLibrary.start(), policy: policy),
                configuration: configuration,
                proxied: policy.proxied, inbox: inbox,
                space: space, onProgress: onProgress,
                onOutcome: onOutcome)
        } catch {
            throw ImageError(.internalError, "libcurl does not start: \(error)")
        }
        self.inbox = inbox
        self.onOutcome = onOutcome
        waker = loop.waker
        loopPulse = loop.pulse
        do throws(Errno) {
            let started = try Linux.Thread(name: "download") { loop.run() }
            thread = Mutex(started)
        } catch {
            throw ImageError(.internalError, "no thread for transfers: \(error)")
        }
    }

    deinit {
        stop()
    }

    /// Takes a fetch job. Its deadline counts from now.
    public func start(_ job: Job) {
        if let error = inbox.admit(job) {
            onOutcome(
                JobOutcome(
                    id: job.id, attempt: job.attempt, result: .failed(error), workMicroseconds: 0))
        } else {
            waker.wake()
        }
    }

    /// Ends a job with `cancelled`: its connection is closed within one turn of the loop. Nothing
    /// for a job that has its outcome.
    public func cancel(_ id: JobID) {
        if inbox.cancel(id) { waker.wake() }
    }

    /// Sets a new deadline, and from now on reports progress and hands out what has arrived, if
    /// that is wanted. Nothing for a job that has its outcome.
    public func adjust(_ adjustment: JobAdjustment) {
        if inbox.adjust(adjustment) { waker.wake() }
    }

    /// Transfers that begin from now on are made as options and these settings say; those of the
    /// settings win.
    public func adopt(_ settings: DownloadSettings) {
        let adopted = configuration.adopting(settings)
        // The addresses are those of the options, which were looked at.
        guard let policy = try? adopted.policy() else { return }
        inbox.adopt(adopted, policy)
        waker.wake()
    }

    /// What its thread is at.
    public var pulse: DownloadPulse { loopPulse.now }

    /// Ends all jobs with `shuttingDown` and waits for the thread. Later jobs get the same answer.
    /// Not to be called from `onProgress` or `onOutcome`.
    public func stop() {
        inbox.stop()
        waker.wake()
        let ended = thread.withLock { $0.take() }
        ended?.join()
    }
}

/// What other threads want of the loop since its last turn. Bounded by the jobs that are alive.
final class DownloadInbox: Sendable {
    /// A job with the moment at which its time is over.
    struct Admission: Sendable {
        let job: Job
        let deadline: Instant
    }

    /// Everything wanted since the last turn.
    struct Batch: Sendable {
        var admissions: [Admission] = []
        var deadlines: [JobID: Instant] = [:]
        var progress: Set<JobID> = []
        var arrived: Set<JobID> = []
        var cancellations: Set<JobID> = []
        /// How transfers are made from now on.
        var settings: (configuration: DownloadConfiguration, policy: TransferPolicy)?
        var isStopping = false
    }

    private struct State: Sendable {
        var batch = Batch()
        var live: Set<JobID> = []
    }

    private let state = Mutex(State())
    private let jobsMax: Int

    init(jobsMax: Int) {
        self.jobsMax = jobsMax
    }

    /// Why a job is not taken, or nil.
    func admit(_ job: Job) -> ImageError? {
        let deadline = Self.deadline(after: job.millisecondsLeft)
        return state.withLock { state in
            if state.batch.isStopping { return DownloadFailure.shuttingDown.imageError }
            if state.live.count >= jobsMax { return DownloadFailure.tooMany(jobsMax).imageError }
            guard state.live.insert(job.id).inserted else {
                return DownloadFailure.defect("job \(job.id.value) runs already").imageError
            }
            state.batch.admissions.append(Admission(job: job, deadline: deadline))
            return nil
        }
    }

    func cancel(_ id: JobID) -> Bool {
        whileAlive(id) { $0.cancellations.insert(id) }
    }

    func adjust(_ adjustment: JobAdjustment) -> Bool {
        let deadline = Self.deadline(after: adjustment.millisecondsLeft)
        return whileAlive(adjustment.id) { batch in
            batch.deadlines[adjustment.id] = deadline
            if adjustment.wantsProgress { batch.progress.insert(adjustment.id) }
            if adjustment.wantsArrived { batch.arrived.insert(adjustment.id) }
        }
    }

    func adopt(_ configuration: DownloadConfiguration, _ policy: TransferPolicy) {
        state.withLock { $0.batch.settings = (configuration, policy) }
    }

    func stop() {
        state.withLock { $0.batch.isStopping = true }
    }

    /// Everything since the last call.
    func take() -> Batch {
        state.withLock { state in
            defer { state.batch = Batch(isStopping: state.batch.isStopping) }
            return state.batch
        }
    }

    /// The job is about to get its outcome; its id may come again.
    func forget(_ id: JobID) {
        state.withLock { state in
            state.live.remove(id)
            state.batch.cancellations.remove(id)
            state.batch.progress.remove(id)
            state.batch.arrived.remove(id)
            state.batch.deadlines[id] = nil
        }
    }

    private func whileAlive(_ id: JobID, _ change: (inout Batch) -> Void) -> Bool {
        state.withLock { state in
            guard state.live.contains(id) else { return false }
            change(&state.batch)
            return true
        }
    }

    private static func deadline(after milliseconds: UInt32) -> Instant {
        Instant(nanoseconds: MonotonicClock.now()).adding(milliseconds: Int(milliseconds))
    }
}

/// What the thread of a downloader is at, for whoever looks from another one.
///
/// A thread that stands in one turn for long does nothing for all the other transfers, and no
/// cancel reaches it.
public struct DownloadPulse: Hashable, Sendable {
    /// Counts turns; another one at each look, while the thread turns.
    public let turn: UInt64
    /// Whether it waits for something to do, which may last.
    public let isWaiting: Bool
    /// The job whose bytes are handled at the moment.
    public let job: JobID?
}

/// Where the loop writes its pulse.
final class LoopPulse: Sendable {
    /// Odd while the loop is at work.
    private let turns = Atomic<UInt64>(0)
    private let job = Atomic<UInt64>(0)

    func began() { turns.add(1, ordering: .releasing) }

    func waits() { turns.add(1, ordering: .releasing) }

    /// The bytes of a job are handled in `body`.
    func handling<Result, Failure>(
        _ id: JobID, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        job.store(id.value, ordering: .releasing)
        defer { job.store(0, ordering: .releasing) }
        return try body()
    }

    var now: DownloadPulse {
        let turn = turns.load(ordering: .acquiring)
        let job = job.load(ordering: .acquiring)
        return DownloadPulse(
            turn: turn, isWaiting: turn % 2 == 0, job: job == 0 ? nil : JobID(job))
    }
}

/// Takes the response of a job as its sink does, and says meanwhile that it is this job's.
final class MarkedSink: TransferSink {
    private let sink: any TransferSink
    private let job: JobID
    private let pulse: LoopPulse

    init(_ sink: any TransferSink, of job: JobID, _ pulse: LoopPulse) {
        (self.sink, self.job, self.pulse) = (sink, job, pulse)
    }

    func receive(_ head: ResponseHead) -> Bool { pulse.handling(job) { sink.receive(head) } }

    func receive(_ bytes: RawSpan) -> Reception { pulse.handling(job) { sink.receive(bytes) } }
}

import Curl
import Linux
package import Model
import Synchronization

/// Fetches URLs into shared memory with one thread and many transfers. May be called from any
/// thread.
///
/// Every started job gets exactly one outcome, and no progress after it.
package final class Downloader: Sendable {
    /// The configuration from command-line options.
    private let configuration: DownloadConfiguration
    private let inbox: DownloadInbox
    private let waker: TransferWaker
    private let loopHeartbeat: LoopHeartbeat
    private let thread: Mutex<Linux.Thread?>
    private let onOutcome: @Sendable (JobOutcome) -> Void

    /// Starts the thread. The receiver of `onProgress` must free published blocks in the space.
    /// `onProgress` and `onOutcome` are called on the thread, or within `start` on the caller's
    /// thread if a job is rejected; they must not block.
    ///
    /// Throws `invalidRequest` for an invalid configuration, and `internalError` if the library or
    /// the system can't provide a handle or thread.
    package init(
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
                configuration: configuration, proxied: policy.proxied, inbox: inbox,
                space: space, onProgress: onProgress, onOutcome: onOutcome)
        } catch {
            throw ImageError(.internalError, "libcurl cannot be initialized: \(error)")
        }
        self.inbox = inbox
        self.onOutcome = onOutcome
        waker = loop.waker
        loopHeartbeat = loop.heartbeat
        do throws(Errno) {
            let started = try Linux.Thread(name: "download") { loop.run() }
            thread = Mutex(started)
        } catch {
            throw ImageError(.internalError, "cannot start the transfer thread: \(error)")
        }
    }

    deinit {
        stop()
    }

    /// Starts a fetch job. Its deadline counts from now.
    package func start(_ job: Job) {
        if let error = inbox.admit(job) {
            onOutcome(
                JobOutcome(
                    id: job.id, attempt: job.attempt, result: .failed(error), workMicroseconds: 0))
        } else {
            waker.wake()
        }
    }

    /// Cancels a job, which fails with `cancelled`: its connection is closed within one turn of the
    /// loop. No effect after its outcome.
    package func cancel(_ id: JobID) {
        if inbox.send(to: id, { $0.end(id, .cancelled) }) { waker.wake() }
    }

    /// Sets a new deadline; from now on reports progress and publishes partial data, if requested.
    /// No effect after its outcome.
    package func adjust(_ adjustment: JobAdjustment) {
        let deadline = DownloadInbox.deadline(after: adjustment.millisecondsLeft)
        if inbox.adjust(adjustment.id, { $0.adjust(adjustment, deadline) }) { waker.wake() }
    }

    /// Applies settings to transfers that start from now on; they override command-line options.
    package func adopt(_ settings: DownloadSettings) {
        let adopted = configuration.adopting(settings)
        // The addresses come from the options, which were already validated.
        guard let policy = try? adopted.policy() else { return }
        inbox.adopt { $0.adopt(adopted, policy) }
        waker.wake()
    }

    /// The current activity of the thread.
    package var heartbeat: DownloadHeartbeat { loopHeartbeat.now }

    /// Ends all jobs with `shuttingDown` and waits for the thread. Later jobs get the same error.
    /// Must not be called from `onProgress` or `onOutcome`.
    package func stop() {
        inbox.stop()
        waker.wake()
        let ended = thread.withLock { $0.take() }
        ended?.join()
    }
}

/// The requests and answers of other threads since the loop's last turn. Limited by the number of
/// jobs.
final class DownloadInbox: Sendable {
    /// A request, which the loop executes on its thread.
    typealias Command = @Sendable (DownloadLoop) -> Void

    private struct State: Sendable {
        var commands: [(job: JobID?, run: Command)] = []
        /// The newest adjustment of each job, and the newest settings.
        var adjustments: [JobID: Command] = [:]
        var settings: Command?
        var live: Set<JobID> = []
        var isStopping = false
    }

    private let state = Mutex(State())
    private let jobsMax: Int

    init(jobsMax: Int) {
        self.jobsMax = jobsMax
    }

    /// Returns why a job is rejected, or nil.
    func admit(_ job: Job) -> ImageError? {
        let deadline = Self.deadline(after: job.millisecondsLeft)
        return state.withLock { state in
            if state.isStopping { return ImageError.shuttingDown }
            if state.live.count >= jobsMax {
                return ImageError(.busy, "this worker already has \(jobsMax) downloads")
            }
            guard state.live.insert(job.id).inserted else {
                return ImageError.defect("job \(job.id.value) is already running")
            }
            state.commands.append((job.id, { $0.begin(job, deadline: deadline) }))
            return nil
        }
    }

    /// Sends a request that concerns a job; returns false if the job has got its outcome.
    func send(to id: JobID, _ command: @escaping Command) -> Bool {
        state.withLock { state in
            guard state.live.contains(id) else { return false }
            state.commands.append((id, command))
            return true
        }
    }

    /// Sends an adjustment in place of an earlier one that the loop hasn't executed; returns false
    /// if the job has got its outcome.
    func adjust(_ id: JobID, _ command: @escaping Command) -> Bool {
        state.withLock { state in
            guard state.live.contains(id) else { return false }
            state.adjustments[id] = command
            return true
        }
    }

    /// Sends the answer of a file reader; it is executed even if its job has got its outcome.
    func send(_ answer: @escaping Command) {
        state.withLock { $0.commands.append((nil, answer)) }
    }

    /// Sends settings in place of earlier ones that the loop hasn't executed.
    func adopt(_ command: @escaping Command) { state.withLock { $0.settings = command } }

    func stop() {
        state.withLock { $0.isStopping = true }
    }

    /// Removes and returns all requests since the last call, settings first, and whether the loop must stop.
    func drain() -> (commands: [Command], isStopping: Bool) {
        state.withLock { state in
            defer { (state.commands, state.adjustments, state.settings) = ([], [:], nil) }
            let settings = state.settings.map { [$0] } ?? []
            let commands = settings + state.commands.map(\.run) + state.adjustments.values
            return (commands, state.isStopping)
        }
    }

    /// Removes a job that is about to get its outcome; its ID may be reused.
    func forget(_ id: JobID) {
        state.withLock { state in
            state.live.remove(id)
            state.commands.removeAll { $0.job == id }
            state.adjustments[id] = nil
        }
    }

    static func deadline(after milliseconds: UInt32) -> Instant {
        Instant(nanoseconds: MonotonicClock.now()).adding(milliseconds: Int(milliseconds))
    }
}

/// The activity of a downloader's thread, as seen by other threads.
///
/// While the thread is stuck in one turn, it processes neither other transfers nor cancellations.
package struct DownloadHeartbeat: Hashable, Sendable {
    /// The turn counter, which differs at each check while the thread makes progress.
    package let turn: UInt64
    /// Whether it waits for events, which may take long.
    package let isWaiting: Bool
    /// The job whose bytes are being processed.
    package let job: JobID?
}

/// The shared state to which the loop writes its activity.
final class LoopHeartbeat: Sendable {
    /// Odd while the loop is working.
    private let turns = Atomic<UInt64>(0)
    private let job = Atomic<UInt64>(0)

    /// Begins or ends the work of a turn.
    func turn() { turns.add(1, ordering: .releasing) }

    /// Runs `body`, which processes bytes of a job.
    func handling<Result, Failure>(
        _ id: JobID, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        job.store(id.value, ordering: .releasing)
        defer { job.store(0, ordering: .releasing) }
        return try body()
    }

    var now: DownloadHeartbeat {
        let turn = turns.load(ordering: .acquiring)
        let job = job.load(ordering: .acquiring)
        return DownloadHeartbeat(
            turn: turn, isWaiting: turn % 2 == 0, job: job == 0 ? nil : JobID(job))
    }
}

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

import Curl
import ImageModel
import Linux
import Messages
import Synchronization

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

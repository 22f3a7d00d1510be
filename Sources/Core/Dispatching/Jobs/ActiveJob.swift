import ImageModel
import Messages

/// A job from the moment it is wanted until its outcome, or until nobody wants it and no worker
/// has it.
struct ActiveJob: Sendable {
    /// Where it is; never in two places.
    enum Place: Sendable, Equatable {
        /// In the queue of its pool, under the ticket of its newest entry there.
        case queued
        /// Found no space; waits for a release (SEMANTICS §9.5).
        case parked
        /// Its worker says that the bytes are not there; the cache is asked whether that is so.
        case disputed
        /// Its transfer failed; waits for another attempt.
        indirect case delayed(RetryDelay)
        /// At a worker, which answers with exactly one outcome.
        case held(by: WorkerID)
    }

    /// What a job of the dispatcher's own finds out: whether the bytes of a disputed job are there,
    /// as its worker says that they are not; of several inputs those of one.
    struct Probe: Sendable {
        let job: JobID
        let input: Int
        let accuser: WorkerID
    }

    let id: JobID
    private let submitted: Submitted
    /// `nil`: somebody else submitted it.
    let probe: Probe?
    /// Whether anybody wants the outcome.
    var isWanted = true
    /// Whether it waits for space outside, where there is none.
    var waitsForSpace: Bool
    /// Whether anybody listens to how far it is.
    var wantsProgress: Bool
    /// Whether somebody wants to look at what has arrived.
    var wantsArrived: Bool
    var place = Place.queued
    var attempt: UInt32 = 1
    /// Workers that were lost with it.
    var losses = 0
    /// Attempts after failures of its origin.
    var retries = 0
    var urgency: Urgency

    /// Who does it.
    var pool: PoolID

    /// Whose share of a pool's workers it takes while one of them has it, and whose it was then.
    var holder = FlowID.house

    /// Its place among jobs that wait.
    var ticket = StageQueue.Ticket.none
    /// Waiting, in milliseconds, without the time since `waitingSince`.
    var waited = 0.0
    var waitingSince: Instant

    /// When the worker has to give it up, and what it was told.
    var told = Urgency.none
    /// The latest moment that the stage permits.
    var cap = Instant(nanoseconds: .max)
    /// When the dispatcher looks after a job that has not been answered.
    var alarm: Instant?
    /// Since when the worker has it.
    var heldSince = Instant(nanoseconds: 0)
    /// When the worker was told to stop.
    var stoppedAt: Instant?

    init(_ id: JobID, _ submission: Submission, probe: Probe?, at now: Instant) {
        self.id = id
        submitted = Submitted(submission)
        self.probe = probe
        waitsForSpace = submission.waitsForSpace
        wantsProgress = submission.wantsProgress
        wantsArrived = submission.wantsArrived
        urgency = submission.urgency.bounded(submission.spec.stage)
        pool = PoolID(submission.spec.kind)
        waitingSince = now
    }

    /// What never changes lies in one place: a job is handed around much more often than it is
    /// submitted.
    private final class Submitted: Sendable {
        let submission: Submission

        init(_ submission: Submission) { self.submission = submission }
    }

    var submission: Submission { _read { yield submitted.submission } }

    /// Whether it waits, for a worker or for something else.
    var isWaiting: Bool { worker == nil }
    var isStopped: Bool { stoppedAt != nil }
    var isExpendable: Bool { submission.isExpendable }
    /// Whether a cache of somebody else's does it, once or not at all, and is not believed as our
    /// own is.
    var isOfForeignCache: Bool { submission.foreignCache != nil }
    var spec: JobSpec { submission.spec }
    var suspect: Suspect? { submission.suspect }
    var rank: UInt8 { submission.rank }
    var work: JobWork { spec.work }
    var kind: WorkerKind { spec.kind }
    var stage: JobStage { spec.stage }
    /// Where it is counted while it waits.
    var load: Int { JobTable.load(of: pool, stage) }

    /// The blocks that it reads, held for as long as it is there.
    var inputs: [BlockHandle] { (submission.input.map { [$0] } ?? []) + submission.overlays }

    var worker: WorkerID? {
        if case .held(let worker) = place { return worker }
        return nil
    }

    /// As what it counts among the jobs of the worker that has it.
    var share: PlaceShare {
        if isExpendable { return .expendable }
        return told.priority == .low ? .low : .full
    }

    /// The urgency that a worker is told: nothing is held longer than the stage permits.
    var effective: Urgency {
        Urgency(
            priority: urgency.priority, deadline: min(urgency.deadline, cap),
            flows: urgency.flows)
    }
}

extension Urgency {
    /// A store is finished whoever still waits: the result exists (SEMANTICS §8.4).
    func bounded(_ stage: JobStage) -> Urgency { stage == .store ? unbounded : self }
}

extension ActiveJob {
    /// Bytes of all that it reads.
    var inputBytes: UInt64 { submission.inputBytes }
}

extension Submission {
    /// Bytes of all that the job reads.
    var inputBytes: UInt64 { spec.work.inputs.reduce(0) { $0 + $1.length } }
}

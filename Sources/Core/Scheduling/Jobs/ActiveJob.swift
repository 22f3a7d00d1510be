import ImageModel
import Messages

/// A job from the moment it is wanted until its outcome, or until nobody wants it and no worker
/// has it.
struct ActiveJob: Sendable {
    /// Where it is; never in two places.
    enum Place: Sendable, Equatable {
        /// In the queue of its kind, under the ticket of its newest entry there.
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

    /// What its outcome is for.
    enum Purpose: Sendable {
        case lookup(LookupNode.ID)
        case source(SourceNode.ID)
        case original(SourceNode.ID)
        /// What a serializer makes, and its store.
        case transcode(TranscodeNode.ID)
        case decode(DecodeNode.ID)
        case transform(ResultNode.ID)
        case delivery(ResultNode.ID)
        /// An operator asked; with the number of the question.
        case entry(ClientID, UInt64)
        /// What a refresh found outdated, and no store replaces; under this text.
        case removal(String)
        /// Whether a refreshed body is the stored one.
        case weighing(SourceNode.ID)
        /// Whether the bytes of a disputed job are there, as its worker says that they are not; of
        /// several inputs those of one.
        case probe(of: JobID, input: Int, accuser: WorkerID)
    }

    let id: JobID
    let sheet: JobSheet
    /// The block that it reads, held for as long as the job is there, and those that it reads
    /// beside it.
    let input: BlockHandle?
    var overlays: [BlockHandle] = []
    /// What a crash of its worker would be evidence against.
    let suspect: Suspect?
    /// Of the request that began the work.
    var trace: TraceContext?
    /// `nil` once nobody wants the outcome.
    var purpose: Purpose?
    var place = Place.queued
    var attempt: UInt32 = 1
    /// Workers that were lost with it.
    var losses = 0
    /// Attempts after failures of its origin.
    var retries = 0
    var urgency: Urgency

    /// Whose share of a kind's workers it takes while one of them has it, and whose it was then.
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
    /// When the scheduler looks after a job that has not been answered.
    var alarm: Instant?
    /// When the worker was told to stop.
    var stoppedAt: Instant?

    /// Whether it waits, for a worker or for something else.
    var isWaiting: Bool { worker == nil }
    var isStopped: Bool { stoppedAt != nil }
    var inputs: [BlockHandle] { (input.map { [$0] } ?? []) + overlays }
    var work: JobWork { sheet.work }
    var kind: WorkerKind { sheet.kind }
    var stage: JobStage { sheet.stage }

    var worker: WorkerID? {
        if case .held(let worker) = place { return worker }
        return nil
    }

    /// The urgency that a worker is told: nothing is held longer than the stage permits.
    var effective: Urgency {
        Urgency(
            priority: urgency.priority, deadline: min(urgency.deadline, cap),
            flows: urgency.flows)
    }

    /// Within one class and kind, what ends a request comes before what begins one, and what no
    /// reply waits for comes last.
    var rank: UInt8 {
        switch purpose {
        case .delivery, .probe, .weighing, .removal: 0
        case .original: 1
        case .transcode: kind == .cache ? 1 : 3
        case .lookup, .source, .decode, .transform, .entry, nil: 2
        }
    }
}

extension ActiveJob.Purpose {
    /// Whether it waits for space outside, where there is none: what no reply waits for does not.
    var mayWaitForSpace: Bool {
        switch self {
        case .original, .weighing, .transcode, .removal: false
        default: true
        }
    }
}

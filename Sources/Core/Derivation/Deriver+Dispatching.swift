package import Dispatching
package import ImageModel
package import Messages
import Tables

// What is said to the dispatcher by whoever hears of workers, blocks and the time.
extension Deriver {
    /// The time of the event that is being handled.
    package var now: Instant {
        get { dispatcher.now }
        set { dispatcher.now = newValue }
    }

    /// What workers are to be told, in order; whoever handles the event takes it.
    package mutating func takeActions(_ take: (DispatchAction) -> Void) {
        guard !dispatcher.actions.isEmpty else { return }
        for action in dispatcher.actions { take(action) }
        dispatcher.actions.removeAll(keepingCapacity: true)
    }

    /// Gives out what waits for as long as somebody has credit.
    package mutating func dispatch() { dispatcher.dispatch() }

    // MARK: - Workers

    package mutating func workerJoined(
        _ worker: WorkerID, _ pool: PoolID, _ incarnation: Incarnation, credit: UInt32,
        _ capabilities: WorkerCapabilities
    ) {
        dispatcher.workerJoined(worker, pool, incarnation, credit: credit, capabilities)
    }

    package mutating func grew(_ worker: WorkerID, by more: UInt32) {
        dispatcher.grew(worker, by: more)
    }

    package mutating func workerDraining(_ worker: WorkerID) { dispatcher.workerDraining(worker) }

    package mutating func workerLeft(_ worker: WorkerID, _ crash: CrashRecord?) {
        dispatcher.workerGone(worker, crash)
    }

    package mutating func expel(_ worker: WorkerID, _ error: ImageError) {
        dispatcher.expel(worker, error)
    }

    package mutating func progressed(_ progress: JobProgress, at worker: WorkerID) {
        dispatcher.progressed(progress, at: worker)
    }

    package mutating func collect(
        _ outcome: JobOutcome, from worker: WorkerID, hasReaders: Bool
    ) {
        dispatcher.collect(outcome, from: worker, hasReaders: hasReaders)
    }

    // MARK: - Blocks

    package mutating func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        dispatcher.opened(segments, by: worker)
    }

    package mutating func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        dispatcher.closed(segments, by: worker)
    }

    package mutating func takeUpload(
        _ reference: BlockReference, as format: ImageFormat?
    ) throws(ImageError) -> Upload {
        let taken = try dispatcher.takeUpload(reference, as: format)
        return Upload(block: taken.block, reference: taken.reference)
    }

    package mutating func checkResult(_ reference: BlockReference, from worker: WorkerID)
        -> BlockReference?
    {
        dispatcher.checkResult(reference, from: worker)
    }

    package mutating func hold(_ handle: BlockHandle) { dispatcher.hold(handle) }

    package mutating func drop(_ handle: BlockHandle) { dispatcher.drop(handle) }

    package mutating func release(_ handle: BlockHandle) { dispatcher.release(handle) }

    // MARK: - Time

    package mutating func retryParked() { dispatcher.retryParked() }

    /// When something that waits for time is due; `nil` where nothing does.
    package var nextDeadline: Instant? { dispatcher.nextDeadline.orEarlier(errands.nextAlarm) }

    /// When the next alarm rings.
    package var nextAlarm: Instant? { dispatcher.nextAlarm.orEarlier(errands.nextAlarm) }

    package mutating func ringFirstAlarm() -> Bool {
        guard let ours = errands.nextAlarm, ours <= dispatcher.nextAlarm ?? ours else {
            return dispatcher.ringFirstAlarm()
        }
        return ringErrand()
    }

    package mutating func forgetAlarms() {
        dispatcher.forgetAlarms()
        errands.forgetAlarms()
    }

    // MARK: - What is not tried

    /// The last number that an entry was given of any list of what is not tried.
    package var lastDenial: UInt64 {
        get { dispatcher.lastDenial }
        set { dispatcher.lastDenial = newValue }
    }

    package mutating func forgive(_ url: String?) -> Int { dispatcher.forgive(url) }

    // MARK: - What is at hand

    /// Whether nothing is left of anything: no node, no job, no block, no list that grew.
    package var isIdle: Bool {
        lookups.isEmpty && validities.isEmpty && results.isEmpty && decodes.isEmpty
            && sources.isEmpty && transcodes.count == 0 && partials.count == 0 && gatherings.isEmpty
            && purposes.isEmpty && errands.isEmpty && changes.isQuiet
            && overlayBytes.count == 0 && isSilent && dispatcher.isIdle
    }
}

import Dispatching
import ImageModel
import Messages

// Work that is given to the dispatcher, and taken back.
extension Scheduler {
    /// The one cache, while it is there.
    var cache: WorkerID? { dispatcher.cache }

    /// A new job, at the end of its queue. It holds the blocks that it reads.
    mutating func submit(
        _ work: JobWork, for purpose: JobPurpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil,
        maker: Suspect? = nil
    ) -> JobID {
        submit(
            JobSpec(work), for: purpose, reading: input, beside: overlays, urgency,
            suspect: suspect, maker: maker)
    }

    /// The same again.
    mutating func submit(
        _ spec: JobSpec, for purpose: JobPurpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil,
        maker: Suspect? = nil
    ) -> JobID {
        var submission = Submission(spec, urgency)
        submission.input = input
        submission.overlays = overlays
        submission.rank = purpose.rank(spec.kind)
        submission.suspect = suspect
        submission.maker = maker
        submission.trace = trace(of: purpose)
        submission.waitsForSpace = purpose.waitsForSpace
        let id = dispatcher.submit(submission)
        purposes[id] = purpose
        return id
    }

    /// The trace of the request that began the work.
    private func trace(of purpose: JobPurpose) -> TraceContext? {
        switch purpose {
        case .lookup(let node): lookups[node].trace
        case .source(let node), .original(let node), .weighing(let node): sources[node].trace
        case .transcode(let node): transcodes[node].trace
        case .decode(let node): decodes[node].trace
        case .transform(let node), .delivery(let node): results[node].order.trace
        case .entry, .removal: nil
        }
    }

    /// Nobody wants the outcome any more.
    mutating func abandon(_ id: JobID) {
        purposes[id] = nil
        dispatcher.abandon(id)
        takeDispatches()
    }

    /// Those who wait want it more or less than before.
    mutating func retune(_ id: JobID?, _ urgency: Urgency) {
        guard let id else { return }
        dispatcher.reprioritise(id, urgency)
        takeDispatches()
    }

    /// Why no job of the stage can be begun, if it is over its bound.
    mutating func refusal(in stage: JobStage) -> ImageError? { dispatcher.refusal(in: stage) }

    /// What workers are to be told comes where it belongs among all that is to be done.
    mutating func takeDispatches() {
        guard !dispatcher.actions.isEmpty else { return }
        for action in dispatcher.actions { actions.append(SchedulerAction(action)) }
        dispatcher.actions.removeAll(keepingCapacity: true)
    }
}

extension SchedulerAction {
    fileprivate init(_ action: DispatchAction) {
        switch action {
        case .assign(let worker, let job): self = .assign(worker, job)
        case .cancelJob(let worker, let job): self = .cancelJob(worker, job)
        case .adjust(let worker, let adjustment): self = .adjust(worker, adjustment)
        case .release(let worker, let blocks): self = .release(worker, blocks)
        case .expel(let worker, let error): self = .expel(worker, error)
        }
    }
}

import Dispatching
import ImageModel
import Messages
import Tables

// Work that is given to the dispatcher, and taken back.
extension Deriver {
    /// A new job, at the end of its queue. It holds the blocks that it reads.
    mutating func submit(
        _ work: JobWork, for purpose: JobPurpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil,
        maker: Suspect? = nil
    ) -> JobID {
        submit(
            JobSpec(layout.isEmpty ? work : layout.expanded(work)), for: purpose, reading: input,
            beside: overlays, urgency,
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
        submission.logContext = logContext(of: purpose)
        submission.waitsForSpace = purpose.waitsForSpace
        switch purpose {
        // It is begun again for those who listened and looked.
        case .source(let node):
            submission.wantsProgress = sources[node].hasListeners
            submission.wantsArrived = sources[node].early.isWanted
        case .decode(let node): submission.coders = decodes[node].name.key.coders
        case .transform(let node): submission.isForeign = results[node].chain?.isForeign ?? false
        case .partial(let node):
            submission.isExpendable = true
            submission.coders = results[partials[node].result].name.key.decode.coders
        default: break
        }
        let id = giveOut(submission)
        purposes[id] = purpose
        if layout.promotes, spec.kind == .cache {
            changes.began(id, spec.work)
            voidPromotions(by: spec.work)
        }
        return id
    }

    private mutating func giveOut(_ submission: Submission) -> JobID {
        guard submission.spec.kind == .cache, let parts = layout.parts(of: submission.spec.work)
        else { return dispatcher.submit(submission) }
        return beginErrand(submission, parts)
    }

    /// What logs say of the waiter that began the work.
    private func logContext(of purpose: JobPurpose) -> LogContext {
        switch purpose {
        case .lookup(let node): lookups[node].logContext
        case .validity(let node): validities[node].logContext
        case .source(let node), .original(let node), .comparing(let node):
            sources[node].logContext
        case .transcode(let node): transcodes[node].logContext
        case .partial(let node): results[partials[node].result].order.logContext
        case .decode(let node): decodes[node].logContext
        case .transform(let node), .delivery(let node): results[node].order.logContext
        case .inquiry, .removal, .renewal: LogContext()
        }
    }

    /// Nobody wants the outcome any more.
    mutating func abandon(_ id: JobID) {
        purposes[id] = nil
        changes.ended(id)
        if errands.contains(id) { abandonErrand(id) } else { dispatcher.abandon(id) }
    }
}

import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Work on many requests is done for a few of them in each event, and goes on from event to event:
// replies of one result, ends of a session, another class for a group.
extension Scheduler {
    /// Whether there is something to go on with in the next event.
    var isUnfinished: Bool { agenda.bulk.count > 0 || hasOverdueAlarms }

    /// Goes on with what this event and earlier ones left to do. Pieces of work take turns, and no
    /// event does too much.
    mutating func doBulkWork() {
        var budget = BulkBudget(limits)
        while !budget.isSpent, var work = agenda.nextWork() {
            var row = Self.stepsInARow
            while row > 0, !budget.isSpent, let id = work.popNext() {
                guard requests.contains(id) else { continue }
                let before = actions.count
                advance(id, by: work)
                moveOn()
                row -= 1
                budget.spend(isLong: work.step.isLong || actions.count > before)
            }
            if !work.isDone {
                agenda.append(work)
            } else if let block = work.block {
                letGo(block)
            }
        }
    }

    /// Steps of one piece before another one has its turn.
    private static var stepsInARow: Int { 16 }

    private mutating func advance(_ id: LiveRequest.ID, by work: BulkWork) {
        switch work.step {
        case .group(_, _, .priority(let priority)): reprioritise(id, priority)
        case .group(_, _, .cancel): end(id, Self.cancelled)
        case .departed: forsake(id)
        case .progress(let transfer, let progress, let info):
            tellProgress(id, progress, info, of: transfer)
        case .partial(let transfer, let image, let bytes):
            if let block = work.block { showPartial(id, image, block, of: bytes, from: transfer) }
        case .found, .missed, .validity, .made, .pending, .onward, .disposed:
            if isForsaken(id) { return forsake(id) }
            if isLost(work, for: id) { return loseAnswer(id) }
            move(id, by: work)
        }
    }

    private mutating func move(_ id: LiveRequest.ID, by work: BulkWork) {
        switch work.step {
        case .found(let hit, let timings): completeFound(id, hit, work.block, timings)
        case .made(let made): complete(id, made, work.block)
        case .validity(let known, let timings): compare(id, with: known, timings)
        case .pending: answerPending(id)
        case .missed(let tiers, let timings):
            requests[id].timings += timings
            requests[id].missed.result.formUnion(tiers)
            goOn(id, isOvertaken: work.isOvertaken)
        case .onward: goOn(id, isOvertaken: false)
        case .disposed(let disposition):
            resolve(disposition, id, isOvertaken: work.isOvertaken)
        case .group, .departed, .progress, .partial:
            preconditionFailure("these do not wait for their turn alone")
        }
    }

    /// What becomes of a request whose work was torn down.
    private mutating func resolve(
        _ disposition: Disposition, _ id: LiveRequest.ID, isOvertaken: Bool
    ) {
        switch disposition {
        case .fail(let error): reply(id, .failure(error))
        case .again: agenda.append(.again(id))
        case .afresh: goOn(id, isOvertaken: true)
        case .unmodified: reply(id, .notModified)
        case .onward(let timings, _):
            requests[id].timings += timings
            requests[id].missed.original = requests[id].plan.originalQueryTiers
            goOn(id, isOvertaken: isOvertaken)
        }
    }

    /// The next way. Where the missed text was stored while the request waited for its turn, the
    /// request looks again: otherwise there would be a second transfer.
    private mutating func goOn(_ id: LiveRequest.ID, isOvertaken: Bool) {
        if isOvertaken {
            deriver.leaveOverlays(id)
            requests[id].beginAfresh()
        }
        agenda.append(.onward(id))
    }

    /// Whether the block that the request was to be told of is gone with its cache.
    private func isLost(_ work: BulkWork, for id: LiveRequest.ID) -> Bool {
        guard let block = work.block ?? requests[id].pending?.block else { return false }
        return !deriver.dispatcher.contains(block.worker)
    }
}

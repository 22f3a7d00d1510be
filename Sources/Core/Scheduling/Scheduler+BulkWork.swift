import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// What concerns many requests is done to a few of them in each event, and goes on from event to
// event: replies of one result, ends of a session, another class for a group.
extension Scheduler {
    /// Requests that wait nowhere any more get what comes next for them, each in its turn. A block
    /// stays where it is until the last of them had its turn.
    mutating func later(
        _ step: BulkWork.Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        missed text: String? = nil
    ) {
        guard !members.isEmpty else { return }
        for id in members { requests[id].standing = .moving }
        if let block { hits.hold(block) }
        agenda.bulk.append(BulkWork(step, members, block: block, missedText: text))
    }

    /// Whether there is something to go on with in the next event.
    var isUnfinished: Bool { agenda.bulk.count > 0 || hasOverdueAlarms }

    /// Goes on with what this event and earlier ones left to do. Pieces of work take turns, and no
    /// event does too much.
    mutating func doBulkWork() {
        var budget = BulkBudget(limits)
        while !budget.isSpent, var work = agenda.bulk.popFirst() {
            var row = Self.stepsInARow
            while row > 0, !budget.isSpent, let id = work.popNext() {
                guard requests.contains(id) else { continue }
                let before = actions.count
                take(work, to: id)
                moveOn()
                row -= 1
                budget.spend(isLong: work.step.isLong || actions.count > before)
            }
            if !work.isDone {
                agenda.bulk.append(work)
            } else if let block = work.block {
                letGo(block)
            }
        }
    }

    /// Steps of one piece before another one has its turn.
    private static var stepsInARow: Int { 16 }

    private mutating func take(_ work: BulkWork, to id: LiveRequest.ID) {
        switch work.step {
        case .group(_, _, .priority(let priority)): reprioritise(id, priority)
        case .group(_, _, .cancel): end(id, Self.cancelled)
        case .departed: forsake(id)
        case .progress(let transfer, let progress): tell(id, progress, of: transfer)
        case .found, .missed, .made, .pending, .onward, .disposed:
            if isForsaken(id) { return forsake(id) }
            if isLost(work, for: id) { return loseAnswer(id) }
            move(id, by: work)
        }
    }

    private mutating func move(_ id: LiveRequest.ID, by work: BulkWork) {
        switch work.step {
        case .found(let hit, let timings): answer(id, hit, work.block, timings)
        case .made(let made): complete(id, made, work.block)
        case .pending: answerPending(id)
        case .missed(let tiers, let timings):
            requests[id].timings += timings
            requests[id].missed.result.formUnion(tiers)
            goOn(id, isOvertaken: work.isOvertaken)
        case .onward: goOn(id, isOvertaken: false)
        case .disposed(let disposition):
            resolve(disposition, id, isOvertaken: work.isOvertaken)
        case .group, .departed, .progress:
            preconditionFailure("these do not wait for their turn alone")
        }
    }

    /// The next way. Where what was missed was stored while the request waited for its turn, it
    /// looks again, or there would be a second transfer.
    mutating func goOn(_ id: LiveRequest.ID, isOvertaken: Bool) {
        if isOvertaken {
            deriver.leaveOverlays(id)
            requests[id].beginAfresh()
        }
        agenda.moving.append(.onward(id))
    }

    /// A text was stored: who is about to go on since nobody had it looks again.
    mutating func overtakeBulkWork(of text: String) {
        guard agenda.bulk.count > 0 else { return }
        agenda.bulk.changeAll { work in
            if work.missedText == text { work.isOvertaken = true }
        }
    }

    // MARK: - Answers that are lost

    /// Whether the cache is gone whose block the request was to be told.
    private func isLost(_ work: BulkWork, for id: LiveRequest.ID) -> Bool {
        guard let block = work.block ?? requests[id].pending?.block else { return false }
        return !deriver.dispatcher.contains(block.worker)
    }

    /// The image of a request was lost with the cache before its reply went out.
    mutating func loseAnswer(_ id: LiveRequest.ID) {
        requests[id].standing = .moving
        requests[id].pending = nil
        agenda.moving.append(.again(id))
    }

    // MARK: - Requests of sessions that ended

    /// Whether nobody is there to be answered: what was not detached ends with its session, in its
    /// turn.
    func isForsaken(_ id: LiveRequest.ID) -> Bool {
        requests[id].batch == nil && !requests[id].isDetached
            && !clients.keys.contains(requests[id].client)
    }

    /// Ends such a request.
    mutating func forsake(_ id: LiveRequest.ID) {
        withdraw(id)
        strike(id)
        figures.counters.cancelled += 1
    }

    /// A token is free again whose request is about to end with its session.
    mutating func freeToken(_ token: Token) {
        if let id = tokens[token], isForsaken(id) { forsake(id) }
    }

    // MARK: - Groups

    /// The members are to end. That takes the place of whatever was wished of them before.
    mutating func cancelMembers(
        _ members: [LiveRequest.ID], of group: GroupID, by client: ClientID?
    ) {
        agenda.bulk.keep { $0.change(of: group, by: client) == nil }
        guard !members.isEmpty else { return }
        agenda.bulk.append(BulkWork(.group(client, group, .cancel), members))
    }

    /// The members are to have another class. That takes the place of the one before.
    mutating func changeMembers(
        _ members: [LiveRequest.ID], of group: GroupID, by client: ClientID, _ priority: Priority
    ) {
        agenda.bulk.keep { $0.change(of: group, by: client)?.isCancel ?? true }
        agenda.bulk.append(BulkWork(.group(client, group, .priority(priority)), members))
    }

    /// A member has a wish of its own, which is newer.
    mutating func forgetChanges(of group: GroupID, by client: ClientID, for id: LiveRequest.ID) {
        guard agenda.bulk.count > 0 else { return }
        agenda.bulk.changeAll { work in
            if work.change(of: group, by: client)?.isCancel == false { work.forget(id) }
        }
    }
}

import Model

/// A batch operation: the effect of one event on many requests, possibly tens of thousands. It is
/// applied to a few of them per event, so that no event takes long.
///
/// Requests that wait for their turn here wait nowhere else (`LiveRequest.place`), except
/// for members of a group, requests of an ended session, and requests that receive progress or
/// partial images.
struct BatchOperation: Sendable {
    /// The effect on each request.
    indirect enum Step: Sendable {
        /// Their class changes, or they end. A client affects its own members, an operator (`nil`)
        /// those of all clients.
        case group(ClientID?, GroupID, GroupChange)
        /// Their session has ended.
        case departed(ClientID)
        /// They receive the progress of a transfer.
        case progress(Transfer, JobProgress, ImageInfo?)
        /// They receive a partial image made from this many bytes of a transfer.
        case partial(Transfer, DeliveredImage, UInt64)
        /// What they waited for has this outcome.
        case outcome(WorkGraphEvent.Outcome)
        /// They have their image, and the stores that they waited for have finished.
        case pending

        /// Whether the step is expensive even if it sends nothing.
        var isLong: Bool {
            switch self {
            case .group, .departed: true
            case .progress, .partial, .outcome, .pending: false
            }
        }
    }

    /// A change for the members of a group.
    enum GroupChange: Sendable {
        case priority(Priority)
        case cancel

        var isCancel: Bool { if case .cancel = self { true } else { false } }
    }

    let step: Step
    /// The block of `results/` with the image.
    let block: BlockHandle?
    /// The same block if it is held until the last request has its reply.
    let held: BlockHandle?
    /// Whether the text that was queried and missed was stored in the meantime, so that the
    /// requests must query again.
    var isOvertaken = false
    /// The affected requests, some of which may have ended.
    private var members: [LiveRequest.ID]
    private var next = 0

    init(
        _ step: Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        held: BlockHandle? = nil
    ) {
        self.step = step
        (self.block, self.held) = (block, held)
        self.members = members
    }

    /// The text that was queried and missed.
    var missedText: String? {
        if case .outcome(let outcome) = step { outcome.missedText } else { nil }
    }

    /// Whether all members have been processed.
    var isDone: Bool { next == members.count }

    /// The members that haven't been processed.
    var left: ArraySlice<LiveRequest.ID> { members[next...] }

    /// Removes and returns the next member.
    mutating func popNext() -> LiveRequest.ID? {
        guard next < members.count else { return nil }
        next += 1
        return members[next - 1]
    }

    /// Removes a member for which something newer applies.
    mutating func forget(_ member: LiveRequest.ID) {
        guard let place = left.firstIndex(of: member) else { return }
        members.remove(at: place)
    }

    /// Returns the change if this is an operation on the given group.
    func change(of group: GroupID, by client: ClientID?) -> GroupChange? {
        guard case .group(client, group, let change) = step else { return nil }
        return change
    }
}

/// Requests that are to continue, in two lists that one loop drains. Thus no request continues in
/// the middle of another operation, and a long chain of requests doesn't cause deep recursion.
struct PendingTransitions: Sendable {
    /// Unfinished batch operations.
    var batchOperations = Deque<BatchOperation>()
    /// Requests that are about to enter their next node; they move once no teardown is in progress.
    var moving = Deque<Transition>()

    var isEmpty: Bool { batchOperations.count == 0 && moving.count == 0 }

    /// Handles the store of a text: requests that are about to continue because no cache had it
    /// will query again.
    mutating func overtake(_ text: String) {
        guard batchOperations.count > 0 else { return }
        batchOperations.changeAll { work in
            if work.missedText == text { work.isOvertaken = true }
        }
    }

    /// Whether earlier progress with the same image properties is still being delivered.
    func isReporting(_ transfer: Transfer, _ info: ImageInfo?) -> Bool {
        batchOperations.contains {
            if case .progress(transfer, _, info) = $0.step { true } else { false }
        }
    }

    // MARK: - Groups

    /// Ends the members. Replaces all earlier changes for them.
    mutating func cancel(_ members: [LiveRequest.ID], of group: GroupID, by client: ClientID?) {
        batchOperations.keep { $0.change(of: group, by: client) == nil }
        guard !members.isEmpty else { return }
        batchOperations.append(BatchOperation(.group(client, group, .cancel), members))
    }

    /// Changes the class of the members. Replaces an earlier change of class.
    mutating func change(
        _ members: [LiveRequest.ID], of group: GroupID, by client: ClientID, _ priority: Priority
    ) {
        batchOperations.keep { $0.change(of: group, by: client)?.isCancel ?? true }
        batchOperations.append(BatchOperation(.group(client, group, .priority(priority)), members))
    }

    /// Removes a member from pending changes because a newer change applies to it alone.
    mutating func forgetChanges(of group: GroupID, by client: ClientID, for id: LiveRequest.ID) {
        guard batchOperations.count > 0 else { return }
        batchOperations.changeAll { work in
            if work.change(of: group, by: client)?.isCancel == false { work.forget(id) }
        }
    }

    /// Removes the group changes of a departed client.
    mutating func forgetGroups(of client: ClientID) {
        batchOperations.keep { if case .group(client, _, _) = $0.step { false } else { true } }
    }
}

enum Transition: Sendable {
    /// To the next remaining stage.
    case onward(LiveRequest.ID)
    /// Back to the first stage, because its product was lost.
    case again(LiveRequest.ID)
    /// To its fallback, after this error.
    indirect case fallBack(LiveRequest.ID, ImageError)
    /// To failure, because an overlay is unavailable; `nil` if the stages of the overlay are
    /// exhausted.
    indirect case giveUp(LiveRequest.ID, ImageError?)
}

// Batch operations on requests are performed for a few requests per event and continue across
// events: replies of one result, the end of a session, a class change of a group.
extension Scheduler {
    /// Whether work is left for the next event.
    var isUnfinished: Bool { pendingTransitions.batchOperations.count > 0 || hasOverdueAlarms }

    /// Continues pending batch operations in round-robin order, within the limits of one event.
    func runBatchOperations() {
        // The remaining steps of all kinds, and those that end a request or send a message.
        var (left, longLeft) = (limits.batchTransitionsMax, limits.batchStepsMax)
        while left > 0, longLeft > 0, var work = pendingTransitions.batchOperations.popFirst() {
            var row = Self.stepsInARow
            while row > 0, left > 0, longLeft > 0, let id = work.popNext() {
                guard requests.contains(id) else { continue }
                let before = shared.actions.count
                advance(id, by: work)
                moveOn()
                row -= 1
                left -= 1
                if work.step.isLong || shared.actions.count > before { longLeft -= 1 }
            }
            if !work.isDone {
                pendingTransitions.batchOperations.append(work)
            } else {
                removeReader(of: work.held)
            }
        }
    }

    /// The number of steps of one operation before the next operation gets its turn.
    private static var stepsInARow: Int { 16 }

    private func advance(_ id: LiveRequest.ID, by work: BatchOperation) {
        switch work.step {
        case .group(_, _, .priority(let priority)): reprioritize(id, priority)
        case .group(_, _, .cancel): end(id, Self.cancelled)
        case .departed: cancelSilently(id)
        case .progress(let transfer, let progress, let info):
            notifyProgress(id, progress, info, of: transfer)
        case .partial(let transfer, let image, let bytes):
            if let block = work.block { showPartial(id, image, block, of: bytes, from: transfer) }
        case .outcome, .pending:
            if hasLostSession(id) { return cancelSilently(id) }
            if isLost(work, for: id) { return loseAnswer(id) }
            guard case .outcome(let outcome) = work.step else { return answerPending(id) }
            proceed(id, after: outcome, work)
        }
    }

    private func proceed(
        _ id: LiveRequest.ID, after outcome: WorkGraphEvent.Outcome, _ work: BatchOperation
    ) {
        switch outcome {
        case .found(let hit, let timings): completeFound(id, hit, work.block, timings)
        case .missed(_, let tiers, let timings):
            requests[id].timings += timings
            requests[id].missed.result.formUnion(tiers)
            goOn(id, isOvertaken: work.isOvertaken)
        case .validity(let known, let timings): compare(id, with: known, timings)
        case .gathered: goOn(id, isOvertaken: false)
        case .produced(let product): complete(id, product, work.block)
        case .fail(let error): reply(id, .failure(error))
        case .again: pendingTransitions.moving.append(.again(id))
        case .afresh: goOn(id, isOvertaken: true)
        case .unmodified: reply(id, .notModified)
        case .onward(let timings, _):
            requests[id].timings += timings
            requests[id].missed.original = requests[id].plan.originalQueryTiers
            goOn(id, isOvertaken: work.isOvertaken)
        }
    }

    /// Continues with the next stage. If the missed text was stored while the request waited for
    /// its turn, it starts from the first stage instead, to avoid a second transfer.
    private func goOn(_ id: LiveRequest.ID, isOvertaken: Bool) {
        if isOvertaken {
            workGraph.leaveOverlays(id)
            requests[id].beginAfresh()
        }
        pendingTransitions.moving.append(.onward(id))
    }

    /// Whether the block intended for the request is gone with its cache.
    private func isLost(_ work: BatchOperation, for id: LiveRequest.ID) -> Bool {
        guard let block = work.block ?? requests[id].pending?.block else { return false }
        return !dispatcher.contains(block.worker)
    }
}

// Changes of urgency requested by clients.
extension Scheduler {
    /// Changes the class of a live request or batch of that client; unknown tokens are ignored.
    func reprioritize(_ token: Token, of client: ClientID, _ priority: Priority) {
        if let id = tokens[token], requests[id].client == client {
            forgetInterests(for: id)
            reprioritize(id, priority)
        } else if let batch = batch(token, of: client) {
            batch.priority = priority
            for id in batch.members.members { reprioritize(id, priority) }
        }
    }

    /// Changes the class of the members admitted so far, a few per event. A later call replaces an
    /// earlier one; repeating it for the same members has no effect.
    func reprioritize(_ group: GroupID, of client: ClientID, _ priority: Priority) {
        guard let members = clients[client]?.members(of: group, toBecome: priority) else { return }
        pendingTransitions.change(members, of: group, by: client, priority)
    }

    /// Records that a member has its own, newer class.
    private func forgetInterests(for id: LiveRequest.ID) {
        guard let group = requests[id].group else { return }
        let client = requests[id].client
        clients[client]?.differs(in: group)
        pendingTransitions.forgetChanges(of: group, by: client, for: id)
    }

    /// Changes the class of a request. Shared work runs in the highest class of its requests.
    func reprioritize(_ id: LiveRequest.ID, _ priority: Priority) {
        guard requests[id].priority != priority else { return }
        requests[id].priority = priority
        guard let place = requests[id].place else { return }
        workGraph.reprioritize(place, requests[id].urgency)
    }
}

import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

/// What one event means for many requests, which may be tens of thousands. It is done to a few of
/// them in each event, so that no event takes long.
///
/// Requests that wait for their turn here wait nowhere else (`LiveRequest.Standing.moving`). The
/// exceptions are members of a group, requests of a session that ended, and requests that are told
/// of progress or shown a partial image.
struct BulkWork: Sendable {
    /// What is done to each of them.
    indirect enum Step: Sendable {
        /// They are to have another class, or to end. A client means its own members, an operator
        /// (`nil`) those of all clients.
        case group(ClientID?, GroupID, GroupChange)
        /// Their session is over.
        case departed(ClientID)
        /// They are told how far a transfer is.
        case progress(Transfer, JobProgress, ImageInfo?)
        /// They are shown an image of so many bytes of a transfer.
        case partial(Transfer, DeliveredImage, UInt64)
        /// The cache has their result.
        case found(CacheHit, StageTimings)
        /// It does not, in those tiers.
        case missed(CacheTypes, StageTimings)
        /// External caches know that of the freshness of their images.
        case validity(Validity?, StageTimings)
        /// Their result is there, or was not needed beyond its facts.
        case made(Made)
        /// They have their image, and the stores that they waited for have ended.
        case pending
        /// What is laid over their images is there.
        case onward
        /// What they waited for was torn down.
        case disposed(Disposition)

        /// Whether the step is much work even where nobody is told anything.
        var isLong: Bool {
            switch self {
            case .group, .departed: true
            case .progress, .partial, .found, .missed, .validity, .made, .pending, .onward,
                .disposed:
                false
            }
        }
    }

    /// What is wanted of the members of a group.
    enum GroupChange: Sendable {
        case priority(Priority)
        case cancel

        var isCancel: Bool { if case .cancel = self { true } else { false } }
    }

    let step: Step
    /// Of `results/`; no reader lets go of it before the last of them has its reply.
    let block: BlockHandle?
    /// The text that was looked for in vain before they go on.
    let missedText: String?
    /// Whether that text was stored while they waited for their turn. They look again then.
    var isOvertaken = false
    /// Some may have ended by now.
    private var members: [LiveRequest.ID]
    private var next = 0

    init(
        _ step: Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        missedText: String? = nil
    ) {
        self.step = step
        self.block = block
        self.missedText = missedText
        self.members = members
    }

    /// Whether no member is left.
    var isDone: Bool { next == members.count }

    /// Members that still wait for their turn.
    var left: ArraySlice<LiveRequest.ID> { members[next...] }

    /// The next member.
    mutating func popNext() -> LiveRequest.ID? {
        guard next < members.count else { return nil }
        next += 1
        return members[next - 1]
    }

    /// A member was told something else since.
    mutating func forget(_ member: LiveRequest.ID) {
        guard let place = left.firstIndex(of: member) else { return }
        members.remove(at: place)
    }

    /// What is wanted of a group, if that is what it is.
    func change(of group: GroupID, by client: ClientID?) -> GroupChange? {
        guard case .group(client, group, let change) = step else { return nil }
        return change
    }
}

/// How much of what concerns many requests one event may do.
struct BulkBudget {
    /// Steps that end a request, or tell a client.
    private var longLeft: Int
    /// Steps of all kinds.
    private var left: Int

    init(_ limits: SchedulerLimits) {
        longLeft = limits.bulkStepsMax
        left = limits.bulkMovesMax
    }

    var isSpent: Bool { longLeft <= 0 || left <= 0 }

    mutating func spend(isLong: Bool) {
        left -= 1
        if isLong { longLeft -= 1 }
    }
}

/// Requests that are to go on, in two lists which one loop drains. So no request goes on in the
/// middle of something else, and a long chain of requests makes no deep recursion.
struct Agenda: Sendable {
    /// What concerns many requests, and is not done to all of them.
    private(set) var bulk = Fifo<BulkWork>()
    /// Requests on their way to their next node; they move once nothing is being torn down.
    private(set) var moving = Fifo<Move>()

    var isEmpty: Bool { bulk.count == 0 && moving.count == 0 }

    // MARK: - Moves

    /// A request goes somewhere else before the event is over.
    mutating func append(_ move: Move) { moving.append(move) }

    mutating func nextMove() -> Move? { moving.popFirst() }

    // MARK: - Bulk work

    /// Members have something done to them, each in its turn.
    mutating func append(_ work: BulkWork) { bulk.append(work) }

    mutating func nextWork() -> BulkWork? { bulk.popFirst() }

    /// A text was stored. Requests that are about to go on because no cache had it look again.
    mutating func overtake(_ text: String) {
        guard bulk.count > 0 else { return }
        bulk.changeAll { work in
            if work.missedText == text { work.isOvertaken = true }
        }
    }

    /// Whether some requests are still to be told of earlier progress, with the same facts.
    func isTelling(_ transfer: Transfer, _ info: ImageInfo?) -> Bool {
        bulk.contains { if case .progress(transfer, _, info) = $0.step { true } else { false } }
    }

    // MARK: - Groups

    /// The members are to end. That replaces all earlier wishes about them.
    mutating func cancel(_ members: [LiveRequest.ID], of group: GroupID, by client: ClientID?) {
        bulk.keep { $0.change(of: group, by: client) == nil }
        guard !members.isEmpty else { return }
        bulk.append(BulkWork(.group(client, group, .cancel), members))
    }

    /// The members are to have another class. That replaces an earlier one.
    mutating func change(
        _ members: [LiveRequest.ID], of group: GroupID, by client: ClientID, _ priority: Priority
    ) {
        bulk.keep { $0.change(of: group, by: client)?.isCancel ?? true }
        bulk.append(BulkWork(.group(client, group, .priority(priority)), members))
    }

    /// A member has a wish of its own, which is newer.
    mutating func forgetChanges(of group: GroupID, by client: ClientID, for id: LiveRequest.ID) {
        guard bulk.count > 0 else { return }
        bulk.changeAll { work in
            if work.change(of: group, by: client)?.isCancel == false { work.forget(id) }
        }
    }

    /// A client is gone, and with it what it wished of groups.
    mutating func forgetGroups(of client: ClientID) {
        bulk.keep { if case .group(client, _, _) = $0.step { false } else { true } }
    }
}

/// Where a request goes next.
enum Move: Sendable {
    /// The next of the ways that are left.
    case onward(LiveRequest.ID)
    /// All ways again: what was made for it is lost.
    case again(LiveRequest.ID)
    /// To its fallback, after this error.
    indirect case fallBack(LiveRequest.ID, ImageError)
    /// Nowhere: it will not get its overlays. `nil`: no way to one of them is left.
    indirect case giveUp(LiveRequest.ID, ImageError?)
}

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

// A client wants something more or less urgently than it said.
extension Scheduler {
    /// Changes the class of a live request or of a batch of that client; unknown tokens are
    /// ignored.
    mutating func reprioritise(_ token: Token, of client: ClientID, _ priority: Priority) {
        if let id = tokens[token], requests[id].client == client {
            forgetWishes(for: id)
            reprioritise(id, priority)
        } else if let batch = prefetching.tokens[token], prefetching.batches[batch].client == client
        {
            for id in prefetching.reprioritise(batch, priority) { reprioritise(id, priority) }
        }
    }

    /// Changes the class of the members that were admitted before, a few in each event. A later
    /// call replaces an earlier one. Repeated for the same members, it changes nothing.
    mutating func reprioritise(_ group: GroupID, of client: ClientID, _ priority: Priority) {
        guard let members = clients[client]?.members(of: group, toBecome: priority) else { return }
        agenda.change(members, of: group, by: client, priority)
    }

    /// A member has a wish of its own, which is newer.
    private mutating func forgetWishes(for id: LiveRequest.ID) {
        guard let group = requests[id].group else { return }
        let client = requests[id].client
        clients[client]?.differs(in: group)
        agenda.forgetChanges(of: group, by: client, for: id)
    }

    /// Work that the request shares with others runs in the highest class among them.
    mutating func reprioritise(_ id: LiveRequest.ID, _ priority: Priority) {
        guard requests[id].priority != priority else { return }
        requests[id].priority = priority
        guard case .waiting(let place) = requests[id].standing else { return }
        deriver.reprioritise(place, requests[id].urgency)
        takeDispatches()
    }
}

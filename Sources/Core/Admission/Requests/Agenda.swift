import Derivation
import ImageModel
import Messages
import Tables

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

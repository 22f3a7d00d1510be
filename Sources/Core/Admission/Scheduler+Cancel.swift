import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// The cancellation contract (SEMANTICS §8.1).
extension Scheduler {
    /// Ends a request or a batch of that client at once; after its terminal reply this does
    /// nothing.
    mutating func cancel(_ token: Token, of client: ClientID) {
        if let id = tokens[token] {
            if requests[id].client == client { end(id, Self.cancelled) }
        } else if let id = prefetching.tokens[token], prefetching.batches[id].client == client {
            cancelBatch(id)
        }
    }

    /// Ends the members that were admitted before, a few in each event. Later ones are not touched.
    /// A batch is a group, too: its token names it.
    mutating func cancelGroup(_ group: GroupID, of client: ClientID) {
        agenda.cancel(clients[client]?.members(of: group) ?? [], of: group, by: client)
        if let id = prefetching.tokens[Token(group.value)], prefetching.batches[id].client == client
        {
            cancelBatch(id)
        }
    }

    /// Ends a request or a batch of any client.
    mutating func cancelAny(_ token: Token) {
        if let id = tokens[token] { return end(id, Self.cancelled) }
        if let id = prefetching.tokens[token] { cancelBatch(id) }
    }

    /// Ends the members of a group of any client. Groups are drawn at random like tokens.
    mutating func cancelGroupOfAny(_ group: GroupID) {
        let members = requests.ids.filter { requests[$0].group == group }
        agenda.cancel(members, of: group, by: nil)
        if let id = prefetching.tokens[Token(group.value)] { cancelBatch(id) }
    }

    /// A client is gone: its requests end, a few in each event. Detached requests go on.
    mutating func clientLeft(_ client: ClientID) {
        guard let record = clients[client] else { return }
        dropInquiries(of: record)
        endPrefetches(of: client)
        agenda.forgetGroups(of: client)
        clients[client] = nil
        releaseAll(of: client)
        let members = record.requests.members.filter { !requests[$0].isDetached }
        if !members.isEmpty { agenda.append(BulkWork(.departed(client), members)) }
    }

    /// The deadline of a request has passed. It is counted where no worker had what it waited for.
    /// What happened before counts first: a request that is about to go on is looked at then.
    mutating func expire(_ id: LiveRequest.ID) {
        guard case .waiting(let place) = requests[id].standing else { return }
        if deriver.waitsForWorker(place) { figures.counters.expired += 1 }
        // Why it took so long, where that is known.
        end(id, deriver.missingWorkers(at: place).map(Self.overdue) ?? overdue(at: place))
    }

    private func overdue(at place: Place) -> ImageError {
        deriver.waitsForResumption(place) ? Self.suspended : Self.deadlineExceeded
    }

    private static func overdue(without missing: MissingWorkers) -> ImageError {
        ImageError(.deadlineExceeded, "\(missing)", details: ["pool": missing.pool.text])
    }

    static let cancelled = ImageError(.cancelled, "the request was cancelled")
    static let deadlineExceeded = ImageError(
        .deadlineExceeded, "the request took longer than its timeout")
    static let suspended = ImageError(
        .deadlineExceeded,
        "the request took longer than its timeout: an operator has suspended downloads, which go "
            + "on after imagebus downloads resume")
}

import Derivation
import ImageModel
import Messages
import Tables

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

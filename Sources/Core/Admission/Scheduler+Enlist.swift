import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that were admitted, and the lists that know them.
extension Scheduler {
    /// Throws where one more request would be too many.
    func checkRoomForOneMore(of client: ClientID) throws(ImageError) {
        guard requests.count < limits.liveRequestsMax else {
            throw ImageError.busy("too many requests wait for a reply")
        }
        guard clients[client].map({ $0.requests.count < limits.requestsPerClientMax }) == true
        else { throw ImageError.busy("too many requests of this client wait for a reply") }
    }

    /// A request is live from now on, and goes its first way before the event is over.
    @discardableResult
    mutating func enlist(
        _ load: LoadRequest, of client: ClientID, _ owner: Incarnation, _ order: Order,
        in batch: PrefetchBatch.ID? = nil
    ) -> LiveRequest.ID {
        let upload = order.upload
        if let upload { deriver.hold(upload.block) }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        let id = requests.insert(
            LiveRequest(
                facts: LiveRequest.Facts(
                    owner: owner, isDetached: batch == nil && load.goesOnAlone, token: load.token,
                    group: load.group, slot: load.slot, visitor: load.visitor, batch: batch,
                    wishes: batch == nil ? load.wishes : [], admittedAt: now, deadline: deadline),
                client: client, share: clients[client]?.share ?? .session(client), order: order,
                priority: load.image.priority, ways: order.plan.ways))
        if let batch {
            requests[id].seats.seat = prefetching.join(id, batch)
        } else {
            tokens[load.token] = id
            takeSeat(id, isOlder: upload != nil)
        }
        deadlines.set(deadline, for: id)
        agenda.append(.onward(id))
        return id
    }

    /// A live request that was detached goes on for the next session of the same client.
    mutating func attach(
        _ id: LiveRequest.ID, to client: ClientID, _ owner: Incarnation
    ) -> Bool {
        if requests[id].client == client { return true }
        guard clients[requests[id].client] == nil, requests[id].owner == owner else {
            return false
        }
        requests[id].client = client
        requests[id].share = clients[client]?.share ?? .session(client)
        takeSeat(id, isOlder: true)
        return true
    }

    /// If the request `isOlder`, a newer load stays in the slot.
    private mutating func takeSeat(_ id: LiveRequest.ID, isOlder: Bool) {
        let (client, group) = (requests[id].client, requests[id].group)
        let slot = requests[id].slot
        let seats = clients.change(client) {
            if let slot { $0.take(slot, for: id, isOlder: isOlder) }
            return $0.join(id, group: group)
        }
        if let seats { requests[id].seats = seats }
    }
}

extension LoadRequest {
    /// Whether it goes on when its client is gone (SEMANTICS §8.5).
    fileprivate var goesOnAlone: Bool { detach || image.options.contains(.continueInBackground) }

    /// What its client is told before the image is whole.
    fileprivate var wishes: Waiter.Wishes {
        var wishes: Waiter.Wishes = []
        if wantsProgress { wishes.insert(.progress) }
        if wantsInfo { wishes.insert(.info) }
        if image.options.contains(.progressiveLoad), !image.infoOnly { wishes.insert(.partials) }
        return wishes
    }
}

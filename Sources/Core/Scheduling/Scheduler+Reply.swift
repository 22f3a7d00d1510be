import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// reply: exactly one for each request (SEMANTICS §2.4)
extension Scheduler {
    /// The image of a request that waits nowhere any more; a large block counts as read from now
    /// on.
    mutating func answer(_ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?) {
        if requests[id].order.upload?.key != nil, image.storedTiers?.isEmpty ?? true {
            return reply(id, .failure(Self.notKept))
        }
        var image = image
        image.scaleFactor = requests[id].scaleFactor
        if let block, requests[id].batch == nil { lend(&image, block, to: requests[id].client) }
        reply(id, .image(image))
    }

    /// A large result is kept for the client until it releases it, as far as that is allowed;
    /// beyond it, the client is told to copy.
    mutating func lend(_ image: inout DeliveredImage, _ block: BlockHandle, to client: ClientID) {
        guard let reference = image.reference, ResultBlocks.isLarge(reference),
            clients[client] != nil
        else { return }
        image.mustCopy = !hits.lend(block, reference.length, to: client)
    }

    /// The terminal reply of a request that waits nowhere any more; unless it fails and has a
    /// fallback, with which it goes on then.
    mutating func reply(_ id: LiveRequest.ID, _ outcome: Reply.Outcome) {
        if isForsaken(id) { return forsake(id) }
        if case .failure(let error) = outcome, fallBack(id, after: error) { return }
        let request = strike(id)
        let outcome = told(outcome, request)
        if case .failure(let error) = outcome { figures.counters.ended(with: error) }
        if let batch = request.batch { return memberEnded(batch, request.image.url, outcome) }
        figures.times.record(from: request.admittedAt, to: now)
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.admittedAt)
        let reply = Reply(token: request.token, outcome: outcome, timings: timings)
        actions.append(.reply(request.client, reply))
        actions.append(
            .record(
                RequestRecord(
                    url: request.fallenBack?.url ?? request.image.url, attempts: request.attempt,
                    trace: request.order.trace,
                    reply)))
    }

    /// Takes a request off every list that knows it by its client or token.
    @discardableResult
    mutating func strike(_ id: LiveRequest.ID) -> LiveRequest {
        deriver.leaveOverlays(id)
        guard let request = requests.remove(id) else {
            preconditionFailure("a request ends once")
        }
        if let batch = request.batch {
            leaveBatch(batch, seat: request.seat)
        } else {
            tokens[request.token] = nil
            clients[request.client]?.leave(id, request)
        }
        if let upload = request.order.upload { drop(upload.block) }
        return request
    }
}

import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that are over, with or without a reply.
extension Scheduler {
    /// Nobody waits for this request any more.
    mutating func withdraw(_ id: LiveRequest.ID) {
        if case .waiting(let place) = requests[id].standing { deriver.leave(place) }
        if let block = requests[id].pending?.block { letGo(block) }
        requests[id].standing = .moving
        requests[id].pending = nil
        takeEvents()
    }

    /// Takes a request off every list that knows it by its client or token.
    @discardableResult
    mutating func strike(_ id: LiveRequest.ID) -> LiveRequest {
        deriver.leaveOverlays(id)
        guard let request = requests.remove(id) else {
            preconditionFailure("a request ends once")
        }
        if let block = request.refreshing?.held?.block { letGo(block) }
        if request.isSilent {
            silent.remove(request.names.result)
        } else if let batch = request.batch {
            prefetching.leave(batch, seat: request.seats.seat)
        } else {
            tokens[request.token] = nil
            clients.change(request.client) { $0.leave(id, request) }
        }
        if let upload = request.order.upload { drop(upload.block) }
        return request
    }

    /// Ends a request without a word: nobody is there to be answered, or the answer is for a batch
    /// that ends.
    mutating func forsake(_ id: LiveRequest.ID) {
        withdraw(id)
        strike(id)
        figures.counters.cancelled += 1
    }

    /// A token is free again whose request is about to end with its session.
    mutating func freeToken(_ token: Token) {
        if let id = tokens[token], isForsaken(id) { forsake(id) }
    }
}

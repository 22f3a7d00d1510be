import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// An overlay is admitted like any other load, and is there before work on the image begins
// (PROTOCOL §8.8).
extension Scheduler {
    /// Whether the request has to gather its overlays before it goes that way.
    func mustGather(_ id: LiveRequest.ID, before way: JobPlan.Stage?) -> Bool {
        guard way != nil, way != .queryResult, !requests[id].order.terms.overlays.isEmpty else {
            return false
        }
        return !deriver.hasGathered(id)
    }

    /// Loads all overlays of a request, which waits for them.
    mutating func gather(_ id: LiveRequest.ID) {
        do throws(ImageError) {
            var orders: [Order] = []
            for load in requests[id].order.terms.overlays {
                orders.append(try orderOverlay(load, over: id))
            }
            let place = deriver.gather(
                orders, for: id, requests[id].urgency,
                refreshing: requests[id].refreshing != nil)
            requests[id].standing = .waiting(place)
        } catch {
            deriver.leaveOverlays(id)
            reply(id, .failure(error))
        }
        takeEvents()
    }

    /// The load of an overlay as a request of its own; throws why the request cannot have it.
    private mutating func orderOverlay(
        _ load: Resolution, over id: LiveRequest.ID
    ) throws(ImageError) -> Order {
        do throws(ImageError) {
            try load.request.checkWishes()
            try checkBlacklist(load.request, load.terms, for: .still)
            return Order(
                load.request, load.terms, try names(of: load.request, load.terms),
                distrustsMemory: false, logContext: requests[id].order.logContext)
        } catch {
            throw ImageError.overlay(error, url: load.request.url)
        }
    }
}

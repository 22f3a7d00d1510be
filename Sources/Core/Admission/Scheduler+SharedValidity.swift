import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// An external cache may know that another machine has had an image confirmed by its origin: it is
// asked before the origin is (SEMANTICS §6.7).
extension Scheduler {
    /// Whether external caches are asked first. Overlays have no marks that could be confirmed.
    func asksOthers(_ id: LiveRequest.ID) -> Bool {
        guard deriver.layout.hasForeign, let refreshing = requests[id].refreshing else {
            return false
        }
        return requests[id].plan.respectsCacheControl && !refreshing.hasAskedOthers
            && refreshing.mark != .none && requests[id].order.terms.overlays.isEmpty
            && deriver.mayBeConfirmedElsewhere(requests[id].order)
    }

    /// Asks external caches what they know of the stale image that a request has; `false` if too
    /// much waits for them.
    mutating func askOthers(_ id: LiveRequest.ID) -> Bool {
        guard let refreshing = requests[id].refreshing else { return false }
        requests[id].refreshing?.hasAskedOthers = true
        let request = requests[id]
        let place = deriver.askValidity(
            request.waiter(id), of: refreshing.mark, confirmed(refreshing, id), request.urgency)
        guard let place else { return false }
        requests[id].standing = .waiting(place)
        takeEvents()
        return true
    }

    /// What external caches know of the image of a request: where it is fresh by that, the request
    /// has its answer. Otherwise the origin is asked.
    mutating func compare(_ id: LiveRequest.ID, with known: Validity?, _ timings: StageTimings) {
        requests[id].timings += timings
        guard let refreshing = requests[id].refreshing else {
            preconditionFailure("only who has a stale image asks")
        }
        if let caching = known?.caching, isNews(caching, refreshing, id) {
            let text = requests[id].names.plainOriginal
            hits.withdraw(
                .confirmed(
                    plainOriginal: text, refreshing.mark, Confirmation(told: caching)))
        }
        let caching = confirmed(refreshing, id)
        let expiry = requests[id].order.terms.expiry(caching)
        if FreshnessDecision(expiry, at: calendarNow) == .fresh {
            requests[id].refreshing?.isConfirmedElsewhere = true
            return reply(id, .notModified)
        }
        requests[id].ways = requests[id].allWays
        agenda.append(.onward(id))
    }

    /// Whether somebody asked the origin later than anybody here did. What comes from the future is
    /// not believed: the clock of that machine is ahead of ours.
    private func isNews(
        _ caching: OriginCaching, _ refreshing: Refreshing, _ id: LiveRequest.ID
    ) -> Bool {
        guard caching.age.isKnown(at: calendarNow) else { return false }
        guard let ours = confirmed(refreshing, id), ours.age.isKnown(at: calendarNow) else {
            return true
        }
        return caching.age.bornMilliseconds > ours.age.bornMilliseconds
    }
}

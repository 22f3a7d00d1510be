package import Dispatching
package import ImageModel
import Messages
import Tables

// What external caches know of the freshness of an image that is stale here: another machine may
// have asked its origin since (SEMANTICS §6.7).
extension Deriver {
    /// Whether an external cache may know more of the image of an order.
    package func mayBeConfirmedElsewhere(_ order: Order) -> Bool {
        layout.hasForeign && !sharedTexts(of: order.names).isEmpty
    }

    /// Joins the question that is under way, or asks it; `nil` if too much waits. `caching`: what
    /// is known here.
    package mutating func askValidity(
        _ waiter: Waiter, of mark: BodyMark, _ caching: OriginCaching?, _ urgency: Urgency
    ) -> Place? {
        let order = waiter.order
        let key = ValidityNode.Key(text: order.names.result, mark: mark)
        if let node = validities.first(under: key) {
            let seat = validities[node].consumers.join(waiter, urgency)
            propagate(node)
            return Place(.validity(Need(node: node, seat: seat)))
        }
        guard dispatcher.refusal(in: .query) == nil else { return nil }
        let node = validities.insert(
            ValidityNode(
                key, sharedTexts(of: order.names),
                bornMilliseconds: caching?.age.bornMilliseconds ?? -1, order.logContext))
        let seat = validities[node].consumers.join(waiter, urgency)
        ask(node)
        return Place(.validity(Need(node: node, seat: seat)))
    }

    /// The texts under which external caches may keep the image or its original.
    private func sharedTexts(of names: RequestNames) -> [String] {
        let texts =
            names.result == names.original ? [names.result] : [names.result, names.original]
        return texts.filter { layout.isShared($0) }
    }

    private mutating func ask(_ node: ValidityNode.ID) {
        while let text = validities[node].nextText() {
            guard layout.isShared(text) else { continue }
            var work = EntryWork(action: .contains, key: text, tiers: .disk)
            work.wantsValidity = true
            let urgency = validities[node].consumers.urgency
            let job = submit(.entry(work), for: .validity(node), reading: nil, urgency)
            return validities[node].asked(job)
        }
        answer(node, nil)
    }

    /// An external cache has answered; `nil`: it does not know the image, or failed.
    mutating func validityKnown(
        _ node: ValidityNode.ID, _ validity: Validity?, _ job: Completion.Ended
    ) {
        validities[node].timings.add(job)
        guard let validity, validities[node].isNews(validity) else { return ask(node) }
        answer(node, validity)
    }

    private mutating func answer(_ node: ValidityNode.ID, _ news: Validity?) {
        let (waiters, timings) = (validities[node].consumers.members, validities[node].timings)
        retire(node)
        tell(waiters) { .validity(news, timings, $0) }
    }
}

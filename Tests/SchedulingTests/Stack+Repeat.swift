import Model

@testable import Scheduling

// Compares the fast path of a repeated hit with the full one. A scheduler is a value, so both are
// tried on copies.
extension Stack {
    /// A load without its token.
    struct Saying: Hashable {
        let load: LoadRequest
        let terms: LoadTerms

        init(_ load: LoadRequest, _ terms: LoadTerms) {
            self.load = LoadRequest(
                token: Token(Identifier128(high: 0, low: 0)), group: load.group, image: load.image,
                wantsProgress: load.wantsProgress, wantsInfo: load.wantsInfo,
                staleRetries: load.staleRetries, detach: load.detach, slot: load.slot)
            self.terms = terms
        }
    }

    /// Records a fault if an earlier ticket's answer differs from that of the full path.
    mutating func compareWays(_ load: LoadRequest, by client: ClientID, _ terms: LoadTerms) {
        guard let ticket = tickets[Saying(load, terms)] else { return }
        var (short, whole) = (scheduler, scheduler)
        guard short.answer(ticket, again: load.token, of: client, at: now) else { return }
        repeatedHits += 1
        var actions: [SchedulerAction] = []
        whole.handle(.load(client, load, terms), at: now, into: &actions)
        let reply = Reply(token: load.token, outcome: .image(ticket.image))
        if actions.first != .reply(client, reply) { faults.append("the short way is another") }
        if short.report.counters.requests != whole.report.counters.requests
            || short.report.counters.memoryHits != whole.report.counters.memoryHits
        {
            faults.append("the short way counts otherwise")
        }
    }

    /// Keeps the ticket of a load answered from memory; sometimes keeps an older one, so that it is
    /// tried after it became invalid.
    mutating func recordTicket(_ load: LoadRequest, _ terms: LoadTerms) {
        let saying = Saying(load, terms)
        guard tickets[saying] == nil || lastToken % 4 == 0 else { return }
        var asked = scheduler
        tickets[saying] = asked.hitTicket(for: load, terms) ?? tickets[saying]
    }
}

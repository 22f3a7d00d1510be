import Model

@testable import Coordinator

// Compares the fast path of a repeated hit with the full one.
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

    /// Sends a load. Records a fault if the answer of an earlier ticket would have differed.
    mutating func sendComparing(_ load: LoadRequest, by client: ClientID, _ terms: LoadTerms) {
        let ticket = tickets[Saying(load, terms)].flatMap { ticket in
            scheduler.mayAnswer(ticket, again: load.token, of: client, at: now) ? ticket : nil
        }
        let before = counters
        send(.load(client, load, terms))
        guard let ticket else { return }
        repeatedHits += 1
        let reply = Reply(token: load.token, outcome: .image(ticket.image))
        if actions.first != .reply(client, reply) { faults.append("the short way is another") }
        if counters.requests != before.requests + 1 || counters.memoryHits != before.memoryHits + 1
        {
            faults.append("the short way counts otherwise")
        }
    }

    /// Keeps the ticket of a load answered from memory; sometimes keeps an older one, so that it is
    /// tried after it became invalid.
    mutating func recordTicket(_ load: LoadRequest, _ terms: LoadTerms) {
        let saying = Saying(load, terms)
        guard tickets[saying] == nil || lastToken % 4 == 0 else { return }
        tickets[saying] = scheduler.hitTicket(for: load, terms) ?? tickets[saying]
    }
}

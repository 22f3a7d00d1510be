import Derivation
public import ImageModel
public import Messages
import Tables

// A repeated hit. What depends on the request alone was found out before. What may have changed
// since is looked at again.
extension Scheduler {
    /// The ticket of a load that a hit answers now; `nil` where none does, for large results,
    /// for loads with a slot, which may end others, and for those that are explained.
    public mutating func hitTicket(for load: LoadRequest, _ terms: LoadTerms) -> HitTicket? {
        guard load.slot == nil, !load.image.wantsExplanation, terms.firstRefusal == nil,
            (try? load.image.checkWishes()) != nil,
            refusal(of: load.image, terms) == nil,
            let names = try? names(of: load.image, terms),
            case let plan = JobPlan(load, terms, names), plan.mayComeFromMemory
        else { return nil }
        return hits.grant(
            load.image, terms, names, at: now,
            ifFreshAt: plan.respectsCacheControl ? calendarNow : nil)
    }

    /// Whether the answer of a ticket stands.
    public func stands(_ ticket: HitTicket, at moment: Instant) -> Bool {
        hits.stands(ticket, at: max(now, moment))
    }

    /// Adds a voucher to the answer of a ticket, by which clients that are told it repeat it
    /// without asking.
    public mutating func vouch(for ticket: inout HitTicket) { hits.vouch(for: &ticket) }

    /// What is to be written into the file of vouchers, in order: before anything that follows from
    /// the event is told to anybody.
    public mutating func takeVoucherWrites() -> [VoucherWrite] { hits.takeVoucherWrites() }

    /// A client answered loads by itself. They count, and what they used was used.
    mutating func used(_ used: UsedVouchers) {
        figures.counters.requests &+= used.loads
        figures.counters.memoryHits &+= used.loads
        figures.counters.voucherHits &+= used.loads
        for number in used.numbers {
            if let block = hits.block(ofVoucher: number) { hits.touch(block, at: now) }
        }
    }

    /// Admits and answers a load that has a ticket; the caller sends the ticket's image. `false`
    /// where it did nothing, since `load` has to be told the whole way: the answer does not stand,
    /// the token is in use, the client is not there, it is time to tell the cache what was used.
    public mutating func answer(
        _ ticket: HitTicket, again token: Token, of client: ClientID, at moment: Instant
    ) -> Bool {
        let now = max(now, moment)
        guard hits.touched(with: ticket) < limits.touchedMax, hits.stands(ticket, at: now),
            clients.keys.contains(client), tokens.isEmpty || !tokens.keys.contains(token),
            prefetching.tokens.isEmpty || !prefetching.tokens.keys.contains(token)
        else { return false }
        self.now = now
        figures.counters.requests += 1
        figures.counters.memoryHits += 1
        hits.touch(ticket.place.block, at: now)
        return true
    }

    /// The configuration or a secret, by which loads are read, has changed. Keys are derived anew,
    /// and no earlier answer is repeated without that.
    public mutating func reconfigured() {
        namesMemo.removeAll()
        hits.withdraw(.reconfigured)
    }
}

import Admission
import EventLoop
import Messages
import Wire
import ZeroMQ

// Hits in two messages (SEMANTICS §5.11), the short way.
extension Coordinator {
    /// Answers a `Load` whose bytes a hit answered before; `false` where it has to go the whole
    /// way, and nothing was done.
    mutating func answerAgain(
        _ sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) -> Bool {
        guard let (hit, token) = gateway.find(in: hitMemos[gateway.listener]),
            let id = peers.id(at: gateway.listener, sender), peers.takesReferences(id),
            scheduler.answer(hit.ticket, again: token, of: ClientID(id), at: now)
        else { return false }
        guard (try? gateway.send(replyTo: token, hit.reply, to: sender)) != .sent else {
            return true
        }
        keep(
            .toClient(.reply(Reply(token: token, outcome: .image(hit.ticket.image)))), for: id,
            at: now)
        return true
    }

    /// Remembers a load that a hit answers, unless it may become another one.
    mutating func learn(_ load: LoadRequest, _ resolved: Resolved, _ gateway: Gateway) {
        // A trace is hardly ever seen again.
        guard requestLog.permitsShortWay, load.trace == nil, !resolved.mayChange,
            var ticket = scheduler.hitTicket(for: resolved.load, resolved.terms)
        else { return }
        if let known = gateway.find(in: hitMemos[gateway.listener])?.hit,
            known.ticket.saysTheSame(as: ticket), scheduler.stands(known.ticket, at: .now())
        {
            return
        }
        scheduler.vouch(for: &ticket)
        writeVouchers()
        gateway.withBody {
            hitMemos[gateway.listener].learn(load, $0, ticket, &encoder)
        }
    }
}

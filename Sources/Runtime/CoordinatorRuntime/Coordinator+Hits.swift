import Admission
import EventLoop
import ImageModel
import Messages
import Wire
import ZeroMQ

// Hits in two messages (SEMANTICS §5.11), the short way.
extension Coordinator {
    /// Answers a `Load` whose bytes a hit answered before; `false` where it has to go the whole
    /// way, and nothing was done. The answer goes out with those of the same message
    /// (`sendAnswers`).
    mutating func answerAgain(
        _ sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) -> Bool {
        // Operators read entries by key: the same bytes are another load there.
        guard gateway.listener != .admin,
            let (hit, token) = gateway.find(in: hitMemos[gateway.listener]),
            let id = peers.id(at: gateway.listener, sender), peers.takesReferences(id),
            scheduler.answer(hit.ticket, again: token, of: ClientID(id), at: now)
        else { return false }
        let isAdded = answers.add(token, hit.reply.span.bytes)
        precondition(isAdded, "what is remembered fits a batch, which is as long as that of loads")
        return true
    }

    /// Sends what was collected for a client.
    mutating func sendAnswers(to sender: RoutingID, _ gateway: Gateway, at now: Instant) {
        guard !answers.isEmpty else { return }
        defer { answers.removeAll() }
        guard let id = peers.id(at: gateway.listener, sender) else { return }
        // What waits for room goes first.
        func hasRoom() -> Bool { peers[id]?.outbox.isEmpty == true }
        let isBatch = answers.count > 1 && peers.takesBatches(id)
        if isBatch, hasRoom(), sendBatch(to: sender, gateway) { return }
        for index in 0..<answers.count where !hasRoom() || !sendAnswer(index, to: sender, gateway) {
            keepAnswer(index, for: id, at: now)
        }
    }

    private mutating func sendBatch(to sender: RoutingID, _ gateway: Gateway) -> Bool {
        let outcome = try? answers.withMessage { (byteCount, fill) throws(ZMQError) in
            try gateway.send(.replies, byteCount: byteCount, to: sender, fill: fill)
        }
        return outcome == .sent
    }

    private borrowing func sendAnswer(
        _ index: Int, to sender: RoutingID, _ gateway: Gateway
    ) -> Bool {
        answers.body(at: index).withUnsafeBytes { body in
            let outcome = try? gateway.send(.reply, byteCount: body.count, to: sender) {
                $0.copyMemory(from: body)
            }
            return outcome == .sent
        }
    }

    /// The client has no room for it now.
    private mutating func keepAnswer(_ index: Int, for id: UInt64, at now: Instant) {
        if let message = Self.message(index, of: answers, &decoder) {
            return keep(.toClient(message), for: id, at: now)
        }
        // What we wrote cannot be read: a defect of ours.
        guard let token = TokenedBody(answers.body(at: index))?.token else { return }
        let error = ImageError(.internalError, "a message of the coordinator cannot travel")
        let failure = Reply(token: token, outcome: .failure(error))
        keep(.toClient(.reply(failure)), for: id, at: now)
    }

    private static func message(
        _ index: Int, of answers: borrowing BatchWriter, _ decoder: inout MessageDecoder
    ) -> ServerMessage? {
        try? decoder.serverMessage(.reply, answers.body(at: index))
    }

    /// Remembers a load that a hit answers, unless it may become another one.
    mutating func learn(_ load: LoadRequest, _ resolved: Resolved, _ gateway: Gateway) {
        // What a log is to say of a load is hardly ever seen again.
        guard gateway.listener != .admin, requestLog.permitsShortWay, load.logContext.isEmpty,
            !resolved.mayChange,
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

    /// Answers a load that names its trace or its request, whose bytes are hardly ever seen again,
    /// if a hit answers it: with a voucher, as other loads are. `false` where it has to go the
    /// whole way, and nothing was done.
    mutating func answerOnce(
        _ load: LoadRequest, _ resolved: Resolved, from id: UInt64, _ gateway: Gateway,
        at now: Instant
    ) -> Bool {
        guard gateway.listener != .admin, requestLog.permitsShortWay, !load.logContext.isEmpty,
            !resolved.mayChange, peers.takesReferences(id),
            var ticket = scheduler.hitTicket(for: resolved.load, resolved.terms)
        else { return false }
        scheduler.vouch(for: &ticket)
        writeVouchers()
        guard scheduler.answer(ticket, again: load.token, of: ClientID(id), at: now) else {
            return false
        }
        let answer = Reply(token: load.token, outcome: .image(ticket.image))
        reply(answer, to: ClientID(id), at: now)
        log(RequestRecord(load, answer), at: now)
        return true
    }
}

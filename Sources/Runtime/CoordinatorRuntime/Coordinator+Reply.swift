import Admission
import Messages

extension Coordinator {
    /// The end of a request: what is wanted in pieces begins to go out.
    mutating func reply(_ reply: Reply, to client: ClientID, at now: Instant) {
        let known =
            reply.isTerminal
            ? deliveries.replied(reply.token, of: client)
            : deliveries.refreshing(reply.token, of: client)
        guard let expected = known, case .image(let image) = reply.outcome,
            let reference = image.reference
        else { return sendEnd(reply, known, to: client, at: now) }
        // While one partial image goes out, a newer one would only come later.
        if reply.arrivedBytes != nil, deliveries.isSending(reply.token, to: client) {
            return letGo(of: image, for: client, at: now)
        }
        deliveries.begin(
            PieceDeliveries.Delivery(
                load: expected.load, deadline: expected.deadline, reply: reply, image: image,
                reference: reference),
            to: client)
        counters.pieceDeliveries += 1
        sendPieces(to: client, at: now)
    }

    /// A reply without bytes. It does not overtake those of a cached image; where these could not
    /// be sent and are the right ones, they are loaded once more.
    private mutating func sendEnd(
        _ reply: Reply, _ expected: PieceDeliveries.Expected?, to client: ClientID, at now: Instant
    ) {
        guard let expected else { return send(.toClient(.reply(reply)), to: client.value, at: now) }
        if deliveries.follow(reply, to: client) { return }
        guard expected.lacksCached, case .notModified = reply.outcome else {
            return send(.toClient(.reply(reply)), to: client.value, at: now)
        }
        loadUnmodified(expected.load, until: expected.deadline, for: client, at: now)
    }
}

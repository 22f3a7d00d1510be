import Admission
import Messages
import Wire

/// Loads that hits answered before, by the bytes of their messages: the same load again costs a
/// hash, a comparison and the scheduler's look at what may have changed, and no reading of the
/// message, no key, no writing of the reply.
struct HitMemo {
    /// One load and its answer.
    struct Hit {
        let ticket: HitTicket
        /// The body of its reply behind the token.
        let reply: [UInt8]
    }

    private var hits = RestMemo<Hit>(bits: 15, restBytesMax: bytesMax)

    /// Of a load or a reply that is remembered. Usually both have 400 bytes: 10,000 hot images are
    /// 8 MB, and all places at most 64 MB.
    private static let bytesMax = 1_024

    /// A load that is known, and who asks for it now.
    func find(_ body: RawSpan) -> (hit: Hit, token: Token)? {
        guard let parts = TokenedBody(body), let hit = hits.value(for: parts.rest) else {
            return nil
        }
        return (hit, parts.token)
    }

    /// Keeps a load that a hit answers. Only the canonical form is kept, byte for byte what
    /// `encoder` makes of the load: so the rest of the body says all, and no second token.
    mutating func learn(
        _ load: LoadRequest, _ body: RawSpan, _ ticket: HitTicket,
        _ encoder: inout MessageEncoder
    ) {
        guard let parts = TokenedBody(body), parts.rest.byteCount <= Self.bytesMax,
            (try? encoder.encode(.load(load))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) }),
            (try? encoder.encode(.reply(Reply(token: load.token, outcome: .image(ticket.image)))))
                != nil
        else { return }
        let reply = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        guard reply.count <= Self.bytesMax else { return }
        hits.keep(Hit(ticket: ticket, reply: reply), for: parts.rest)
    }
}

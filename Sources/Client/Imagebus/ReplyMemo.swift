import ImageModel
import Messages
import Wire

/// Replies of hits that were read before: those of one image differ in nothing but the token.
struct ReplyMemo {
    private var outcomes = RestMemo<Reply.Outcome>(bits: 14, restBytesMax: 1_024)

    /// The reply, where one of the same bytes but for the token was read before.
    func reply(_ body: RawSpan) -> Reply? {
        guard let parts = TokenedBody(body), let outcome = outcomes.value(for: parts.rest) else {
            return nil
        }
        return Reply(token: parts.token, outcome: outcome)
    }

    /// Keeps the reply of a hit in its canonical form: byte for byte what `encoder` makes of it.
    mutating func keep(_ reply: Reply, _ body: RawSpan, _ encoder: inout MessageEncoder) {
        guard case .image(let image) = reply.outcome, image.cacheType == .memory,
            reply.timings == StageTimings(), reply.isTerminal, let parts = TokenedBody(body),
            (try? encoder.encode(.reply(reply))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) })
        else { return }
        outcomes.keep(reply.outcome, for: parts.rest)
    }
}

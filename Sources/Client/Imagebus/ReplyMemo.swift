import ImageModel
import Messages
import Wire

/// Replies of hits that were read before: those of one image differ in nothing but the token.
struct ReplyMemo {
    private var answers = RestMemo<DeliveredAnswer>(bits: 14, restBytesMax: 1_024)

    /// The answer and whose it is, where a reply of the same bytes but for the token was read
    /// before.
    func answer(_ body: RawSpan) -> (token: Token, answer: DeliveredAnswer)? {
        guard let parts = TokenedBody(body), let answer = answers.value(for: parts.rest) else {
            return nil
        }
        return (parts.token, answer)
    }

    /// Keeps the reply of a hit in its canonical form: byte for byte what `encoder` makes of it.
    mutating func keep(_ reply: Reply, _ body: RawSpan, _ encoder: inout MessageEncoder) {
        guard case .image(let image) = reply.outcome, image.cacheType == .memory,
            reply.timings == StageTimings(), reply.isTerminal, let parts = TokenedBody(body),
            (try? encoder.encode(.reply(reply))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) })
        else { return }
        answers.keep(DeliveredAnswer(image, reply.timings), for: parts.rest)
    }
}

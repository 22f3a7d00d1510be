import ImageModel
import Messages
import Wire

/// Replies of hits that were read before: those of one image differ in nothing but the token.
struct ReplyMemo {
    typealias Answer = RestMemo<DeliveredAnswer>.Entry

    private var answers = RestMemo<DeliveredAnswer>(bits: 14, restBytesMax: 1_024)

    /// The answer of a reply that has these bytes behind its token, where such a one was read
    /// before. A load that was answered so the last time knows it: then nothing is hashed.
    func answer(_ rest: RawSpan, to load: PendingLoad) -> DeliveredAnswer? {
        if let last = load.remembered?.answer, last.isOf(rest) { return last.value }
        guard let known = answers.entry(for: rest) else { return nil }
        load.remembered?.answer = known
        return known.value
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

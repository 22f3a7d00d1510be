import ImageModel
import Messages
import Wire

/// A load as it was sent before, without its token, and what it was last answered with.
///
/// One that is loaded again and again is written once, and its hits, which differ in nothing but
/// the token, are read once.
final class RememberedLoad {
    private let request: LoadRequest
    private let hash: Int
    private let millisecondsLeft: Int
    /// The body behind the token.
    let rest: [UInt8]
    private var answered: (rest: [UInt8], answer: DeliveredAnswer)?

    /// What of an answer is kept at most.
    private static let answerBytesMax = 1_024

    init(_ load: PendingLoad, rest: [UInt8]) {
        (request, hash) = (load.request, load.hash)
        (millisecondsLeft, self.rest) = (load.millisecondsLeft, rest)
    }

    /// Whether the load is sent as this one was.
    func isSent(like load: PendingLoad) -> Bool {
        hash == load.hash && millisecondsLeft == load.millisecondsLeft
            && load.saysTheSame(as: request)
    }

    /// The answer whose body behind the token is that, where this load was answered so before.
    func answer(of rest: RawSpan) -> DeliveredAnswer? {
        guard let answered, RestBytes.isEqual(answered.rest, rest) else { return nil }
        return answered.answer
    }

    /// Keeps the reply of a hit in its canonical form: byte for byte what `encoder` makes of it.
    func keep(_ reply: Reply, _ body: RawSpan, _ encoder: inout MessageEncoder) {
        guard case .image(let image) = reply.outcome, image.cacheType == .memory,
            reply.timings == StageTimings(), reply.isTerminal, let parts = TokenedBody(body),
            parts.rest.byteCount <= Self.answerBytesMax,
            (try? encoder.encode(.reply(reply))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) })
        else { return }
        let rest = parts.rest.withUnsafeBytes { Array($0) }
        answered = (rest, DeliveredAnswer(image, reply.timings))
    }
}

import Imagebus
import MicroHTTPD

/// Answers that were made before, given again while they stand: the same request costs a look-up
/// and a look at its voucher, and no reading of the URL, no copy of the image, no writing of the
/// head. One thread.
///
/// An answer depends on the method, the target, the fields that were looked at while it was made,
/// and the second (`max-age`, and the end of a signed URL). Bounded: beyond its limits all are
/// forgotten; those in use come back with their next request.
final class HotAnswers {
    private struct Answer {
        let method: String
        let fields: LookedAt
        /// Seconds since 1970.
        let second: Int64
        let voucher: AnswerVoucher
        let reply: HTTPReply
        let source: String
        /// Bytes that it takes: body, target, and what else is said of it.
        let cost: Int
    }

    private var answers: [String: [Answer]] = [:]
    private var bytes = 0

    /// Bytes that are kept.
    private static let bytesMax = 64 << 20
    /// Bytes of one answer besides body and target.
    private static let overheadBytes = 2_048
    /// Of one body.
    private static let bodyBytesMax = 1 << 20
    private static let targetsMax = 16_384
    /// Of one target: for different fields, such as `Accept`.
    private static let variantsMax = 4

    /// The answer to a request, and the URL of its source, where one stands.
    func answer(
        _ method: String, _ target: String, at second: Int64, field: (String) -> String?
    ) -> (reply: HTTPReply, source: String)? {
        guard let known = answers[target] else { return nil }
        for answer in known where answer.method == method && answer.second == second {
            guard answer.fields.areSame(field) else { continue }
            guard answer.voucher.use() else { return nil }
            return (answer.reply, answer.source)
        }
        return nil
    }

    /// Keeps an answer. Returns it in the form in which it is sent.
    func keep(
        _ reply: HTTPReply, to head: (method: String, target: String), _ fields: LookedAt,
        at second: Int64, _ voucher: AnswerVoucher, from source: String
    ) -> HTTPReply {
        guard reply.bodyBytes <= Self.bodyBytesMax else { return reply }
        let cost = reply.bodyBytes + head.target.utf8.count + Self.overheadBytes
        if bytes + cost > Self.bytesMax || answers.count >= Self.targetsMax { forgetAll() }
        let reply = reply.prepared()
        var known = answers[head.target] ?? []
        // What is of another second is of no use.
        let kept = known.filter {
            $0.second == second && !($0.method == head.method && $0.fields == fields)
        }
        for old in known { bytes -= old.cost }
        known = kept.suffix(Self.variantsMax - 1)
        known.append(
            Answer(
                method: head.method, fields: fields, second: second, voucher: voucher,
                reply: reply, source: source, cost: cost))
        for new in known { bytes += new.cost }
        answers[head.target] = known
        return reply
    }

    /// Other settings make other answers.
    func forgetAll() {
        answers = [:]
        bytes = 0
    }
}

/// Fields of a request that were looked at, and what they said.
struct LookedAt: Equatable {
    private(set) var values: [String: String?] = [:]

    mutating func note(_ name: String, _ value: String?) { values[name] = .some(value) }

    /// Whether another request says the same in all of them.
    func areSame(_ field: (String) -> String?) -> Bool {
        values.allSatisfy { field($0.key) == $0.value }
    }
}

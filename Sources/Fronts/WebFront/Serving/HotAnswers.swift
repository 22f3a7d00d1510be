import Imagebus
import MicroHTTPD

/// Answers that were made before, given again while they stand: the same request costs a look-up
/// and a look at its voucher, and no reading of the URL, no copy of the image, no writing of the
/// head. Where the same head was answered, its fields are not looked at either. One thread.
///
/// An answer depends on the method, the target, the fields that were looked at while it was made,
/// and the second (`max-age`, and the end of a signed URL). Bounded: beyond its limits all are
/// forgotten; those in use come back with their next request.
final class HotAnswers {
    private final class Answer {
        let method: String
        let fields: LookedAt
        /// Seconds since 1970.
        let second: Int64
        let voucher: AnswerVoucher
        var standing: Standing
        /// How often it was given again.
        var uses = 0
        /// Whether its body is sent from a file.
        var isInFile = false
        /// Bytes that it takes: body, target, and what else is said of it.
        var cost: Int
        /// Heads that it answered.
        var heads: [HeadCopy] = []

        init(
            _ standing: Standing, to method: String, _ fields: LookedAt, at second: Int64,
            _ voucher: AnswerVoucher, cost: Int
        ) {
            (self.standing, self.method, self.fields) = (standing, method, fields)
            (self.second, self.voucher, self.cost) = (second, voucher, cost)
        }
    }

    /// An answer that stands, the URL of its source, and where that came from.
    struct Standing {
        var reply: HTTPReply
        let source: String
        let cache: CacheResult?
    }

    private var answers: [String: [Answer]] = [:]
    private var bytes = 0
    /// Answers whose bodies are in files.
    private var files = 0

    /// Bytes that are kept.
    private static let bytesMax = 64 << 20
    /// Bytes of one answer besides body and target.
    private static let overheadBytes = 2_048
    /// Of one body.
    private static let bodyBytesMax = 1 << 20
    private static let targetsMax = 16_384
    /// Of one target: for different fields, such as `Accept`.
    private static let variantsMax = 4
    /// An answer that is given so often within its second is sent from a file, if its body has so
    /// many bytes: the copies that this saves then cost more than the file. And how many there are.
    private static let (usesBeforeFile, fileBytesMin, filesMax) = (8, 16 << 10, 512)
    /// Heads of one answer, and bytes of one of them.
    private static let (headsMax, headBytesMax) = (4, 2_048)

    /// The answer to a request whose head was answered before, byte for byte.
    func answer(toHeadOf exchange: EventedExchange, at second: Int64) -> Standing? {
        let known = answers[exchange.target]?.first { answer in
            answer.second == second && answer.heads.contains { exchange.has($0) }
        }
        guard let known, known.voucher.use() else { return nil }
        return use(known)
    }

    /// The answer to a request that says the same in all that was looked at.
    func answer(to exchange: EventedExchange, at second: Int64) -> Standing? {
        let known = answers[exchange.target]?.first {
            $0.method == exchange.method && $0.second == second
                && $0.fields.areSame { exchange.header($0) }
        }
        guard let known, known.voucher.use() else { return nil }
        note(exchange, known)
        return use(known)
    }

    private func use(_ answer: Answer) -> Standing {
        answer.uses += 1
        if answer.uses == Self.usesBeforeFile, answer.method != "HEAD", files < Self.filesMax,
            answer.standing.reply.bodyBytes >= Self.fileBytesMin,
            let reply = answer.standing.reply.preparedInFile()
        {
            (answer.standing.reply, answer.isInFile) = (reply, true)
            files += 1
        }
        return answer.standing
    }

    /// From now on the same head is known.
    private func note(_ exchange: EventedExchange, _ answer: Answer) {
        guard answer.heads.count < Self.headsMax, let head = exchange.headCopy,
            head.byteCount <= Self.headBytesMax, bytes + head.byteCount <= Self.bytesMax
        else { return }
        bytes += head.byteCount
        answer.cost += head.byteCount
        answer.heads.append(head)
    }

    /// Keeps an answer. Returns it in the form in which it is sent.
    func keep(
        _ reply: HTTPReply, to head: (method: String, target: String), _ fields: LookedAt,
        at second: Int64, _ voucher: AnswerVoucher, from source: String, _ cache: CacheResult?
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
        files -= known.count(where: \.isInFile)
        known = kept.suffix(Self.variantsMax - 1)
        known.append(
            Answer(
                Standing(reply: reply, source: source, cache: cache), to: head.method, fields,
                at: second,
                voucher, cost: cost))
        for new in known { bytes += new.cost }
        files += known.count(where: \.isInFile)
        answers[head.target] = known
        return reply
    }

    /// Other settings make other answers.
    func forgetAll() {
        answers = [:]
        (bytes, files) = (0, 0)
    }
}

/// Fields of a request that were looked at, and what they said.
struct LookedAt: Equatable {
    /// Bytes: texts are equal by meaning, and what says who asks must not be.
    private var values: [String: [UInt8]?] = [:]

    mutating func note(_ name: String, _ value: String?) {
        values[name] = .some(value.map { Array($0.utf8) })
    }

    /// Whether another request says the same in all of them, byte for byte.
    func areSame(_ field: (String) -> String?) -> Bool {
        values.allSatisfy { name, value in
            guard let other = field(name) else { return value == nil }
            return value.map { $0.elementsEqual(other.utf8) } ?? false
        }
    }
}

import EventLoop
import ImageModel
package import Imagebus
package import Linux
import Messages
package import MicroHTTPD
package import Observability
import WebGrammar

/// Answers HTTP requests with images of the stack. One thread, that of its loop; what the client
/// library says comes through a mailbox.
///
/// A request whose peer leaves is cancelled, so that the work ends unless others wait for it.
package final class WebFront: EventedHandler {
    private var settings: WebFrontSettings
    private var reader: RequestReader
    private var maker: AnswerMaker
    private let client: ImagebusClient
    private let log: Log
    private let visitors = VisitorNumbers()
    private let hot = HotAnswers()
    private let mailbox: Mailbox<Ended>
    private var loads: [UInt64: Load] = [:]
    /// Loads whose end was not taken yet, those among them that nobody waits for any more: each has
    /// a place in the mailbox.
    private var pending = 0
    private var lastNumber: UInt64 = 0
    /// Whether `/ready` says no: the process is about to end. Who asks all the same is answered.
    package var isEnding = false
    /// Whether the log says of these settings that their fallback cannot be shown.
    private var hasWarnedOfFallback = false
    /// Requests that were answered, and those whose peer left before.
    package var answered: Int { Int(clamping: requests.counters.answeredCount) }
    package var abandoned: Int { Int(clamping: requests.counters.abandoned) }
    /// What is counted and written of requests.
    package let requests: OpenRequests
    /// Answers `/ready`.
    package let readiness: Readiness
    /// Connections of the server, for the figures; its loop says it.
    package var connectionCount = 0

    /// How a load ended; from the client's thread.
    private struct Ended: Sendable {
        let number: UInt64
        let result: Result<ImageResponse, ImageError>
    }

    /// A request that the stack works for.
    private struct Load {
        let exchange: EventedExchange
        let plan: RequestPlan
        let task: LoadTask
    }

    /// Loads at a time; a client may have no more.
    private static let loadsMax = 4_096

    package init(
        _ settings: WebFrontSettings, client: ImagebusClient, log: Log
    ) throws(Errno) {
        (self.settings, self.client, self.log) = (settings, client, log)
        (reader, maker) = (RequestReader(settings), AnswerMaker(settings))
        var accessLog = settings.logsRequests ? AccessLog(program: log.program) : nil
        accessLog?.pathPrefix = settings.pathPrefix
        requests = OpenRequests(log: accessLog)
        readiness = try Readiness(client)
        mailbox = try Mailbox(elementsMax: Self.loadsMax + 1)
        readiness.answer = { [unowned self] exchange, complaint in
            // It may have begun to end meanwhile.
            let no = isEnding ? "ending" : complaint
            let answers = self.settings.answers
            reply(
                exchange,
                no.map { answers.sentence(503, $0, retryAfter: 2) }
                    ?? answers.sentence(200, "ready"))
        }
    }

    /// Answers later requests by other settings, such as those with new keys.
    package func replace(_ settings: WebFrontSettings) {
        self.settings = settings
        (reader, maker) = (RequestReader(settings), AnswerMaker(settings))
        hot.forgetAll()
        hasWarnedOfFallback = false
    }

    /// Readable when loads have ended.
    package var descriptor: Int32 { mailbox.descriptor }

    /// Requests whose answers were not sent to their ends.
    package var openCount: Int { requests.count }

    // MARK: - Requests

    package func answerToKnownHead(of exchange: EventedExchange) -> HTTPReply? {
        guard !isEnding, let known = hot.answer(toHeadOf: exchange, at: WallClock.seconds()) else {
            return nil
        }
        requests.begin(exchange)
        requests.name(known.source, of: exchange)
        return known.reply
    }

    package func handle(_ exchange: EventedExchange) {
        requests.begin(exchange)
        if !isEnding, let known = hot.answer(to: exchange, at: WallClock.seconds()) {
            requests.name(known.source, of: exchange)
            return exchange.answer(known.reply)
        }
        guard exchange.target.utf8.count <= settings.targetBytesMax else {
            return reply(exchange, settings.answers.sentence(414, "the URL is too long"))
        }
        if answersHealth(exchange) || answersFile(exchange) { return }
        let fields = FieldRecorder(exchange)
        if settings.crossOrigin.varies { _ = fields.value("Origin") }
        let head = IncomingRequest(exchange.method, exchange.target) { fields.value($0) }
        let now = WallClock.nanoseconds()
        switch reader.verdict(on: head, now: Int(now / 1_000_000_000)) {
        case .load(let plan):
            if !answersAtHand(plan, exchange, fields, at: now) { begin(plan, exchange) }
        case .answer(let answer): reply(exchange, answer)
        }
    }

    /// An image that the client has at hand is answered at once, and the answer kept.
    private func answersAtHand(
        _ plan: RequestPlan, _ exchange: EventedExchange, _ fields: FieldRecorder, at now: Int64
    ) -> Bool {
        guard plan.upload == nil, !plan.isRevalidation,
            let image = client.answerAtHand(to: plan.request.image)
        else { return false }
        let source = plan.request.image.url
        requests.name(source, of: exchange)
        let move = maker.move(
            after: .success(DeliveredFacts(image)), of: plan, now: now / 1_000_000)
        switch move {
        case .load(let plan): begin(plan, exchange)
        case .text(let answer): reply(exchange, answer)
        case .image(let head):
            var reply = reply(exchange, head, image.bytes)
            if [200, 304].contains(head.status), !isEnding, let voucher = image.voucher {
                reply = hot.keep(
                    reply, to: (exchange.method, exchange.target), fields.looked,
                    at: now / 1_000_000_000, voucher, from: source)
            }
            exchange.answer(reply)
        }
        return true
    }

    package func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        if let refusal = reader.refusalOfBody(Self.head(of: exchange)) {
            return .refuse(made(refusal, for: exchange))
        }
        return .take(bytesMax: settings.uploads?.bytesMax ?? 0)
    }

    private static func head(of exchange: EventedExchange) -> IncomingRequest {
        IncomingRequest(exchange.method, exchange.target) { exchange.header($0) }
    }

    private func begin(_ plan: RequestPlan, _ exchange: EventedExchange) {
        requests.name(plan.request.image.url, of: exchange)
        guard pending < Self.loadsMax else {
            return reply(
                exchange,
                settings.answers.sentence(429, "too many requests wait: ask again", retryAfter: 1))
        }
        load(plan, exchange)
    }

    private func load(_ plan: RequestPlan, _ exchange: EventedExchange) {
        lastNumber += 1
        pending += 1
        let (number, mailbox) = (lastNumber, mailbox)
        let task = task(plan, exchange) { result in
            // There is a place for each load.
            _ = mailbox.post(Ended(number: number, result: result))
        }
        exchange.open?.load = number
        loads[number] = Load(exchange: exchange, plan: plan, task: task)
    }

    private func task(
        _ plan: RequestPlan, _ exchange: EventedExchange,
        _ completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let (image, visitor) = (plan.request.image, visitor(of: exchange))
        let bytes: [UInt8]
        switch plan.upload {
        case nil:
            return client.load(image, on: .inline, visitor: visitor, completion: completion)
        case .body: bytes = exchange.body
        case .fallback(let file): bytes = file
        }
        return client.load(
            image, uploading: bytes, on: .inline, visitor: visitor, completion: completion)
    }

    private func visitor(of exchange: EventedExchange) -> UInt64 {
        let named = settings.visitorField.flatMap { exchange.header($0) }
        return visitors.number(of: named ?? exchange.peer)
    }

    /// The paths that say whether the process is there and can answer.
    private func answersHealth(_ exchange: EventedExchange) -> Bool {
        guard ["GET", "HEAD"].contains(exchange.method) else { return false }
        let path = Self.head(of: exchange).path
        switch path {
        case "/live", "/health": reply(exchange, settings.answers.sentence(200, "live"))
        case "/ready": isEnding ? readiness.answer(exchange, nil) : readiness.ask(exchange)
        case _ where settings.healthPath.map { $0 == path } ?? false:
            reply(exchange, settings.answers.sentence(200, "WORKING"))
        default: return false
        }
        return true
    }

    private func answersFile(_ exchange: EventedExchange) -> Bool {
        guard
            let reply = settings.files?.reply(
                to: exchange.target, ifNoneMatch: exchange.header("If-None-Match"))
        else { return false }
        exchange.answer(reply)
        return true
    }

    package func ended(_ exchange: EventedExchange, _ end: HTTPEnd) {
        // Its load is still under way: nobody waits for it here any more.
        guard let number = requests.end(exchange, end)?.load,
            let load = loads.removeValue(forKey: number)
        else { return }
        load.task.cancel()
        log.debug("abandoned", ["url": .string(load.plan.request.image.url)])
    }

    // MARK: - Answers

    /// Answers what has ended.
    package func takeEnds() {
        var ends: [Ended] = []
        mailbox.drain(into: &ends)
        pending -= ends.count
        for end in ends {
            guard let load = loads.removeValue(forKey: end.number) else { continue }
            load.exchange.open?.load = nil
            answer(load, end.result)
        }
    }

    /// The fallback of the listener cannot be had: visitors are told of the first error, and the
    /// operator of this one, once.
    private func warnOfFallback(_ error: ImageError) {
        guard !hasWarnedOfFallback else { return }
        hasWarnedOfFallback = true
        log.warning(
            "the fallback cannot be shown: name another one with --fallback",
            ["reason": .string("\(error.code): \(error.message)")])
    }

    private func answer(_ load: Load, _ result: Result<ImageResponse, ImageError>) {
        if load.plan.fallbackFor != nil, case .failure(let error) = result {
            warnOfFallback(error)
        }
        let move = maker.move(
            after: result.map { DeliveredFacts($0) }, of: load.plan,
            now: WallClock.nanoseconds() / 1_000_000)
        switch move {
        case .load(let plan): self.load(plan, load.exchange)
        case .text(let answer): reply(load.exchange, answer)
        case .image(let head):
            load.exchange.answer(reply(load.exchange, head, (try? result.get())?.bytes))
        }
    }

    private func reply(
        _ exchange: EventedExchange, _ head: AnswerHead, _ bytes: ImageBytes?
    ) -> HTTPReply {
        guard let range = head.bytes, let bytes else { return made(head, for: exchange) }
        guard let all = bytes.lastingBytes else {
            return made(head, .bytes(Array(bytes.array[range])), for: exchange)
        }
        let part = UnsafeRawBufferPointer(rebasing: all[range])
        return made(head, .memory(part, owner: bytes), for: exchange)
    }

    private func reply(_ exchange: EventedExchange, _ answer: TextAnswer) {
        exchange.answer(made(answer, for: exchange))
    }

    private func made(_ answer: TextAnswer, for exchange: EventedExchange) -> HTTPReply {
        made(answer.head, .bytes(answer.body), for: exchange)
    }

    private func made(
        _ head: AnswerHead, _ body: HTTPReply.Body = .bytes([]), for exchange: EventedExchange
    ) -> HTTPReply {
        let access = settings.crossOrigin
        let head = settings.responseHeaders.added(
            to: access.added(to: head, origin: access.varies ? exchange.header("Origin") : nil))
        var fields = head.fields.map { (name: $0.name, value: $0.value) }
        // Nobody asks once more on a connection that is about to end.
        if isEnding { fields.append(("Connection", "close")) }
        return HTTPReply(status: head.status, headers: fields, body: body)
    }
}

/// Reads fields of a request, and notes which.
private final class FieldRecorder {
    private let exchange: EventedExchange
    private(set) var looked = LookedAt()

    init(_ exchange: EventedExchange) { self.exchange = exchange }

    func value(_ name: String) -> String? {
        let value = exchange.header(name)
        looked.note(name, value)
        return value
    }
}

extension DeliveredFacts {
    fileprivate init(_ image: ImageResponse) {
        self.init(
            image.info, facts: image.facts, byteCount: image.bytes?.count, digest: image.digest,
            validity: image.validity, timings: image.timings, fallbackFor: image.fallbackFor)
        isGzipped = image.info?.format == .svg && image.bytes.map(Self.beginsAsGzip) ?? false
    }

    /// RFC 1952, 2.3.1.
    private static func beginsAsGzip(_ bytes: ImageBytes) -> Bool {
        bytes.withUnsafeBytes { $0.starts(with: [0x1F, 0x8B]) }
    }
}

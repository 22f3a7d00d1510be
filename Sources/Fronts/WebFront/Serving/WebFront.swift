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
    private var random = IDSource()
    private let hot = HotAnswers()
    private let mailbox: Mailbox<Ended>
    private var loads: [UInt64: Load] = [:]
    /// Loads whose end was not taken yet, those among them that nobody waits for any more: each has
    /// a place in the mailbox.
    private var pending = VisitorShares(most: loadsMax)
    /// What peers have not read yet.
    package private(set) var unread = UnreadAnswers()
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
    /// Connections that the server closed since their peers read too slowly; its loop says it.
    package var slowReaders: UInt64 = 0
    /// Connections that the server closed since their address had too many.
    package private(set) var refusedConnections = RefusedConnections()
    private var reasons = ReportedReasons()

    /// How a load ended; from the client's thread.
    private struct Ended: Sendable {
        let number: UInt64
        let visitor: UInt64
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
        // In JSON, whatever the other lines are like.
        let requestLog = log.with(level: .info, format: .json)
        var accessLog = settings.logsRequests ? AccessLog(requestLog) : nil
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
        enter(exchange)
        return bounded(reply(exchange, known), for: exchange)
    }

    package func handle(_ exchange: EventedExchange) {
        enter(exchange)
        if !isEnding, let known = hot.answer(to: exchange, at: WallClock.seconds()) {
            return answer(exchange, reply(exchange, known))
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

    private func enter(_ exchange: EventedExchange) {
        let request = requests.begin(exchange)
        request.isFromProxy = settings.edge.trusted.contains(exchange.peer)
        guard requests.isLogged else { return }
        _ = client(of: exchange)
        guard exchange.method == "POST", let uploads = settings.uploads else { return }
        request.token = uploads.number(of: exchange.header("Authorization"))
    }

    /// The client that a trusted proxy names, else the peer.
    private func client(of exchange: EventedExchange) -> String {
        if let known = exchange.open?.client { return known }
        let client = settings.edge.client(of: exchange.peer) { exchange.header($0) }
        exchange.open?.client = client
        return client
    }

    private func visitor(of exchange: EventedExchange) -> UInt64 {
        visitors.number(of: client(of: exchange))
    }

    /// The names by which logs find a request.
    private func ids(of exchange: EventedExchange) -> RequestIDs {
        if let known = exchange.open?.ids { return known }
        let ids = settings.edge.ids(
            of: exchange.peer, { exchange.header($0) }, orMadeOf: &random)
        exchange.open?.ids = ids
        return ids
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
        let facts = DeliveredFacts(image)
        let cache = facts.cacheResult(for: plan, now: now / 1_000_000)
        exchange.open?.cache = cache
        let move = maker.move(after: .success(facts), of: plan, now: now / 1_000_000)
        switch move {
        case .load(let plan): begin(plan, exchange)
        case .text(let answer): reply(exchange, answer)
        case .image(let head):
            var reply = reply(exchange, head, image.bytes, isAtHand: true)
            if [200, 304].contains(head.status), !isEnding, let voucher = image.voucher {
                reply = hot.keep(
                    reply, to: (exchange.method, exchange.target), fields.looked,
                    at: now / 1_000_000_000, voucher, from: source, cache)
            }
            answer(exchange, named(reply, for: exchange))
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
        let verdict = pending.verdict(on: 1, new: 1, for: visitor(of: exchange))
        guard verdict == .admitted else {
            return reply(
                exchange,
                settings.answers.busy(
                    429,
                    verdict == .visitorIsFull
                        ? "this client waits for too many images: ask again after one of them"
                        : "too many requests wait: ask again"))
        }
        load(plan, exchange)
    }

    private func load(_ plan: RequestPlan, _ exchange: EventedExchange) {
        lastNumber += 1
        let (number, mailbox, visitor) = (lastNumber, mailbox, visitor(of: exchange))
        pending.take(1, new: 1, by: visitor)
        let task = task(plan, exchange, visitor) { result in
            // There is a place for each load.
            _ = mailbox.post(Ended(number: number, visitor: visitor, result: result))
        }
        exchange.open?.load = number
        loads[number] = Load(exchange: exchange, plan: plan, task: task)
    }

    private func task(
        _ plan: RequestPlan, _ exchange: EventedExchange, _ visitor: UInt64,
        _ completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let image = plan.request.image
        let logContext = ids(of: exchange).logContext
        let bytes: [UInt8]
        switch plan.upload {
        case nil:
            return client.load(
                image, on: .inline, visitor: visitor, logContext: logContext,
                completion: completion)
        case .body: bytes = exchange.body
        case .fallback(let file): bytes = file
        }
        return client.load(
            image, uploading: bytes, on: .inline, visitor: visitor, logContext: logContext,
            completion: completion)
    }

    /// The paths that say whether the process is there and can answer.
    private func answersHealth(_ exchange: EventedExchange) -> Bool {
        guard ["GET", "HEAD"].contains(exchange.method) else { return false }
        let path = Self.head(of: exchange).path
        let isOfGrammar = settings.healthPath.map { $0 == path } ?? false
        guard isOfGrammar || ["/live", "/health", "/ready"].contains(path) else { return false }
        exchange.open?.isHealthCheck = true
        switch path {
        case "/ready": isEnding ? readiness.answer(exchange, nil) : readiness.ask(exchange)
        case _ where isOfGrammar: reply(exchange, settings.answers.sentence(200, "WORKING"))
        default: reply(exchange, settings.answers.sentence(200, "live"))
        }
        return true
    }

    private func answersFile(_ exchange: EventedExchange) -> Bool {
        guard
            let reply = settings.files?.reply(
                to: exchange.target, ifNoneMatch: exchange.header("If-None-Match"))
        else { return false }
        exchange.answer(named(reply, for: exchange))
        return true
    }

    package func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool {
        settings.edge.trusted.contains(peer)
    }

    package func refusedConnection(of peer: PeerAddress) { refusedConnections.add(peer) }

    /// Says in the log how many connections were closed at the limit of their address.
    func reportRefusedConnections(at now: Instant) {
        guard let report = refusedConnections.takeReport(at: now) else { return }
        log.warning(
            settings.named(
                "connections were closed at the limit of their address "
                    + "(--connections-per-address): if it is a proxy, name it with "
                    + "--trusted-proxy"),
            ["count": LogValue(report.count), "address": .string(report.last.text)])
    }

    package func ended(_ exchange: EventedExchange, _ end: HTTPEnd) {
        let request = requests.end(exchange, end)
        if let answer = request?.unread { unread.end(answer) }
        // Its load is still under way: nobody waits for it here any more.
        guard let number = request?.load, let load = loads.removeValue(forKey: number)
        else { return }
        load.task.cancel()
        log.debug("abandoned", ["url": .string(load.plan.request.image.url)])
    }

    // MARK: - Answers

    /// Answers what has ended.
    package func takeEnds() {
        var ends: [Ended] = []
        mailbox.drain(into: &ends)
        for end in ends {
            pending.giveBack(1, old: 1, of: end.visitor)
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
            settings.named("the fallback cannot be shown: name another one with --fallback"),
            ["reason": .string("\(error.code): \(error.message)")])
    }

    /// What cannot be done here is told to the operator, whoever asked for it: it is a matter of
    /// the configuration, or of what URLs are made from.
    private func warnOfUnsupported(_ failure: TextAnswer.Failure?) {
        guard let failure, let reason = reasons.take("\(failure.name): \(failure.message)") else {
            return
        }
        log.warning("a request is answered 501: it is not supported", ["reason": .string(reason)])
    }

    private func answer(_ load: Load, _ result: Result<ImageResponse, ImageError>) {
        if load.plan.fallbackFor != nil, case .failure(let error) = result {
            warnOfFallback(error)
        }
        let (facts, now) = (result.map { DeliveredFacts($0) }, WallClock.nanoseconds() / 1_000_000)
        load.exchange.open?.cache = (try? facts.get())?.cacheResult(for: load.plan, now: now)
        switch maker.move(after: facts, of: load.plan, now: now) {
        case .load(let plan): self.load(plan, load.exchange)
        case .text(let answer): reply(load.exchange, answer)
        case .image(let head):
            answer(load.exchange, reply(load.exchange, head, (try? result.get())?.bytes))
        }
    }

    private func answer(_ exchange: EventedExchange, _ reply: HTTPReply) {
        exchange.answer(bounded(reply, for: exchange))
    }

    /// The answer, or a refusal where too much waits to be read already.
    private func bounded(_ reply: HTTPReply, for exchange: EventedExchange) -> HTTPReply {
        guard let request = exchange.open, exchange.method != "HEAD",
            reply.bodyBytes >= UnreadAnswers.countedBytesMin,
            case .memory(let bytes, let owner) = reply.body
        else { return reply }
        let answer = UnreadAnswers.Answer(
            body: ObjectIdentifier(owner), bytes: (owner as? ImageBytes)?.count ?? bytes.count,
            visitor: visitor(of: exchange))
        let refusal: TextAnswer
        switch unread.begin(answer) {
        case .admitted:
            request.unread = answer
            return reply
        case .visitorIsFull:
            refusal = settings.answers.busy(
                429, "this client has too much that it has not read: read that first")
        case .allAreFull:
            refusal = settings.answers.busy(
                503, "too much has not been read by those who asked for it: ask again")
        }
        request.error = refusal.failure?.name
        return made(refusal, for: exchange)
    }

    private func reply(
        _ exchange: EventedExchange, _ head: AnswerHead, _ bytes: ImageBytes?,
        isAtHand: Bool = false
    ) -> HTTPReply {
        let body: HTTPReply.Body
        if let range = head.bytes, let bytes {
            let part = bytes.lastingBytes[range]
            body = .memory(UnsafeRawBufferPointer(rebasing: part), owner: bytes)
        } else {
            body = .bytes([])
        }
        let reply = unnamed(head, body, for: exchange)
        return isAtHand ? reply : reply.adding(ids(of: exchange).fields)
    }

    /// An answer that was made before.
    private func reply(_ exchange: EventedExchange, _ known: HotAnswers.Standing) -> HTTPReply {
        requests.name(known.source, of: exchange)
        exchange.open?.cache = known.cache
        return named(known.reply, for: exchange)
    }

    private func reply(_ exchange: EventedExchange, _ answer: TextAnswer) {
        if answer.head.status == 501 { warnOfUnsupported(answer.failure) }
        exchange.open?.error = answer.failure?.name
        exchange.answer(made(answer, for: exchange))
    }

    /// An answer that is the same for all, and for which no other process was asked, names the
    /// request to nobody but a proxy that named it.
    private func named(_ reply: HTTPReply, for exchange: EventedExchange) -> HTTPReply {
        guard exchange.open?.isFromProxy == true,
            RequestIDs.fieldNames.contains(where: { exchange.header($0) != nil })
        else { return reply }
        return reply.adding(ids(of: exchange).fields)
    }

    private func made(_ answer: TextAnswer, for exchange: EventedExchange) -> HTTPReply {
        unnamed(answer.head, .bytes(answer.body), for: exchange).adding(ids(of: exchange).fields)
    }

    private func unnamed(
        _ head: AnswerHead, _ body: HTTPReply.Body, for exchange: EventedExchange
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

extension HTTPReply {
    /// The same with further fields.
    fileprivate func adding(_ fields: [AnswerHead.Field]) -> HTTPReply {
        var reply = self
        reply.headers += fields.map { (name: $0.name, value: $0.value) }
        return reply
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
        (tiers, isDamaged) = (image.cacheType, image.isDamaged)
        isGzipped = image.info?.format == .svg && image.bytes.map(Self.beginsAsGzip) ?? false
    }

    /// RFC 1952, 2.3.1.
    private static func beginsAsGzip(_ bytes: ImageBytes) -> Bool {
        bytes.withUnsafeBytes { $0.starts(with: [0x1F, 0x8B]) }
    }
}

/// Reasons that the log has named, so that each is named once, and a bounded number of them.
struct ReportedReasons {
    private var known: Set<String> = []
    private static let (countMax, bytesMax) = (100, 200)

    /// What is to be logged for a reason: itself the first time, `nil` later and where too many
    /// others were logged.
    mutating func take(_ reason: String) -> String? {
        let text = String(decoding: reason.utf8.prefix(Self.bytesMax), as: UTF8.self)
        guard known.count < Self.countMax, known.insert(text).inserted else { return nil }
        return text
    }
}

/// Numbers for visitors that nobody outside can choose: whoever knew them could meet others in
/// their turns.
package struct VisitorNumbers: Sendable {
    private let salt = UInt64.random(in: 1 ... .max)

    package init() {}

    /// The same number for the same text, in this process; never 0, which is nobody.
    package func number(of text: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(text)
        return max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}

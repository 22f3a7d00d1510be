package import Imagebus
package import Linux
package import MicroHTTPD
import Model
package import ProcessRuntime
import WebGrammar

/// Answers HTTP requests with images of the stack. Single-threaded, on its loop; events of the
/// client library arrive through a mailbox.
///
/// If a peer disconnects, its load is canceled, which ends the work unless other requests share it.
package final class WebFront: EventedHandler, LoopPart {
    private var settings: WebFrontSettings
    private var reader: RequestReader
    private var maker: AnswerMaker
    private let client: ImagebusClient
    private let log: Log
    private let hot = HotAnswers()
    private let mailbox: Mailbox<Ended>
    private var loads: [UInt64: Load] = [:]
    /// Loads whose end has not been handled, including abandoned ones: each needs a slot in the
    /// mailbox.
    private var pending = HTTPClientShares(most: loadsMax)
    /// Responses that peers have not read yet.
    package private(set) var unread = UnreadAnswers()
    private var lastNumber: UInt64 = 0
    /// Whether `/ready` reports not ready because the process is about to end. Requests are still
    /// answered.
    package var isEnding = false
    /// Whether a failing fallback has been logged for these settings.
    private var hasWarnedOfFallback = false
    /// Counts and logs requests.
    package let requests: OpenRequests
    /// Serves `/ready`.
    package let readiness: Readiness
    /// The number of open connections, for the metrics; set by the server's loop.
    package var connectionCount = 0
    /// The number of connections that the server closed because the peer read too slowly; set by
    /// the server's loop.
    package var slowReaders: UInt64 = 0
    /// Connections that the server closed because of the per-address limit.
    package private(set) var refusedConnections = RefusedConnections()
    private var reasons = ReportedReasons()

    /// The result of a load, sent by the client's thread.
    private struct Ended: Sendable {
        let number: UInt64
        let httpClient: UInt64
        let result: Result<ImageResponse, ImageError>
    }

    /// A request with a load in flight.
    private struct Load {
        let exchange: EventedExchange
        let plan: RequestPlan
        let task: LoadTask
    }

    /// The maximum number of concurrent loads, which is the stack's limit for one client.
    private static let loadsMax = 4_096

    package init(
        _ settings: WebFrontSettings, client: ImagebusClient, log: Log
    ) throws(Errno) {
        (self.settings, self.client, self.log) = (settings, client, log)
        (reader, maker) = (RequestReader(settings), AnswerMaker(settings: settings))
        // The access log is JSON regardless of the format of other log lines.
        let requestLog = log.with(level: .info, format: .json)
        requests = OpenRequests(
            log: settings.logsRequests
                ? AccessLog(
                    log: requestLog, pathPrefix: settings.pathPrefix,
                    queryOptions: settings.grammar.queryOptions) : nil)
        readiness = try Readiness(client)
        mailbox = try Mailbox(elementsMax: Self.loadsMax + 1)
        readiness.answer = { [unowned self] exchange, complaint in
            // The shutdown may have begun in the meantime.
            let no = isEnding ? "ending" : complaint
            let answers = self.settings.answers
            reply(
                exchange,
                no.map { answers.sentence(503, $0, retryAfter: 2) }
                    ?? answers.sentence(200, "ready"))
        }
    }

    /// Uses other settings for later requests, for instance new keys.
    package func replace(_ settings: WebFrontSettings) {
        self.settings = settings
        (reader, maker) = (RequestReader(settings), AnswerMaker(settings: settings))
        hot.forgetAll()
        hasWarnedOfFallback = false
    }

    /// Readable when loads have ended.
    package var descriptor: Int32 { mailbox.descriptor }

    var metrics: FrontMetrics {
        FrontMetrics(
            requests: requests.counters, connections: connectionCount,
            refusedConnections: refusedConnections.total, unread: unread,
            slowReaders: slowReaders)
    }

    // MARK: - Requests

    package func answerToKnownHead(of exchange: EventedExchange) -> PreparedReply? {
        guard !isEnding, let known = hot.answer(toHeadOf: exchange, at: WallClock.seconds()) else {
            return nil
        }
        enter(exchange)
        return bounded(reply(exchange, known), for: exchange)
    }

    package func handle(_ exchange: EventedExchange) {
        enter(exchange)
        if !isEnding, let known = hot.answer(to: exchange, at: WallClock.seconds()) {
            return answer(exchange, named(reply(exchange, known), for: exchange))
        }
        guard exchange.target.utf8.count <= settings.targetBytesMax else {
            return reply(exchange, settings.answers.sentence(414, "the URL is too long"))
        }
        if answersHealth(exchange) { return }
        if let reply = settings.files?.reply(
            to: exchange.target, ifNoneMatch: exchange.header("If-None-Match"))
        {
            return exchange.answer(named(PreparedReply(reply), for: exchange))
        }
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
        request.token = uploads.tokens.number(of: exchange.header("Authorization"))
    }

    /// Returns the client as named by a trusted proxy, otherwise the peer.
    private func client(of exchange: EventedExchange) -> String {
        if let known = exchange.open?.client { return known }
        let client = settings.edge.client(of: exchange.peer) { exchange.header($0) }
        exchange.open?.client = client
        return client
    }

    /// Returns the number of the client; never 0, which means no particular client. Hashes can't be
    /// predicted from outside. Otherwise an attacker could provoke collisions and share another
    /// client's turns.
    private func httpClient(of exchange: EventedExchange) -> UInt64 {
        max(1, UInt64(bitPattern: Int64(client(of: exchange).hashValue)))
    }

    /// Returns the identifiers of a request used in logs.
    private func ids(of exchange: EventedExchange) -> LogContext {
        if let known = exchange.open?.ids { return known }
        let ids = settings.edge.ids(of: exchange.peer) { exchange.header($0) }
        exchange.open?.ids = ids
        return ids
    }

    /// Answers immediately if the client already has a valid image, and keeps the response. Returns
    /// whether it did.
    private func answersAtHand(
        _ plan: RequestPlan, _ exchange: EventedExchange, _ fields: FieldRecorder, at now: Int64
    ) -> Bool {
        guard plan.upload == nil, !plan.isRevalidation,
            let image = client.answerAtHand(to: plan.request.image)
        else { return false }
        let source = plan.request.image.url
        requests.name(source, of: exchange)
        let properties = DeliveredProperties(image)
        let cache = properties.cacheResult(for: plan, now: now / 1_000_000)
        exchange.open?.cache = cache
        let move = maker.nextStep(after: .success(properties), of: plan, now: now / 1_000_000)
        switch move {
        case .load(let plan): begin(plan, exchange)
        case .text(let answer): reply(exchange, answer)
        case .image(let answer):
            let reply = httpReply(answer, for: exchange, image.bytes)
            let prepared: PreparedReply
            if [200, 304].contains(answer.status), !isEnding, let voucher = image.voucher {
                prepared = hot.keep(
                    reply, to: (exchange.method, exchange.target), fields.looked,
                    at: now / 1_000_000_000, voucher, from: source, cache)
            } else {
                prepared = PreparedReply(reply)
            }
            self.answer(exchange, named(prepared, for: exchange))
        }
        return true
    }

    package func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        if let refusal = reader.refusalOfBody(Self.head(of: exchange)) {
            return .refuse(httpReply(refusal, for: exchange))
        }
        return .accept(bytesMax: settings.uploads?.bytesMax ?? 0)
    }

    private static func head(of exchange: EventedExchange) -> IncomingRequest {
        IncomingRequest(exchange.method, exchange.target) { exchange.header($0) }
    }

    private func begin(_ plan: RequestPlan, _ exchange: EventedExchange) {
        requests.name(plan.request.image.url, of: exchange)
        let verdict = pending.verdict(on: 1, new: 1, for: httpClient(of: exchange))
        guard verdict == .admitted else {
            return reply(
                exchange,
                settings.answers.busy(
                    429,
                    verdict == .httpClientIsFull
                        ? "too many pending requests from this client: try again later"
                        : "too many pending requests: try again later"))
        }
        load(plan, exchange)
    }

    private func load(_ plan: RequestPlan, _ exchange: EventedExchange) {
        lastNumber += 1
        let (number, mailbox, httpClient) = (lastNumber, mailbox, httpClient(of: exchange))
        pending.reserve(1, new: 1, by: httpClient)
        let task = task(plan, exchange, httpClient) { result in
            // The mailbox has room for every load.
            _ = mailbox.post(Ended(number: number, httpClient: httpClient, result: result))
        }
        exchange.open?.load = number
        loads[number] = Load(exchange: exchange, plan: plan, task: task)
    }

    private func task(
        _ plan: RequestPlan, _ exchange: EventedExchange, _ httpClient: UInt64,
        _ completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let image = plan.request.image
        let logContext = ids(of: exchange)
        let bytes: [UInt8]
        switch plan.upload {
        case nil:
            return client.load(
                image, on: .inline, httpClient: httpClient, logContext: logContext,
                completion: completion)
        case .body: bytes = exchange.body
        case .fallback(let file): bytes = file
        }
        return client.load(
            image, uploading: bytes, on: .inline, httpClient: httpClient, logContext: logContext,
            completion: completion)
    }

    /// Answers health check paths. Returns whether the path is one.
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

    package func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool {
        settings.edge.trusted.contains(peer)
    }

    package func refusedConnection(of peer: PeerAddress) { refusedConnections.add(peer) }

    /// Logs how many connections were closed because of the per-address limit.
    func reportRefusedConnections(at now: Instant) {
        guard let report = refusedConnections.nextReport(at: now) else { return }
        log.warning(
            settings.named(
                "connections closed at the limit per address (--connections-per-address); if "
                    + "the address is a proxy, pass it in --trusted-proxy"),
            ["count": LogValue(report.count), "address": .string(report.last.text)])
    }

    package func ended(_ exchange: EventedExchange, _ end: HTTPEnd) {
        let request = requests.end(exchange, end)
        if let answer = request?.unread { unread.end(answer) }
        // The load is still in flight, and no one waits for it on this front.
        guard let number = request?.load, let load = loads.removeValue(forKey: number)
        else { return }
        load.task.cancel()
        log.debug("abandoned", ["url": .string(load.plan.request.image.url)])
    }

    // MARK: - Answers

    package func handleAnswers() {
        var ends: [Ended] = []
        mailbox.drain(into: &ends)
        for end in ends {
            pending.giveBack(1, old: 1, of: end.httpClient)
            guard let load = loads.removeValue(forKey: end.number) else { continue }
            load.exchange.open?.load = nil
            answer(load, end.result)
        }
    }

    private func answer(_ load: Load, _ result: Result<ImageResponse, ImageError>) {
        // Clients receive the original error.
        if load.plan.fallbackFor != nil, load.plan.request.fallback == nil,
            case .failure(let error) = result, !hasWarnedOfFallback
        {
            hasWarnedOfFallback = true
            log.warning(
                settings.named("the fallback cannot be loaded; pass another one with --fallback"),
                ["reason": .string("\(error.code): \(error.message)")])
        }
        let (properties, now) = (
            result.map { DeliveredProperties($0) }, WallClock.nanoseconds() / 1_000_000
        )
        load.exchange.open?.cache = (try? properties.get())?.cacheResult(for: load.plan, now: now)
        switch maker.nextStep(after: properties, of: load.plan, now: now) {
        case .load(let plan): self.load(plan, load.exchange)
        case .text(let answer): reply(load.exchange, answer)
        case .image(let answer):
            let reply = httpReply(
                answer, for: load.exchange, (try? result.get())?.bytes, ids(of: load.exchange))
            self.answer(load.exchange, PreparedReply(reply))
        }
    }

    private func answer(_ exchange: EventedExchange, _ reply: PreparedReply) {
        exchange.answer(bounded(reply, for: exchange))
    }

    /// Returns the response, or a refusal if too much unread data is in memory.
    private func bounded(
        _ reply: PreparedReply, for exchange: EventedExchange
    ) -> PreparedReply {
        guard reply.bodyBytes >= UnreadAnswers.countedBytesMin, exchange.method != "HEAD",
            let request = exchange.open, case .memory(let bytes, let owner) = reply.reply.body
        else { return reply }
        let answer = UnreadAnswers.Answer(
            body: ObjectIdentifier(owner), bytes: (owner as? ImageBytes)?.count ?? bytes.count,
            httpClient: httpClient(of: exchange))
        let refusal: Answer
        switch unread.begin(answer) {
        case .admitted:
            request.unread = answer
            return reply
        case .httpClientIsFull:
            refusal = settings.answers.busy(
                429, "too much unread data for this client: read pending responses first")
        case .allAreFull:
            refusal = settings.answers.busy(
                503, "too much unread data for all clients: try again later")
        }
        request.error = refusal.failure?.name
        return PreparedReply(httpReply(refusal, for: exchange))
    }

    /// Returns a response from the cache of recent responses.
    private func reply(
        _ exchange: EventedExchange, _ known: HotAnswers.Answer
    ) -> PreparedReply {
        requests.name(known.source, of: exchange)
        exchange.open?.cache = known.cache
        return known.reply
    }

    private func reply(_ exchange: EventedExchange, _ answer: Answer) {
        // It points to a problem in the configuration or in the generator of the URLs.
        if answer.status == 501, let failure = answer.failure,
            let reason = reasons.record("\(failure.name): \(failure.message)")
        {
            log.warning("request not supported (501)", ["reason": .string(reason)])
        }
        exchange.open?.error = answer.failure?.name
        exchange.answer(httpReply(answer, for: exchange))
    }

    /// Adds the request's identifiers only if a trusted proxy has sent some, because this response
    /// is the same for all clients and involved no other process.
    private func named(_ reply: PreparedReply, for exchange: EventedExchange) -> PreparedReply {
        guard exchange.open?.isFromProxy == true, exchange.hasIDs else { return reply }
        var named = reply.reply
        named.headers += ids(of: exchange).httpFields.pairs
        return PreparedReply(named)
    }

    private func httpReply(_ answer: Answer, for exchange: EventedExchange) -> HTTPReply {
        httpReply(answer, for: exchange, nil, ids(of: exchange))
    }

    /// Returns the response with the bytes of an image, if it has one, and with identifiers.
    private func httpReply(
        _ answer: Answer, for exchange: EventedExchange, _ bytes: ImageBytes?,
        _ ids: LogContext? = nil
    ) -> HTTPReply {
        let access = settings.crossOrigin
        let fields = access.added(
            to: answer.fields, origin: access.varies ? exchange.header("Origin") : nil
        ).replacing(with: settings.responseHeaders.fields)
        var reply = HTTPReply(
            status: answer.status, headers: fields.pairs, body: .bytes(answer.body))
        // Tells clients not to reuse a connection that is about to be closed.
        if isEnding { reply.headers.append(("Connection", "close")) }
        if let ids { reply.headers += ids.httpFields.pairs }
        if let range = answer.bytes, let bytes {
            let part = bytes.lastingBytes[range]
            reply.body = .memory(UnsafeRawBufferPointer(rebasing: part), owner: bytes)
        }
        return reply
    }
}

/// Reads fields of a request and records which were read.
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

extension DeliveredProperties {
    fileprivate init(_ image: ImageResponse) {
        self.init(
            info: image.info, properties: image.properties, byteCount: image.bytes?.count,
            digest: image.digest, validity: image.validity, timings: image.timings,
            tiers: image.cacheType,
            // The magic number of RFC 1952, section 2.3.1.
            isGzipped: image.info?.format == .svg
                && image.bytes?.withUnsafeBytes { $0.starts(with: [0x1F, 0x8B]) } ?? false,
            isDamaged: image.isDamaged, fallbackFor: image.fallbackFor)
    }
}

/// The reasons logged so far, so that each is logged only once, and only a bounded number of them.
struct ReportedReasons {
    private var known: Set<String> = []
    private static let (countMax, bytesMax) = (100, 200)

    /// Returns the text to log for a reason: the reason itself the first time, `nil` later or when
    /// the limit is reached.
    mutating func record(_ reason: String) -> String? {
        let text = String(decoding: reason.utf8.prefix(Self.bytesMax), as: UTF8.self)
        guard known.count < Self.countMax, known.insert(text).inserted else { return nil }
        return text
    }
}

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
    private let settings: WebFrontSettings
    private let client: ImagebusClient
    private let log: Log
    private let visitors = VisitorNumbers()
    private let mailbox: Mailbox<Ended>
    private var loads: [UInt64: Load] = [:]
    /// Loads whose end was not taken yet, those among them that nobody waits for any more: each has
    /// a place in the mailbox.
    private var pending = 0
    private var lastNumber: UInt64 = 0
    /// Whether `/ready` says no: the process is about to end.
    package var isEnding = false
    /// Requests that were answered, and those whose peer left before.
    package private(set) var answered = 0
    package private(set) var abandoned = 0

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
        let conditions: Conditions
    }

    /// The note of an exchange: which load it waits for.
    private final class Number {
        let value: UInt64
        init(_ value: UInt64) { self.value = value }
    }

    /// Loads at a time; a client may have no more.
    private static let loadsMax = 4_096

    package init(
        _ settings: WebFrontSettings, client: ImagebusClient, log: Log
    ) throws(Errno) {
        (self.settings, self.client, self.log) = (settings, client, log)
        mailbox = try Mailbox(elementsMax: Self.loadsMax + 1)
    }

    /// Readable when loads have ended.
    package var descriptor: Int32 { mailbox.descriptor }

    /// Requests that wait for the stack.
    package var loadCount: Int { loads.count }

    // MARK: - Requests

    package func handle(_ exchange: EventedExchange) {
        guard ["GET", "HEAD"].contains(exchange.method) else {
            return refuse(exchange, 405, "only GET and HEAD are answered", [("Allow", "GET, HEAD")])
        }
        if answersHealth(exchange) { return }
        do throws(GrammarError) {
            let target = Array(exchange.target.utf8)
            let read = try settings.grammar.read(target, now: Int(WallClock.seconds()))
            begin(RequestPlan(read, accept: exchange.header("Accept"), settings), exchange)
        } catch {
            refuse(exchange, UInt16(clamping: error.status), error.message)
        }
    }

    private func begin(_ plan: RequestPlan, _ exchange: EventedExchange) {
        switch plan.request.kind {
        case .image, .source: break
        case .redirect(let path):
            return refuse(exchange, 303, "see \(path)", [("Location", path)])
        case .facts:
            return refuse(exchange, 501, "facts are not answered by this version")
        }
        guard !isEnding else {
            return refuse(exchange, 503, "shutting down: ask again", retryAfter: 2)
        }
        guard pending < Self.loadsMax else {
            return refuse(exchange, 429, "too many requests wait: ask again", retryAfter: 1)
        }
        lastNumber += 1
        pending += 1
        let (number, mailbox) = (lastNumber, mailbox)
        let task = client.load(
            plan.request.image, on: .inline, visitor: visitor(of: exchange)
        ) { result in
            // There is a place for each load.
            _ = mailbox.post(Ended(number: number, result: result))
        }
        exchange.note = Number(number)
        loads[number] = Load(
            exchange: exchange, plan: plan, task: task,
            conditions: Conditions(
                ifNoneMatch: exchange.header("If-None-Match"),
                ifRange: exchange.header("If-Range"), range: exchange.header("Range")))
    }

    private func visitor(of exchange: EventedExchange) -> UInt64 {
        let named = settings.visitorField.flatMap { exchange.header($0) }
        return visitors.number(of: named ?? exchange.peer)
    }

    /// The paths that say whether the process is there and can answer.
    private func answersHealth(_ exchange: EventedExchange) -> Bool {
        switch exchange.target {
        case "/live", "/health": refuse(exchange, 200, "live")
        case "/ready":
            isEnding
                ? refuse(exchange, 503, "ending", retryAfter: 2) : refuse(exchange, 200, "ready")
        default: return false
        }
        return true
    }

    package func ended(_ exchange: EventedExchange, _ end: HTTPEnd) {
        guard let number = exchange.note as? Number else { return }
        exchange.note = nil
        // Its load is still under way: nobody waits for it here any more.
        guard let load = loads.removeValue(forKey: number.value) else { return }
        load.task.cancel()
        abandoned += 1
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
            load.exchange.note = nil
            answer(load, end.result)
        }
    }

    private func answer(_ load: Load, _ result: Result<ImageResponse, ImageError>) {
        do throws(ImageError) {
            let image = try result.get()
            guard let bytes = image.bytes else {
                return refuse(load.exchange, 404, "no cache has it")
            }
            let facts = DeliveredFacts(
                format: image.info?.format, byteCount: bytes.count, digest: image.digest,
                validity: image.validity, timings: image.timings,
                fallbackFor: image.fallbackFor?.code)
            let head = settings.answers.head(
                of: facts, for: load.plan.request, load.conditions, varies: load.plan.varies,
                now: WallClock.nanoseconds() / 1_000_000)
            reply(load.exchange, head, bytes)
        } catch {
            let failure = FailureStatus(error)
            refuse(
                load.exchange, failure.status, "\(error.code): \(error.message)",
                retryAfter: failure.retryAfter)
        }
    }

    private func reply(_ exchange: EventedExchange, _ head: AnswerHead, _ bytes: ImageBytes) {
        let fields = head.fields.map { (name: $0.name, value: $0.value) }
        answered += 1
        guard let range = head.bytes else {
            return exchange.answer(HTTPReply(status: head.status, headers: fields))
        }
        guard let all = bytes.lastingBytes else {
            return exchange.answer(
                HTTPReply(
                    status: head.status, headers: fields, body: .bytes(Array(bytes.array[range]))))
        }
        let part = UnsafeRawBufferPointer(rebasing: all[range])
        exchange.answer(
            HTTPReply(status: head.status, headers: fields, body: .memory(part, owner: bytes)))
    }

    /// An answer of one sentence.
    private func refuse(
        _ exchange: EventedExchange, _ status: UInt16, _ sentence: String,
        _ more: [(name: String, value: String)] = [], retryAfter: Int? = nil
    ) {
        let head = settings.answers.head(status: status, retryAfter: retryAfter)
        answered += 1
        exchange.answer(
            HTTPReply(
                status: status, headers: head.fields.map { ($0.name, $0.value) } + more,
                body: .bytes(Array((sentence + "\n").utf8))))
    }
}

import EventLoop
import Messages
package import MicroHTTPD

/// What a front knows of a request from its head to the end of its answer; the note of its
/// exchange.
package final class OpenRequest {
    let begun: Instant
    let peer: PeerAddress
    /// The client that a trusted proxy names, else the peer; `nil` as long as nobody asks.
    var client: String?
    /// Whether a trusted proxy passed it on.
    var isFromProxy = false
    /// By which names logs find it; `nil` as long as nobody asks.
    var ids: RequestIDs?
    var source: String?
    /// The load that it waits for.
    var load: UInt64?
    /// The name of the error that it is answered with.
    var error: String?
    /// Where the image came from that it is answered with.
    var cache: CacheResult?
    /// What is being sent of it and counts as not read.
    var unread: UnreadAnswers.Answer?
    /// Which token for uploads it had.
    var token: Int?
    /// Whether it asks for nothing but whether the process is there and can answer.
    var isHealthCheck = false

    init(begun: Instant, peer: PeerAddress) { (self.begun, self.peer) = (begun, peer) }
}

/// The requests of a front from their heads to the ends of their answers: counts them, and has each
/// written into the access log.
package final class OpenRequests {
    private let log: AccessLog?
    /// What became of those that are over.
    package private(set) var counters = RequestCounters()

    /// With a `log`, each request has a line there.
    package init(log: AccessLog? = nil) { self.log = log }

    /// Those whose answers were not sent to the end.
    package private(set) var count = 0

    /// Whether lines are written.
    package var isLogged: Bool { log != nil }

    /// A request has come as a whole.
    package func begin(_ exchange: EventedExchange) -> OpenRequest {
        let request = OpenRequest(begun: .now(), peer: exchange.peer)
        exchange.note = request
        count += 1
        return request
    }

    /// It asks for something made of this source.
    package func name(_ source: String, of exchange: EventedExchange) {
        guard log != nil else { return }
        exchange.open?.source = source
    }

    /// It is over. Returns what was known of it.
    @discardableResult
    package func end(_ exchange: EventedExchange, _ end: HTTPEnd) -> OpenRequest? {
        guard let request = exchange.open else { return nil }
        exchange.note = nil
        count -= 1
        let now = Instant.now()
        let bytes = exchange.method == "HEAD" ? 0 : exchange.answered?.bodyBytes ?? 0
        if let answered = exchange.answered, end == .complete {
            counters.answered(answered.status, bytes: bytes, from: request.begun, to: now)
        } else {
            counters.left()
        }
        write(request, of: exchange, end, bytes, at: now)
        return request
    }

    /// Health checks come all the time: only those that fail have a line.
    private func write(
        _ request: OpenRequest, of exchange: EventedExchange, _ end: HTTPEnd, _ bytes: Int,
        at now: Instant
    ) {
        let status = end == .complete ? exchange.answered?.status : nil
        guard let log, !request.isHealthCheck || status ?? 0 >= 400 else { return }
        let peer = request.peer.text
        var line = AccessLog.Line(
            method: exchange.method, target: exchange.target, source: request.source, peer: peer,
            status: status, bytes: status == nil ? 0 : bytes,
            microseconds: request.begun.microseconds(to: now))
        line.client = request.client ?? peer
        (line.error, line.cache, line.ids) = (request.error, request.cache, request.ids)
        line.token = request.token
        log.write(line)
    }
}

extension EventedExchange {
    /// `nil` once it is over.
    var open: OpenRequest? { note as? OpenRequest }
}

extension Instant {
    fileprivate func microseconds(to end: Instant) -> Int64 {
        Int64(clamping: end.nanoseconds > nanoseconds ? (end.nanoseconds - nanoseconds) / 1_000 : 0)
    }
}

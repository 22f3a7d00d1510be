import EventLoop
import Messages
package import MicroHTTPD

/// What a front knows of a request from its head to the end of its answer; the note of its
/// exchange.
package final class OpenRequest {
    let begun: Instant
    /// The connection says it no more once its request is over.
    let peer: String
    var source: String?
    /// The load that it waits for.
    var load: UInt64?

    init(begun: Instant, peer: String) { (self.begun, self.peer) = (begun, peer) }
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

    /// A request has come as a whole.
    package func begin(_ exchange: EventedExchange) {
        exchange.note = OpenRequest(begun: .now(), peer: log == nil ? "" : exchange.peer)
        count += 1
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
        log?.write(
            AccessLog.Line(
                method: exchange.method, target: exchange.target, source: request.source,
                peer: request.peer, status: end == .complete ? exchange.answered?.status : nil,
                bytes: end == .complete ? bytes : 0,
                microseconds: request.begun.microseconds(to: now)))
        return request
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

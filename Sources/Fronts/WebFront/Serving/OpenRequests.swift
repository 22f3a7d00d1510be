import EventLoop
import Messages
package import MicroHTTPD

/// The requests of a front from their heads to the ends of their answers: counts them, and has each
/// written into the access log.
package final class OpenRequests {
    private struct Entry {
        let begun: Instant
        /// The connection says it no more once its request is over.
        let peer: String
        var source: String?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private let log: AccessLog?
    /// What became of those that are over.
    package private(set) var counters = RequestCounters()

    /// With a `log`, each request has a line there.
    package init(log: AccessLog? = nil) { self.log = log }

    /// Those whose answers were not sent to the end.
    package var count: Int { entries.count }

    /// A request has come as a whole.
    package func begin(_ exchange: EventedExchange) {
        entries[ObjectIdentifier(exchange)] = Entry(
            begun: .now(), peer: log == nil ? "" : exchange.peer)
    }

    /// It asks for something made of this source.
    package func name(_ source: String, of exchange: EventedExchange) {
        guard log != nil else { return }
        entries[ObjectIdentifier(exchange)]?.source = source
    }

    /// It is over.
    package func end(_ exchange: EventedExchange, _ end: HTTPEnd) {
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(exchange)) else { return }
        let now = Instant.now()
        let bytes = exchange.method == "HEAD" ? 0 : exchange.answered?.bodyBytes ?? 0
        if let answered = exchange.answered, end == .complete {
            counters.answered(answered.status, bytes: bytes, from: entry.begun, to: now)
        } else {
            counters.left()
        }
        log?.write(
            AccessLog.Line(
                method: exchange.method, target: exchange.target, source: entry.source,
                peer: entry.peer, status: end == .complete ? exchange.answered?.status : nil,
                bytes: end == .complete ? bytes : 0, microseconds: entry.begun.microseconds(to: now)
            ))
    }
}

extension Instant {
    fileprivate func microseconds(to end: Instant) -> Int64 {
        Int64(clamping: end.nanoseconds > nanoseconds ? (end.nanoseconds - nanoseconds) / 1_000 : 0)
    }
}

package import Imagebus
package import Linux
package import MicroHTTPD
package import Model
import ProcessRuntime
import Reporting

/// Serves `/metrics` on a separate listener: the metrics of a front, followed by those of the stack
/// if it answers in time. Single-threaded, on its loop.
package final class MetricsFront: SideFront {
    private let client: ImagebusClient
    private let crossOrigin: CrossOriginAccess
    private unowned let front: WebFront
    private let mailbox: Mailbox<StatusReport?>
    private var waiting: [EventedExchange] = []
    private var isAsking = false
    private var limit: Instant?

    /// The timeout for the stack's answer.
    private static let stackMilliseconds = 2_000
    /// The maximum number of requests waiting for it.
    private static let waitingMax = 64

    /// Serves the metrics of `front`, which must outlive this front, to pages that `crossOrigin`
    /// specifies.
    package init(
        _ client: ImagebusClient, crossOrigin: CrossOriginAccess, of front: WebFront
    ) throws(Errno) {
        (self.client, self.crossOrigin, self.front) = (client, crossOrigin, front)
        mailbox = try Mailbox(elementsMax: 2)
    }

    /// Readable when the stack has answered.
    package var descriptor: Int32 { mailbox.descriptor }

    /// When to call `look`.
    package var nextLook: Instant? { waiting.isEmpty ? nil : limit }

    package func handle(_ exchange: EventedExchange) {
        guard ["GET", "HEAD"].contains(exchange.method) else {
            return refuse(exchange, 405, "only GET and HEAD are allowed")
        }
        guard exchange.target.prefix(while: { $0 != "?" }) == "/metrics" else {
            return refuse(exchange, 404, "not found: only /metrics is served here")
        }
        guard waiting.count < Self.waitingMax else {
            return refuse(exchange, 429, "too many requests are waiting; try again later")
        }
        waiting.append(exchange)
        guard !isAsking else { return look(at: .now()) }
        ask()
    }

    package func ended(_ exchange: EventedExchange, _: HTTPEnd) {
        waiting.removeAll { $0 === exchange }
    }

    package func handleAnswers() {
        var answers: [StatusReport?] = []
        mailbox.drain(into: &answers)
        guard let answer = answers.last else { return }
        isAsking = false
        respond(answer)
    }

    /// Responds without the stack's metrics on timeout.
    package func look(at now: Instant) {
        if let limit, now >= limit { respond(nil) }
    }

    private func ask() {
        isAsking = true
        limit = .now().adding(milliseconds: Self.stackMilliseconds)
        let (client, mailbox) = (client, mailbox)
        // Uses the client's own thread, because the sandbox doesn't leave enough threads for a
        // thread pool.
        Task.detached(executorPreference: client.executor) {
            let report = try? await OperatorClient(client).status()
            _ = mailbox.post(report)
        }
    }

    private func respond(_ report: StatusReport?) {
        let text = front.metrics.text + (report.map { MetricsText.text($0) } ?? "")
        let exchanges = waiting
        waiting = []
        for exchange in exchanges { answer(exchange, 200, text) }
    }

    private func refuse(_ exchange: EventedExchange, _ status: UInt16, _ sentence: String) {
        answer(exchange, status, sentence + "\n")
    }

    private func answer(_ exchange: EventedExchange, _ status: UInt16, _ text: String) {
        var headers = [
            (name: "Content-Type", value: "text/plain; version=0.0.4; charset=utf-8"),
            (name: "Cache-Control", value: "no-store"),
            (name: "X-Content-Type-Options", value: "nosniff"),
        ]
        if crossOrigin.varies { headers.append((name: "Vary", value: "Origin")) }
        if let granted = crossOrigin.granted(to: exchange.header("Origin")) {
            headers.append((name: "Access-Control-Allow-Origin", value: granted))
        }
        exchange.answer(
            HTTPReply(status: status, headers: headers, body: .bytes(Array(text.utf8))))
    }
}

/// The metrics of a front in the Prometheus text format.
package struct FrontMetrics: Hashable, Sendable {
    package var requests: RequestCounters
    /// The number of open connections.
    package var connections: Int
    /// The number of connections closed because of the per-address limit.
    package var refusedConnections: UInt64
    /// The responses being sent, and those refused because of them.
    package var unread: UnreadAnswers
    /// The number of connections closed because the client read too slowly.
    package var slowReaders: UInt64

    /// Complete lines; those of the stack may be appended.
    package var text: String { families.map(\.text).joined() }

    private var families: [MetricFamily] {
        var durations = MetricFamily(
            "imagebus_gateway_request_duration_seconds", .histogram,
            "Time from the end of the request head to the end of the response.")
        durations.add(requests.durations)
        return [
            metric(
                "requests_total", "Completed requests by status.",
                requests.byStatus.map { ($0.count, [("status", "\($0.status)")]) }),
            metric(
                "not_modified_total", "Requests answered with 304, included in the requests.",
                [(requests.notModified, [])]),
            metric(
                "abandoned_total",
                "Requests abandoned by the client before the response was ready.",
                [(requests.abandoned, [])]),
            metric("sent_bytes_total", "Body bytes sent.", [(requests.bytes, [])]),
            metric("in_flight", "Requests in progress.", gauge: requests.inProgress),
            metric("connections", "Open connections.", gauge: connections),
            metric(
                "refused_connections_total", "Connections closed because of the limit per address.",
                [(refusedConnections, [])]),
            metric(
                "unread_bytes", "Response bytes not read by clients yet.", gauge: unread.bytes),
            metric(
                "refused_answers_total",
                "Responses refused because a client or all clients had too much unread data.",
                [
                    (unread.refusedOfHTTPClients, [("limit", "client")]),
                    (unread.refusedOfAll, [("limit", "all")]),
                ]),
            metric(
                "slow_readers_total", "Connections closed because clients read too slowly.",
                [(slowReaders, [])]),
            durations,
        ]
    }

    private func metric(_ name: String, _ help: String, gauge value: Int) -> MetricFamily {
        metric(name, help, [(UInt64(clamping: value), [])], .gauge)
    }

    private func metric(
        _ name: String, _ help: String, _ samples: [(UInt64, MetricFamily.Labels)],
        _ kind: MetricFamily.Kind = .counter
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_gateway_\(name)", kind, help)
        for (value, labels) in samples { family.add(value, labels) }
        return family
    }
}

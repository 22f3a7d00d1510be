import EventLoop
import ImageModel
package import Imagebus
package import Linux
package import Messages
package import MicroHTTPD
import Reporting

/// Answers `/metrics` on a listener of its own: the figures of a front, and behind them those of
/// the stack, where it answers in time. One thread, that of its loop.
package final class MetricsFront: SideFront {
    private let client: ImagebusClient
    private let crossOrigin: CrossOriginAccess
    private let figures: () -> FrontMetrics
    private let mailbox: Mailbox<StatusReport?>
    private var waiting: [EventedExchange] = []
    private var isAsking = false
    private var limit: Instant?

    /// How long the stack has to answer.
    private static let stackMilliseconds = 2_000
    /// Those who may wait for it.
    private static let waitingMax = 64

    /// `crossOrigin`: pages that may read it.
    package init(
        _ client: ImagebusClient, crossOrigin: CrossOriginAccess,
        figures: @escaping () -> FrontMetrics
    ) throws(Errno) {
        (self.client, self.crossOrigin, self.figures) = (client, crossOrigin, figures)
        mailbox = try Mailbox(elementsMax: 2)
    }

    /// Readable when the stack has answered.
    package var descriptor: Int32 { mailbox.descriptor }

    /// When `look` is due at the latest.
    package var nextLook: Instant? { waiting.isEmpty ? nil : limit }

    package func handle(_ exchange: EventedExchange) {
        guard ["GET", "HEAD"].contains(exchange.method) else {
            return refuse(exchange, 405, "only GET and HEAD are answered")
        }
        guard exchange.target.prefix(while: { $0 != "?" }) == "/metrics" else {
            return refuse(exchange, 404, "there is nothing but /metrics")
        }
        guard waiting.count < Self.waitingMax else {
            return refuse(exchange, 429, "too many wait for the stack")
        }
        waiting.append(exchange)
        guard !isAsking else { return look(at: .now()) }
        ask()
    }

    package func ended(_ exchange: EventedExchange, _: HTTPEnd) {
        waiting.removeAll { $0 === exchange }
    }

    /// Takes what the stack has answered.
    package func takeAnswers() {
        var answers: [StatusReport?] = []
        mailbox.drain(into: &answers)
        guard let answer = answers.last else { return }
        isAsking = false
        tell(answer)
    }

    /// A stack that does not answer in time is left out.
    package func look(at now: Instant) {
        if let limit, now >= limit { tell(nil) }
    }

    private func ask() {
        isAsking = true
        limit = .now().adding(milliseconds: Self.stackMilliseconds)
        let (client, mailbox) = (client, mailbox)
        // On the client's own thread: a pool of threads would need more than a sandbox leaves.
        Task.detached(executorPreference: client.executor) {
            let report = try? await client.status()
            _ = mailbox.post(report)
        }
    }

    private func tell(_ report: StatusReport?) {
        let text = figures().text + (report.map { MetricsText.text($0) } ?? "")
        let told = waiting
        waiting = []
        for exchange in told { answer(exchange, 200, text) }
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

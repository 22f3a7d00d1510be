package import Imagebus
package import Linux
package import MicroHTTPD
import Model
import ProcessRuntime

/// Serves `/ready`: whether the stack can process images. Single-threaded, on its loop.
///
/// A probe decodes, scales and encodes a small image without the caches. Requests that arrive
/// meanwhile, and for a few seconds afterwards, get the same answer, so probes cause no significant
/// load.
package final class Readiness: LoopPart {
    private let client: ImagebusClient
    private let mailbox: Mailbox<String?>
    private var waiting: [EventedExchange] = []
    /// The newest answer and its time: `nil` means ready, otherwise what is wrong.
    private var known: (complaint: String?, at: Instant)?
    /// The deadline of the probe in flight.
    private var limit: Instant?
    /// Receives each answer; `nil` means ready.
    package var answer: (EventedExchange, String?) -> Void = { _, _ in }

    /// How long positive and negative answers are reused.
    private static let (yesMilliseconds, noMilliseconds) = (2_000, 500)
    /// The timeout of a probe.
    private static let canaryMilliseconds = 3_000

    package init(_ client: ImagebusClient) throws(Errno) {
        self.client = client
        mailbox = try Mailbox(elementsMax: 2)
    }

    /// Readable when a probe has ended.
    package var descriptor: Int32 { mailbox.descriptor }

    /// When to call `look`.
    package var nextLook: Instant? { waiting.isEmpty ? nil : limit }

    /// Answers a request, from the newest answer or after a probe.
    package func ask(_ exchange: EventedExchange) {
        let now = Instant.now()
        if let known, now < known.at.adding(milliseconds: Self.validity(of: known.complaint)) {
            return answer(exchange, known.complaint)
        }
        if let limit, now >= limit { return answer(exchange, Self.late) }
        waiting.append(exchange)
        if limit == nil { begin(at: now) }
    }

    package func handleAnswers() {
        var ends: [String?] = []
        mailbox.drain(into: &ends)
        guard let complaint = ends.last else { return }
        limit = nil
        known = (complaint, .now())
        respond(complaint)
    }

    /// Fails a probe that has timed out.
    package func look(at now: Instant) {
        guard let limit, now >= limit else { return }
        respond(Self.late)
    }

    private static let late = "the stack is not answering"

    private static func validity(of complaint: String?) -> Int {
        complaint == nil ? yesMilliseconds : noMilliseconds
    }

    private func respond(_ complaint: String?) {
        let exchanges = waiting
        waiting = []
        for exchange in exchanges { answer(exchange, complaint) }
    }

    private func begin(at now: Instant) {
        limit = now.adding(milliseconds: Self.canaryMilliseconds)
        let mailbox = mailbox
        client.load(
            Self.canary, uploading: Self.picture, on: .inline, logContext: LogContext(isProbe: true)
        ) { result in
            _ = mailbox.post(Self.complaint(of: result))
        }
    }

    /// Returns what is wrong. A stack at capacity is working: reporting it as unready would not
    /// reduce its load but shift it to other instances.
    private static func complaint(of result: Result<ImageResponse, ImageError>) -> String? {
        guard case .failure(let error) = result, ![.busy, .arenaFull].contains(error.code) else {
            return nil
        }
        return "\(error.code): \(error.message)"
    }

    /// A GIF of one pixel.
    private static let picture: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

    /// The probe: converts the image to JPEG, which requires a decoder and a transformer. It is
    /// uploaded, so no origin is needed.
    private static let canary: ImageRequest = {
        var request = ImageRequest(url: "")
        request.output.format = .jpeg
        request.options = [.highPriority]
        request.queryCacheTypes = []
        request.storeCacheTypes = []
        request.originalQueryCacheTypes = []
        request.originalStoreCacheTypes = []
        request.timeoutMilliseconds = canaryMilliseconds
        return request
    }()
}

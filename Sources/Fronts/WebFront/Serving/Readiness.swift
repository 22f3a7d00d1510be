import EventLoop
import ImageModel
package import Imagebus
package import Linux
import Messages
package import MicroHTTPD

/// Answers `/ready`: whether an image goes through the stack. One thread, that of its loop.
///
/// A probe has a small image decoded, made smaller and encoded again, past the caches; those that
/// come meanwhile, and for some seconds after it, get the same answer. So probes are no load.
package final class Readiness {
    private let client: ImagebusClient
    private let mailbox: Mailbox<String?>
    private var waiting: [EventedExchange] = []
    /// The newest answer, and when it came: nil is yes, else what is wrong.
    private var known: (complaint: String?, at: Instant)?
    /// Until when a canary that is under way may take.
    private var limit: Instant?
    /// Gets each answer: nil is yes.
    package var answer: (EventedExchange, String?) -> Void = { _, _ in }

    /// For how long a yes, and a no, are not asked again.
    private static let (yesMilliseconds, noMilliseconds) = (2_000, 500)
    /// Within which a canary has to be there.
    private static let canaryMilliseconds = 3_000

    package init(_ client: ImagebusClient) throws(Errno) {
        self.client = client
        mailbox = try Mailbox(elementsMax: 2)
    }

    /// Readable when a canary has ended.
    package var descriptor: Int32 { mailbox.descriptor }

    /// When `look` is due at the latest.
    package var nextLook: Instant? { waiting.isEmpty ? nil : limit }

    /// Somebody asks.
    package func ask(_ exchange: EventedExchange) {
        let now = Instant.now()
        if let known, now < known.at.adding(milliseconds: Self.validity(of: known.complaint)) {
            return answer(exchange, known.complaint)
        }
        if let limit, now >= limit { return answer(exchange, Self.late) }
        waiting.append(exchange)
        if limit == nil { begin(at: now) }
    }

    /// Takes the end of a canary.
    package func takeEnd() {
        var ends: [String?] = []
        mailbox.drain(into: &ends)
        guard let complaint = ends.last else { return }
        limit = nil
        known = (complaint, .now())
        tell(complaint)
    }

    /// A canary that is late is none.
    package func look(at now: Instant) {
        guard let limit, now >= limit else { return }
        tell(Self.late)
    }

    private static let late = "the stack does not answer"

    private static func validity(of complaint: String?) -> Int {
        complaint == nil ? yesMilliseconds : noMilliseconds
    }

    private func tell(_ complaint: String?) {
        let told = waiting
        waiting = []
        for exchange in told { answer(exchange, complaint) }
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

    /// A stack that is full works: as unready it would get no rest, but its neighbours more.
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

    /// As a JPEG: a decoder and a transformer have to work. It needs no origin, and is uploaded.
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

import Model
import ProcessRuntime
import Testing

@testable import Coordinator

/// Which requests are logged, and that no secret is.
@Suite struct RequestLogTests {
    private let token = Token(
        Identifier128(high: 0xABCD_EF01_2345_6789, low: 0x1122_3344_5566_7788))

    private func record(
        _ outcome: Reply.Outcome, milliseconds: Double = 5, sampled: Bool? = nil,
        isProbe: Bool = false,
        url: String = "https://user:pw@example.org:8443/a/b.jpg?sig=hidden#part"
    ) -> RequestRecord {
        var image = ImageRequest(url: url)
        image.headers = [HTTPHeader(name: "Authorization", value: "Bearer hidden")]
        var timings = StageTimings()
        timings.total = milliseconds
        timings.fetch = 2.00049
        let trace = sampled.flatMap {
            TraceContext(trace: Identifier128(high: 1, low: 2), parent: 3, flags: $0 ? 1 : 0)
        }
        return RequestRecord(
            LoadRequest(
                token: token, image: image,
                logContext: LogContext(
                    trace: trace, requestID: RequestID(text: "r-1"), isProbe: isProbe)),
            attempts: 2,
            Reply(token: token, outcome: outcome, timings: timings))
    }

    private func image(_ tier: CacheTypes) -> Reply.Outcome {
        .image(
            DeliveredImage(
                reference: BlockReference(
                    arena: .results, segment: 0, offset: 0, length: 77, block: BlockID(1)),
                info: ImageInfo(format: .jpeg, size: PixelSize(width: 1, height: 1)),
                cacheType: tier, key: "key?sig=hidden"))
    }

    private let failure = Reply.Outcome.failure(
        ImageError(.timedOut, "words: hidden", details: ["header": "hidden"]))

    @Test func aLineSaysAllButWhatIsSecret() {
        let fields = RequestLog.fields(record(image(.disk), sampled: true))
        let text = fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        #expect(fields.first { $0.0 == "token" }?.1 == "abcdef01")
        #expect(fields.first { $0.0 == "url" }?.1 == "https://example.org:8443/a/b.jpg")
        #expect(fields.first { $0.0 == "cache" }?.1 == "disk")
        #expect(fields.first { $0.0 == "format" }?.1 == "jpeg")
        #expect(fields.first { $0.0 == "bytes" }?.1 == 77)
        #expect(fields.first { $0.0 == "attempts" }?.1 == 2)
        #expect(fields.first { $0.0 == "fetchMilliseconds" }?.1 == LogValue(milliseconds: 2))
        #expect(
            fields.first { $0.0 == "trace" }?.1 == .string("00000000000000010000000000000002"))
        #expect(fields.first { $0.0 == "requestId" }?.1 == "r-1")
        #expect(!fields.contains { $0.0 == "decodeMilliseconds" }, "that took no time")
        for secret in ["hidden", "pw", "user", "2345", "#part"] { #expect(!text.contains(secret)) }
    }

    @Test func aProbeHasNoLine() {
        for mode in RequestLogging.allCases {
            let log = RequestLog(mode)
            #expect(!log.wants(record(failure, sampled: true, isProbe: true)))
            #expect(!log.wants(record(image(.disk), milliseconds: 9_999, isProbe: true)))
        }
    }

    @Test func aFailureIsNamedAndNotQuoted() {
        let fields = RequestLog.fields(record(failure))
        #expect(fields.first { $0.0 == "error" }?.1 == "timedOut")
        #expect(!fields.map { "\($0.1)" }.joined().contains("hidden"))
    }

    @Test func aFallbackIsToldWithTheErrorOfItsImage() {
        guard case .image(var image) = image(.memory), case .failure(let error) = failure else {
            Issue.record("they are an image and a failure")
            return
        }
        image.fallbackFor = error
        let record = record(.image(image))
        let fields = RequestLog.fields(record)
        #expect(fields.first { $0.0 == "fallbackFor" }?.1 == "timedOut")
        #expect(!fields.map { "\($0.1)" }.joined().contains("hidden"))
        // A memory hit with a failure in a later stage.
        #expect(RequestLog(.misses).wants(record) && RequestLog(.slow).wants(record))
    }

    @Test func aURLThatIsNoneIsNotShown() {
        let fields = RequestLog.fields(record(failure, url: "http://user:hidden pw@host/"))
        #expect(!fields.contains { $0.0 == "url" })
    }

    @Test func theModeDecidesWhichRequestsHaveALine() {
        func wants(_ mode: RequestLogging) -> [Bool] {
            let log = RequestLog(mode)
            return [
                record(image(.memory)), record(image(.disk)), record(image(.none)),
                record(image(.disk), milliseconds: 1_000), record(failure),
                record(image(.memory), sampled: true), record(image(.memory), sampled: false),
            ].map { log.wants($0) }
        }
        #expect(wants(.all) == [true, true, true, true, true, true, true])
        #expect(wants(.misses) == [false, true, true, true, true, true, false])
        #expect(wants(.slow) == [false, false, false, true, true, true, false])
        #expect(wants(.none) == [false, false, false, false, false, false, false])
        #expect(!RequestLog(.all).permitsShortWay)
        #expect(RequestLog(.misses).permitsShortWay)
    }
}

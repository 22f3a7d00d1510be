import Model
import Testing

@testable import Coordinator

struct AdmissionTests {
    /// A request that is refused, and the expected error code.
    struct Refusal: CustomTestStringConvertible {
        let what: String
        let code: ErrorCode
        let image: ImageRequest

        init(
            _ what: String, _ code: ErrorCode, size: Int? = nil,
            _ change: (inout ImageRequest) -> Void
        ) {
            self.what = what
            self.code = code
            image = ImageRequest.image(size: size).with(change)
        }

        var testDescription: String { what }
    }

    static let refusals: [Refusal] = [
        Refusal("an empty URL", .invalidURL) { $0.url = "" },
        Refusal("a URL without a scheme", .invalidURL) { $0.url = "example.org/a.jpg" },
        Refusal("another scheme", .unsupportedScheme) { $0.url = "ftp://example.org/a.jpg" },
        Refusal("a file", .unsupportedScheme) { $0.url = "file:///etc/passwd" },
        Refusal("an unknown option", .invalidRequest) { $0.options = .init(rawValue: 1 << 30) },
        Refusal("an unknown tier", .invalidRequest) { $0.storeCacheTypes = .init(rawValue: 4) },
        Refusal("a header with a line break", .invalidRequest) {
            $0.headers = [HTTPHeader(name: "A", value: "b\r\nC: d")]
        },
        Refusal("a host beside that of the URL", .invalidRequest) {
            $0.headers = [HTTPHeader(name: "hOsT", value: "internal.example.org")]
        },
        Refusal("a header that says where the message ends", .invalidRequest) {
            $0.headers = [HTTPHeader(name: "Transfer-Encoding", value: "chunked")]
        },
        Refusal("a header for a proxy", .invalidRequest) {
            $0.headers = [HTTPHeader(name: "Proxy-Connection", value: "close")]
        },
        Refusal("65 headers", .invalidRequest) {
            $0.headers = (0..<65).map { HTTPHeader(name: "A\($0)", value: "") }
        },
        Refusal("16 KB of headers and one byte", .invalidRequest) {
            $0.headers = [HTTPHeader(name: "A", value: String(repeating: "b", count: 16_384))]
        },
        Refusal("33 steps", .invalidRequest) {
            $0.steps = Array(repeating: .flip(horizontal: true, vertical: false), count: 33)
        },
        Refusal("a pixel ratio beyond the limit", .invalidRequest) { $0.pixelRatio = 10.1 },
        Refusal("a box without sides", .invalidRequest) {
            $0.steps = [.resize(PixelSize(width: 0, height: 0), .fit)]
        },
        Refusal("a box of less than nothing", .invalidRequest) {
            $0.steps = [.resize(PixelSize(width: 0, height: -4), .fill)]
        },
        Refusal("a negative crop", .invalidRequest) {
            $0.steps = [.crop(PixelRect(x: 0, y: 0, size: PixelSize(width: -1, height: 5)))]
        },
        Refusal("a thumbnail of nothing", .invalidRequest) {
            $0.thumbnail = Thumbnail(box: PixelSize(width: 0, height: 0))
        },
        Refusal("a side over the limit", .limitExceeded) {
            $0.steps = [.resize(PixelSize(width: 32_768, height: 1), .fit)]
        },
        Refusal("an exact size over the limit", .limitExceeded) {
            $0.steps = [.resize(PixelSize(width: 20_000, height: 20_000), .stretch)]
        },
        Refusal("a turn beyond the limit", .invalidRequest) {
            $0.steps = [.rotate(Rotation(degreesClockwise: 400_000))]
        },
        Refusal("a turn by no number", .invalidRequest) {
            $0.steps = [.rotate(Rotation(radians: .nan, fitsSize: true))]
        },
        Refusal("a step that nobody is granted", .stepFailed) {
            $0.steps = [.custom(CustomStep("acme.denoise"))]
        },
        Refusal("a custom step without a vendor", .invalidRequest) {
            $0.steps = [.custom(CustomStep("denoise"))]
        },
        Refusal("no time", .invalidRequest) { $0.timeoutMilliseconds = 0 },
        Refusal("more than an hour", .invalidRequest) { $0.timeoutMilliseconds = 3_600_001 },
        Refusal("facts of a result", .invalidRequest, size: 5) { $0.infoOnly = true },
        Refusal("facts of an encoding", .invalidRequest) {
            $0.infoOnly = true
            $0.output.quality = 5
        },
        Refusal("a format that is not encoded", .unsupportedFormat) { $0.output.format = .bmp },
        Refusal("a quality over 100", .invalidRequest) { $0.output.quality = 101 },
        Refusal("no compression", .invalidRequest) { $0.output.compression = 0 },
        Refusal("a compression over 12", .invalidRequest) { $0.output.compression = 13 },
        Refusal("credentials without a digest", .internalError) {
            $0.url = "http://me:secret@example.org/a.jpg"
        },
    ]

    @Test(arguments: refusals) func aRequestThatMayNotBeMadeIsRefusedAtOnce(refusal: Refusal) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(refusal.image, by: client)
        #expect(stack.error(token) == refusal.code)
        #expect(stack.counters.failed == 1)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [
        "Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
        "Keep-Alive", "Expect", "HTTP2-Settings", "Proxy-Authorization", "Proxy-X", "Range",
        "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Accept-Encoding", "rAnGe",
    ]) func headersThatTheLoaderSaysAreRefusedWithAReason(name: String) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image().with { $0.headers = [HTTPHeader(name: name, value: "")] }
        let token = stack.load(image, by: client)
        guard case .failure(let error) = stack.reply(token)?.outcome else {
            Issue.record("\(name) is refused")
            return
        }
        #expect(error.code == .invalidRequest)
        #expect(error.message.hasPrefix("the header \(name) is not accepted: "))
        #expect(error.details == ["header": name])
        #expect(stack.isAtRest)
    }

    @Test func aGiantBoxIsOnlyABoundWhenTheImageIsFittedIn() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image(size: 32_767)
        let token = stack.load(image, by: client)
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func anotherClientsTokenIsInUse() {
        var stack = Stack()
        stack.hireAll()
        let (first, second) = (stack.connect(), stack.connect())
        let token = stack.load(.image(), by: first)
        stack.load(.image("b"), by: second, token: token)
        #expect(stack.error(token) == .tokenInUse)
        #expect(stack.scheduler.report["liveRequests"] == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil, "the first one is not disturbed")
        #expect(stack.isAtRest)
    }

    @Test func aResentLiveTokenAttachesAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(), by: client)
        stack.load(.image(), by: client, token: token)
        #expect(stack.actions == [])
        #expect(stack.counters.requests == 1)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        stack.load(.image(), by: client, token: token)
        #expect(stack.counters.requests == 2, "after the terminal reply it is a new load")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func tooManyRequestsOfAClientAreBusyAndSayWhenToComeAgain() {
        var stack = Stack { $0.requestsPerClientMax = 2 }
        stack.hireAll()
        let (first, second) = (stack.connect(), stack.connect())
        for name in ["a", "b"] { stack.load(.image(name), by: first) }
        let refused = stack.load(.image("c"), by: first)
        guard case .failure(let error) = stack.reply(refused)?.outcome else {
            Issue.record("one more is refused")
            return
        }
        #expect(error.code == .busy)
        #expect(error.details["retryAfter"] == "0.1")
        let other = stack.load(.image("c"), by: second)
        #expect(stack.reply(other) == nil, "others are not")
        #expect(stack.counters.refusedBusy == 1)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    /// However a request ends, it frees its slot.
    @Test(arguments: ["reply", "cancel", "deadline"])
    func aRequestThatEndedMakesRoomForAnotherOne(end: String) {
        var stack = Stack {
            ($0.requestsPerClientMax, $0.liveRequestsMax) = (2, 2)
        }
        stack.hireAll()
        let client = stack.connect()
        for round in 1...3 {
            let tokens = ["a", "b"].map { stack.load(.image("\($0)\(round)"), by: client) }
            #expect(tokens.allSatisfy { stack.reply($0) == nil })
            let refused = stack.load(.image("c"), by: client)
            #expect(stack.error(refused) == .busy)
            switch end {
            case "cancel": for token in tokens { stack.send(.cancel(client, token)) }
            case "deadline": stack.pass(milliseconds: 30_000)
            default: break
            }
            stack.finishAll()
        }
        #expect(stack.isAtRest)
    }

    @Test func tooManyRequestsInAllAreBusyWhileHitsAreStillAnswered() {
        var stack = Stack { $0.liveRequestsMax = 1 }
        stack.hireAll()
        let client = stack.connect()
        stack.publish("http://example.org/hit.jpg")
        stack.load(.image("a"), by: client)
        let refused = stack.load(.image("b"), by: client)
        #expect(stack.error(refused) == .busy)
        let hit = stack.load(.image("hit"), by: client)
        #expect(stack.image(hit) != nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aFullQueueRefusesNewWorkAndLetsOthersJoin() {
        var stack = Stack { $0.dispatch.queuedJobsMax = 1 }
        let client = stack.connect()
        let first = stack.load(.image("a"), by: client)
        let refused = stack.load(.image("b"), by: client)
        #expect(stack.error(refused) == .busy)
        let joined = stack.load(.image("a"), by: client)
        #expect(stack.reply(joined) == nil)
        stack.hireAll()
        stack.finishAll()
        #expect(stack.image(first) != nil)
        #expect(stack.image(joined) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aFullDownloadQueueIsBusyAfterTheQuery() {
        var stack = Stack { $0.dispatch.queuedJobsMax = 1 }
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        let first = stack.load(.image("a"), by: client)
        let second = stack.load(.image("b"), by: client)
        stack.finish(stack.held(.query)[0])
        stack.finish(.query)
        #expect(stack.reply(first) == nil)
        #expect(stack.error(second) == .busy)
        #expect(stack.faults == [])
    }

    @Test func whoIsNotConnectedIsIgnored() {
        var stack = Stack()
        stack.hireAll()
        let load = LoadRequest(
            token: Token(Identifier128(high: 1, low: 1)), image: .image())
        stack.send(.load(ClientID(99), load, LoadTerms()))
        #expect(stack.actions == [])
        #expect(stack.isAtRest)
    }

    @Test func drainingRefusesNewLoadsAndEndsWithTheLastReply() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(), by: client)
        stack.send(.drain)
        #expect(!stack.wasDrained)
        let refused = stack.load(.image("b"), by: client)
        #expect(stack.error(refused) == .shuttingDown)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.wasDrained)
        stack.send(.tick)
        #expect(stack.isAtRest, "drained is reported once")
    }

    @Test func anIdleSchedulerIsDrainedAtOnce() {
        var stack = Stack()
        stack.send(.drain)
        #expect(stack.wasDrained)
    }

    @Test func whoeverAsksGetsKeysOfTheirOwn() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image().with {
            $0.headers = [HTTPHeader(name: "Authorization", value: "Bearer x")]
        }
        stack.load(image, by: client, terms: LoadTerms(identity: "abc"))
        guard case .query(let query) = stack.held(.query).first?.job.work else {
            Issue.record("the cache is asked")
            return
        }
        #expect(query.key == "http://example.org/a-Auth(abc).jpg\u{1E}abc")
        stack.finishAll()
        #expect(stack.isAtRest)
    }
}

import Model
import Testing

@testable import Coordinator

struct AdmissionTests {
    private var stack = Stack.staffed()

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

    @Test(arguments: refusals) mutating func aRequestThatMayNotBeMadeIsRefusedAtOnce(
        refusal: Refusal
    ) {
        let token = stack.load(refusal.image)
        #expect(stack.error(token) == refusal.code)
        #expect(stack.counters.failed == 1)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [
        "Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
        "Keep-Alive", "Expect", "HTTP2-Settings", "Proxy-Authorization", "Proxy-X", "Range",
        "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Accept-Encoding", "rAnGe",
    ]) mutating func headersThatTheLoaderSaysAreRefusedWithAReason(name: String) throws {
        let image = ImageRequest.image().with { $0.headers = [HTTPHeader(name: name, value: "")] }
        let token = stack.load(image)
        let error = try #require(stack.failure(token))
        #expect(error.code == .invalidRequest)
        #expect(error.message.hasPrefix("the header \(name) is not accepted: "))
        #expect(error.details == ["header": name])
        #expect(stack.isAtRest)
    }

    @Test mutating func aGiantBoxIsOnlyABoundWhenTheImageIsFittedIn() {
        let image = ImageRequest.image(size: 32_767)
        let token = stack.load(image)
        #expect(stack.reply(token) == nil)
        stack.end(token)
    }

    @Test mutating func anotherClientsTokenIsInUse() {
        let (first, second) = (stack.client, stack.connect())
        let token = stack.load(.image(), by: first)
        stack.load(.image("b"), by: second, token: token)
        #expect(stack.error(token) == .tokenInUse)
        #expect(stack.scheduler.report["liveRequests"] == 1)
        stack.end()
        #expect(stack.image(token) != nil, "the first one is not disturbed")
    }

    @Test mutating func aResentLiveTokenAttachesAgain() {
        let token = stack.load(.image())
        stack.load(.image(), token: token)
        #expect(stack.actions == [])
        #expect(stack.counters.requests == 1)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        stack.load(.image(), token: token)
        #expect(stack.counters.requests == 2, "after the terminal reply it is a new load")
        stack.end()
    }

    @Test mutating func tooManyRequestsOfAClientAreBusyAndSayWhenToComeAgain() throws {
        stack = Stack.staffed { $0.requestsPerClientMax = 2 }
        let (first, second) = (stack.client, stack.connect())
        for name in ["a", "b"] { stack.load(.image(name), by: first) }
        let refused = stack.load(.image("c"), by: first)
        let error = try #require(stack.failure(refused))
        #expect(error.code == .busy)
        #expect(error.details["retryAfter"] == "0.1")
        #expect(stack.outcome(of: .image("c"), by: second) == nil, "others are not")
        #expect(stack.counters.refusedBusy == 1)
        stack.end()
    }

    /// However a request ends, it frees its slot.
    @Test(arguments: ["reply", "cancel", "deadline"])
    mutating func aRequestThatEndedMakesRoomForAnotherOne(end: String) {
        stack = Stack.staffed {
            ($0.requestsPerClientMax, $0.liveRequestsMax) = (2, 2)
        }
        for round in 1...3 {
            let tokens = ["a", "b"].map { stack.load(.image("\($0)\(round)")) }
            #expect(tokens.allSatisfy { stack.reply($0) == nil })
            #expect(stack.refusal(of: .image("c")) == .busy)
            switch end {
            case "cancel": for token in tokens { stack.cancel(token) }
            case "deadline": stack.pass(milliseconds: 30_000)
            default: break
            }
            stack.finishAll()
        }
        #expect(stack.isAtRest)
    }

    @Test mutating func tooManyRequestsInAllAreBusyWhileHitsAreStillAnswered() {
        stack = Stack.staffed { $0.liveRequestsMax = 1 }
        stack.publish("http://example.org/hit.jpg")
        stack.load(.image())
        #expect(stack.refusal(of: .image("b")) == .busy)
        let hit = stack.load(.image("hit"))
        #expect(stack.image(hit) != nil)
        stack.end()
    }

    @Test mutating func aFullQueueRefusesNewWorkAndLetsOthersJoin() {
        stack = Stack { $0.dispatch.queuedJobsMax = 1 }
        let first = stack.load(.image())
        #expect(stack.refusal(of: .image("b")) == .busy)
        let joined = stack.load(.image())
        #expect(stack.reply(joined) == nil)
        stack.hireAll()
        stack.end(first, joined)
    }

    @Test mutating func aFullDownloadQueueIsBusyAfterTheQuery() {
        stack = Stack(.cache, credit: 4) { $0.dispatch.queuedJobsMax = 1 }
        let first = stack.load(.image())
        let second = stack.load(.image("b"))
        stack.finishFirst(.query)
        stack.finish(.query)
        #expect(stack.reply(first) == nil)
        #expect(stack.error(second) == .busy)
        #expect(stack.faults == [])
    }

    @Test mutating func whoIsNotConnectedIsIgnored() {
        let load = LoadRequest(token: Token(Identifier128(high: 1, low: 1)), image: .image())
        stack.send(.load(ClientID(99), load, LoadTerms()))
        #expect(stack.actions == [])
        #expect(stack.isAtRest)
    }

    @Test mutating func drainingRefusesNewLoadsAndEndsWithTheLastReply() {
        let token = stack.load(.image())
        stack.send(.drain)
        #expect(!stack.wasDrained)
        #expect(stack.refusal(of: .image("b")) == .shuttingDown)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.wasDrained)
        stack.send(.tick)
        #expect(stack.isAtRest, "drained is reported once")
    }

    @Test mutating func anIdleSchedulerIsDrainedAtOnce() {
        stack = Stack()
        stack.send(.drain)
        #expect(stack.wasDrained)
    }

    @Test mutating func whoeverAsksGetsKeysOfTheirOwn() throws {
        let image = ImageRequest.image().with {
            $0.headers = [HTTPHeader(name: "Authorization", value: "Bearer x")]
        }
        stack.load(image, terms: LoadTerms(identity: "abc"))
        let query = try #require(stack.held(.query).first?.job.work.query)
        #expect(query.key == "http://example.org/a-Auth(abc).jpg\u{1E}abc")
        stack.end()
    }
}

/// Limits set by a configuration: they are part of jobs, only narrow the built-in ones, and work
/// with different limits isn't shared (SEMANTICS §9.8).
struct LimitTermsTests {
    private var stack = Stack.staffed()
    private static func terms(_ values: [LimitSetting: Int]) -> LoadTerms {
        var terms = LoadTerms()
        for (setting, value) in values { terms.limits[setting] = value }
        return terms
    }

    private static let image = ImageRequest.loader(size: 5)

    @Test mutating func jobsHaveTheNarrowerLimit() throws {
        let terms = Self.terms([
            .pixels: 2_000, .side: 100_000, .body: 500_000, .pages: 7, .metadata: 9,
        ])
        stack.load(Self.image, terms: terms)
        let fetch = try #require(stack.fetches.first)
        #expect(fetch.bodyBytesMax == 500_000)
        stack.finish(.fetch)
        let decode = try #require(stack.decodes.first)
        let expected = ImageLimits(pixelsMax: 2_000, pagesMax: 7, metadataBytesMax: 9)
        #expect(decode.limits == expected)
        #expect(decode.limits.sideMax == 32_767, "wider than the process has")
        stack.finish(.decode)
        let transform = try #require(stack.held(.transform).first?.job.work.transform)
        #expect(transform.limits == expected)
        stack.end()
    }

    @Test mutating func workWithOtherLimitsIsNotShared() {
        stack.load(Self.image)
        stack.load(Self.image, terms: Self.terms([.pixels: 2_000]))
        stack.load(Self.image, terms: Self.terms([.pixels: 2_000]))
        let decoded = stack.finishJobs().compactMap { $0.decode?.limits.pixelsMax }
        #expect(decoded.sorted() == [2_000, 100_000_000])
        #expect(stack.gets.values.reduce(0, +) == 1, "the body has the same limit")
        stack.expectRest()
    }

    @Test mutating func aTransferOfLessIsNotShared() {
        stack.load(Self.image)
        stack.load(Self.image, terms: Self.terms([.body: 2_000]))
        stack.end()
        #expect(stack.gets.values.reduce(0, +) == 2)
    }

    @Test mutating func aBoxOfMorePixelsIsRefusedAtOnce() {
        let box = ImageRequest.image(size: 5).with {
            $0.thumbnail = nil
            $0.steps = [.resize(PixelSize(width: 100, height: 100), .stretch)]
        }
        #expect(stack.refusal(of: box, terms: Self.terms([.pixels: 9_999])) == .limitExceeded)
        stack.load(box)
        stack.end()
    }

    @Test mutating func aBoxOfExactlyAsManyPixelsIsAdmitted() {
        let box = ImageRequest.image().with {
            $0.steps = [.resize(PixelSize(width: 100, height: 100), .stretch)]
        }
        let token = stack.load(box, terms: Self.terms([.pixels: 10_000]))
        #expect(stack.reply(token) == nil)
        stack.end(token)
    }

    /// An upload has at most as many bytes as a body.
    @Test(arguments: [1_000, 1_001] as [UInt64])
    func anUploadHasAtMostAsManyBytesAsABody(length: UInt64) throws {
        let limits = Self.terms([.body: 1_000]).limits
        let block = BlockID(1)
        let upload = Upload(
            block: BlockHandle(worker: .coordinator, block: block),
            reference: BlockReference(segment: 0, offset: 64, length: length, block: block))
        if length == 1_000 {
            try upload.check(limits)
        } else {
            let error = #expect(throws: ImageError.self) { try upload.check(limits) }
            #expect(error?.code == .limitExceeded)
        }
    }
}

/// Exact limits: as many as permitted are accepted, one more is not, and a released one makes room.
@Suite struct LimitEdgeTests {
    private var stack = Stack.staffed()

    /// An owner may hold bytes as long as a third of its total remains free.
    @Test func overlaysOfOneClientLeaveRoomForOthers() {
        let (flow, other) = (ClientID(1), ClientID(2))
        var bytes = SharedSpace<ClientID>(max: 8)
        #expect(bytes.admits(6, for: flow) && !bytes.admits(7, for: flow))
        bytes.take(6, for: flow)
        #expect(!bytes.admits(1, for: flow))
        #expect(bytes.admits(1, for: other) && !bytes.admits(3, for: other))
        bytes.giveBack(6, of: flow)
        #expect(bytes.count == 0 && bytes.count(of: flow) == 0)
        #expect(bytes.admits(6, for: flow) && bytes.admits(6, for: other))
    }

    @Test mutating func aWorkerHasSoManySegmentsAndNoMore() {
        stack = Stack { $0.dispatch.segmentsPerWorkerMax = 2 }
        let worker = stack.hire(.download)
        func segment(_ number: UInt32) -> SegmentAnnouncement {
            SegmentAnnouncement(arena: .stage, number: number, size: 1 << 20)
        }
        stack.send(.segmentsOpened(worker, [segment(1)]))
        stack.send(.segmentsClosed(worker, [segment(1)]))
        stack.send(.segmentsOpened(worker, [segment(2)]))
        #expect(stack.expelled.isEmpty, "a closed segment makes room")
        stack.send(.segmentsOpened(worker, [segment(3)]))
        #expect(stack.gone == [worker])
        #expect(stack.expelled.first?.1.code == .protocolViolation)
    }

    @Test(arguments: [10, 11]) mutating func soManyURLsOfAClientWaitAndNoMore(count: Int) {
        stack = Stack.staffed { $0.prefetchesPerClientMax = 10 }
        for _ in 0..<2 {
            let batch = stack.prefetch((0..<count).map { "p\($0)" })
            #expect(stack.refusals[batch]?.code == (count > 10 ? .busy : nil))
            stack.finishEverything()
        }
        #expect(stack.isAtRest)
    }

    @Test mutating func soManyBatchesOfAClientAreOpenAndNoMore() {
        stack = Stack.staffed { $0.batchesPerClientMax = 2 }
        for round in 1...2 {
            let batches = ["a", "b"].map { stack.prefetch(["\($0)\(round)"]) }
            #expect(batches.allSatisfy { stack.refusals[$0] == nil })
            let refused = stack.prefetch(["c"])
            #expect(stack.refusals[refused]?.code == .busy)
            stack.finishEverything()
        }
        #expect(stack.isAtRest)
    }
}

/// Valid combinations of what a request asks for besides its image.
@Suite struct InterestTests {
    private func error(_ change: (inout ImageRequest) -> Void) -> ImageError? {
        var request = ImageRequest(url: "http://host/a.jpg")
        change(&request)
        do throws(ImageError) {
            try request.checkLoadOptions()
            return nil
        } catch {
            return error
        }
    }

    @Test func everyBitHasANameAndOneMeaning() {
        #expect(RequestOptions.names.count == 27)
        for (bit, entry) in RequestOptions.names.prefix(26).enumerated() {
            #expect(entry.option.rawValue == 1 << bit, "\(entry.name)")
        }
        #expect(RequestOptions.names.last?.option.rawValue == 1 << 31, "our own")
        let meanings: [RequestOptions] = [.effective, .withoutEffect, .notSupported]
        for (index, meaning) in meanings.enumerated() {
            for other in meanings[(index + 1)...] { #expect(meaning.isDisjoint(with: other)) }
        }
        #expect(RequestOptions.known.rawValue == (1 << 26) - 1 | 1 << 31)
    }

    @Test func optionsThatAreNotThereAreRefusedByName() {
        for (name, option) in RequestOptions.names {
            let error = error { $0.options = option }
            if RequestOptions.notSupported.contains(option) {
                #expect(error?.code == .notSupported)
                #expect(error?.details["option"] == name)
            } else {
                #expect(error == nil, "\(name)")
            }
        }
        #expect(error { $0.options = RequestOptions(rawValue: 1 << 26) }?.code == .invalidRequest)
    }

    @Test func contextOptionsThatAreNotThereAreRefusedByName() {
        for key in ContextKey.notSupported {
            let error = error { $0.context.others[key.rawValue] = "1" }
            #expect(error?.code == .notSupported)
            #expect(error?.details["option"] == key.rawValue)
        }
        #expect(error { $0.context.others["colour-of-the-sky"] = "" }?.code == .invalidRequest)
    }
}

struct LoadPlanTests {
    /// A request and the stages that it goes through unless an early one finds the image.
    struct Case: CustomTestStringConvertible {
        let what: String
        let image: ImageRequest
        var isDistrustful = false
        let stages: [LoadPlan.Stage]
        var testDescription: String { what }
    }

    static let cases: [Case] = [
        Case(
            what: "a thumbnail", image: .image(size: 5),
            stages: [
                .queryResult, .queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver,
            ]),
        Case(
            what: "the original", image: .image(),
            stages: [.queryResult, .fetch, .decode, .deliver]),
        Case(
            what: "facts", image: .image().with { $0.infoOnly = true },
            stages: [.queryResult, .fetch, .decode, .storeOriginal]),
        Case(
            what: "facts that no entry has",
            image: .image().with {
                $0.infoOnly = true
                $0.properties = RequestedProperties(.colors)
            },
            stages: [.queryOriginal, .fetch, .decode, .storeOriginal]),
        Case(
            what: "from loader only", image: .loader(size: 5),
            stages: [.fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "from cache only", image: .image(size: 5, .fromCacheOnly),
            stages: [
                .queryResult, .queryOriginal, .decode, .transform, .storeOriginal, .deliver,
            ]),
        Case(
            what: "from nowhere", image: .loader(size: 5, .fromCacheOnly),
            stages: [.decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "no query of the result",
            image: .image(size: 5).with { $0.queryCacheTypes = .none },
            stages: [.queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "no query of the original",
            image: .image(size: 5).with { $0.originalQueryCacheTypes = .none },
            stages: [.queryResult, .fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "the original is not kept",
            image: .image(size: 5).with { $0.originalStoreCacheTypes = .none },
            stages: [.queryResult, .queryOriginal, .fetch, .decode, .transform, .deliver]),
        Case(
            what: "memory only, which is not trusted",
            image: .image().with { $0.queryCacheTypes = .memory }, isDistrustful: true,
            stages: [.fetch, .decode, .deliver]),
    ]

    private static let all: [LoadPlan.Stage] = [
        .queryResult, .queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver,
    ]

    @Test(arguments: cases) func optionsSkipStages(row: Case) {
        let plan = LoadPlan(row.image, distrustsMemory: row.isDistrustful)
        #expect(Self.all.filter { plan.includes($0) } == row.stages)
    }

    @Test(arguments: cases) func waysAreTriedInTheirOrderAndOnce(row: Case) {
        let plan = LoadPlan(row.image, distrustsMemory: row.isDistrustful)
        var remainingStages = plan.remainingStages
        var tried: [LoadPlan.Stage] = []
        while let way = remainingStages.next() { tried.append(way) }
        #expect(tried == row.stages.filter { $0.rawValue <= LoadPlan.Stage.fetch.rawValue })
    }

    @Test func skippedWaysAreNotTried() {
        var remainingStages = LoadPlan(.image(size: 5), distrustsMemory: false).remainingStages
        remainingStages.skip(past: .queryOriginal)
        let first = remainingStages.next()
        remainingStages.skip(past: .fetch)
        let second = remainingStages.next()
        #expect(first == .fetch)
        #expect(second == nil)
    }
}

import Model
import Testing

@testable import Coordinator

struct FailureCacheTests {
    private var stack = Stack.staffed()
    private let url = "http://example.org/a.jpg"

    /// A stack that fetched a text in place of an image.
    private mutating func stackWithABadBody(
        _ options: RequestOptions = [], _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) {
        stack = Stack.staffed(change)
        let token = stack.load(.image("a", options))
        stack.run(.query, .fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
    }

    @Test mutating func aBodyThatIsNoImageIsNotFetchedAgain() throws {
        stackWithABadBody()
        let again = stack.load(.image("a", size: 3))
        let error = try #require(stack.failure(again))
        #expect(error.code == .blacklisted)
        #expect(error.message.hasPrefix("the URL is in the failure cache:"))
        #expect(error.details["reason"] == "badImageData")
        #expect(stack.gets == [url: 1])
        #expect(stack.counters.failureCacheRefusals == 1)
        #expect(stack.counters.failed == 2)
        #expect(stack.scheduler.report["blacklisted"] == 1)
        #expect(stack.isAtRest)
    }

    /// The rows of PROTOCOL §9 that a download worker distinguishes.
    @Test(arguments: ErrorCode.allCases) mutating func aFailedFetchBlocksAsTheTableSays(
        code: ErrorCode
    ) {
        let blocking: Set<ErrorCode> = [
            .invalidURL, .badImageData, .tooManyRedirects, .badEncoding,
            .unsupportedScheme,
        ]
        #expect(code.rule.cachesFailures == blocking.contains(code))
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        // These do not end a request.
        guard ![.arenaFull, .cancelled, .shuttingDown, .stale].contains(code) else { return }
        let token = stack.load(.loader())
        stack.fail(.fetch, code)
        #expect(stack.error(token) == code)
        let again = stack.load(.loader())
        #expect(stack.error(again) == (blocking.contains(code) ? .blacklisted : nil))
    }

    @Test(arguments: ["404", "500"]) mutating func aStatusDoesNotBlock(status: String) {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        for _ in 0..<2 {
            let token = stack.load(.loader())
            let error = ImageError(
                .invalidDownloadStatusCode, "no", details: ["httpStatus": status])
            stack.finish(.fetch, .failed(error))
            #expect(stack.error(token) == .invalidDownloadStatusCode)
        }
        #expect(stack.gets == [url: 2])
    }

    /// The URL isn't at fault: the copy in the cache is bad, and the origin is queried.
    @Test mutating func aCachedOriginalThatIsNoImageDoesNotBlock() {
        let token = stack.load(.image("a", size: 3))
        stack.run(.query)
        stack.find()
        stack.fail(.decode, .badImageData)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isDone)
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    /// The header of the same bytes was valid, so loads that don't need pixels succeed.
    @Test mutating func damagedPixelsBlockOnlyLoadsThatNeedThem() throws {
        let small = stack.load(.loader(size: 3))
        stack.finish(.fetch)
        stack.finish(.decode, .failed(.damagedPixels))
        #expect(stack.error(small) == .badImageData)
        let again = stack.load(.image("a", size: 4))
        let refusal = try #require(stack.failure(again))
        #expect(refusal.code == .blacklisted)
        #expect(
            refusal.message.hasPrefix(
                "the URL is in the failure cache for loads that need its pixels:"))
        for plain in [
            ImageRequest.image(), .image().with { $0.infoOnly = true },
        ] {
            let token = stack.load(plain)
            stack.finishAll()
            #expect(stack.image(token) != nil)
        }
        #expect(stack.scheduler.report["blacklisted"] == 1)
    }

    /// The kinds of decodes, and how the failure of each is reported to operators.
    private static let decodes: [(name: String, image: ImageRequest)] = [
        ("decode", .loader(size: 3)),
        (
            "decode all frames",
            .loader(size: 4).with {
                $0.output.format = .webp
                $0.options.insert(.transformAnimatedImage)
            }
        ),
        ("decode frame 3", .loader(size: 3).with { $0.frame = 3 }),
        ("decode frame 4", .loader(size: 3).with { $0.frame = 4 }),
    ]

    /// Damage in frame 9 says nothing about frame 0.
    @Test(arguments: decodes.indices) mutating func aFailedDecodeRefusesItsKindAlone(index: Int) {
        let first = stack.load(Self.decodes[index].image)
        stack.finish(.fetch)
        stack.finish(.decode, .failed(.damagedPixels))
        #expect(stack.error(first) == .badImageData)
        for (other, decode) in Self.decodes.enumerated() {
            let token = stack.load(decode.image)
            #expect((stack.error(token) == .blacklisted) == (other == index), "\(decode.name)")
        }
        stack.ask(.list(after: 0))
        #expect(stack.reports.last?.entries.map(\.operation) == [Self.decodes[index].name])
    }

    /// Two decodes of one transfer: the failure of one isn't recorded for the other.
    @Test mutating func aFailedDecodeLeavesOthersOfItsTransferAlone() {
        for decode in Self.decodes.prefix(2) { stack.load(decode.image) }
        stack.finish(.fetch)
        for held in stack.held(.decode) {
            guard case .decode(let work) = held.job.work, work.wantsAllFrames else { continue }
            stack.finish(held, .failed(.damagedPixels))
        }
        stack.ask(.list(after: 0))
        #expect(stack.reports.last?.entries.map(\.operation) == ["decode all frames"])
    }

    /// A ticket for an original remains valid, one for a result does not.
    @Test mutating func damagedPixelsLeaveTicketsOfOriginalsAlone() throws {
        let small = ImageRequest.image("a", size: 3)
        let token = stack.load(small)
        stack.finishAll()
        stack.publish(url)
        stack.publish(try #require(stack.image(token)).key)
        func ticket(_ image: ImageRequest) -> HitTicket? {
            let token = Token(5)
            return stack.ticket(
                for: LoadRequest(token: token, image: image), LoadTerms())
        }
        let (plain, produced) = (try #require(ticket(.image())), try #require(ticket(small)))
        stack.scheduler.hits.withdraw(
            .denied(
                Denial(
                    source: ScopedSource(SourceKey(small), LoadTerms()),
                    refusal: Refusal(.damagedPixels, of: .still), url: url, at: stack.now,
                    lastNumber: 0)))
        #expect(stack.scheduler.hits.stands(plain, at: stack.now))
        #expect(!stack.scheduler.hits.stands(produced, at: stack.now))
        #expect(ticket(.image()) != nil && ticket(small) == nil)
    }

    @Test mutating func whatAClientBringsAlongIsNotBlocked() {
        for _ in 0..<2 {
            let token = stack.upload("x") {
                $0.steps = [.resize(PixelSize(width: 3, height: 3), .fit)]
            }
            stack.run(.query)
            stack.fail(.decode, .badImageData)
            #expect(stack.error(token) == .badImageData)
        }
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    /// Upstream's order: the options, the failure cache, and only then whether there is a URL.
    @Test mutating func theOptionsComeBeforeItAndTheURLAfterIt() {
        stackWithABadBody()
        let options = stack.load(.image("a", RequestOptions(rawValue: 1 << 30)))
        #expect(stack.error(options) == .invalidRequest)
        let wrong = ImageRequest(url: "nonsense")
        stack.scheduler.hits.withdraw(
            .denied(
                Denial(
                    source: ScopedSource(SourceKey(wrong), LoadTerms()),
                    refusal: Refusal(ImageError(.invalidURL, "no URL")),
                    url: wrong.url, at: stack.now, lastNumber: 9)))
        #expect(stack.refusal(of: wrong) == .blacklisted)
        #expect(stack.refusal(of: wrong.with { $0.options = .retryFailed }) == .invalidURL)
    }

    @Test mutating func itIsLookedAtBeforeTheCache() {
        stackWithABadBody()
        stack.publish(url)
        #expect(stack.refusal(of: .image()) == .blacklisted)
        let only = stack.load(.image("a", .fromCacheOnly))
        #expect(stack.error(only) == .blacklisted)
        let retried = stack.load(.image("a", .retryFailed))
        #expect(stack.image(retried)?.cacheType == .memory)
        #expect(stack.scheduler.report["blacklisted"] == 1, "only a load removes it")
    }

    @Test mutating func aTicketOfAHitEndsWithAnEntry() throws {
        stack.publish(url)
        func load(_ options: RequestOptions) -> LoadRequest {
            LoadRequest(token: Token(5), image: .image("a", options))
        }
        func ticket(_ options: RequestOptions) -> HitTicket? {
            stack.ticket(for: load(options), LoadTerms())
        }
        func answers(_ ticket: HitTicket, after milliseconds: Int = 0) -> Bool {
            let moment = stack.now.adding(milliseconds: milliseconds)
            return stack.scheduler.mayAnswer(
                ticket, again: load([]).token, of: stack.client, at: moment)
        }
        let plain = try #require(ticket([]))
        let retry = try #require(ticket(.retryFailed))
        #expect(answers(plain) && answers(retry))
        let token = stack.load(.loader(size: 3))
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(token) == .tooManyRedirects)
        #expect(!answers(plain) && answers(retry))
        #expect(ticket([]) == nil && ticket(.retryFailed) != nil)
        #expect(answers(plain, after: 661_000))
    }

    @Test mutating func retryFailedAsksAgainAndASuccessTakesItOff() {
        stackWithABadBody()
        let retried = stack.load(.image("a", .retryFailed))
        stack.run(.query, .fetch)
        #expect(stack.refusal(of: .image()) == .blacklisted)
        stack.finishAll()
        #expect(stack.image(retried) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 0)
        let next = stack.load(.loader())
        stack.end(next)
    }

    @Test mutating func aFailureUnderRetryFailedIsEnteredToo() {
        stackWithABadBody(.retryFailed)
        #expect(stack.refusal(of: .image()) == .blacklisted)
    }

    /// The header is valid, the pixels are not: a load of the bytes succeeds, and doesn't remove
    /// the source from the failure cache.
    @Test mutating func aSuccessWithoutRetryFailedTakesNothingOff() {
        let small = stack.load(.loader(size: 3))
        let whole = stack.load(.loader())
        stack.finish(.fetch)
        let decodes = stack.held(.decode)
        #expect(decodes.count == 2)
        stack.finish(decodes[0], .failed(ImageError(.badImageData, "cut off")))
        stack.finishAll()
        #expect(stack.error(small) == .badImageData)
        #expect(stack.image(whole) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 1)
    }

    @Test mutating func headersMakeAnotherSource() {
        stackWithABadBody()
        let other = ImageRequest.loader().with {
            $0.headers = [HTTPHeader(name: "Authorization", value: "Basic eDp5")]
        }
        let token = stack.load(other, terms: LoadTerms(identity: "i"))
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(token) == .tooManyRedirects)
        stack.ask(.list(after: 0))
        #expect(stack.reports.last?.entries.map(\.url) == [url, url])
        #expect(stack.reports.last?.entries.map(\.number) == [1, 2])
        stack.ask(.remove(url: "http://x:y@example.org/a.jpg"))
        #expect(stack.reports.last?.removed == 2, "for whomever, and without user info")
    }

    @Test mutating func itIsForgottenAfterAWhileGiveOrTakeATenth() {
        stackWithABadBody()
        stack.pass(milliseconds: 540_000 - 1)
        #expect(stack.refusal(of: .image()) == .blacklisted)
        stack.pass(milliseconds: 120_001)
        let token = stack.load(.image())
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    @Test mutating func zeroIsForEver() {
        stackWithABadBody([]) { $0.failureCacheMilliseconds = 0 }
        stack.pass(milliseconds: 1_000_000_000)
        #expect(stack.refusal(of: .image()) == .blacklisted)
        stack.ask(.list(after: 0))
        #expect(stack.reports.last?.entries.first?.expiresInMilliseconds == 0)
    }

    @Test mutating func theOldestMakesRoom() {
        stack = Stack.staffed { $0.failureCacheMax = 2 }
        for name in ["a", "b", "c"] {
            stack.load(.loader(name))
            stack.fail(.fetch, .tooManyRedirects)
        }
        #expect(stack.scheduler.hits.failureCache.count == 2)
        let tokens = ["a", "b", "c"].map { stack.load(.loader($0)) }
        #expect(tokens.map { stack.error($0) } == [nil, .blacklisted, .blacklisted])
    }

    @Test mutating func withoutRoomNothingIsRefused() {
        stackWithABadBody([]) { $0.failureCacheMax = 0 }
        let token = stack.load(.image())
        #expect(stack.error(token) == nil && stack.held(.query).count == 1)
    }

    @Test mutating func aListShowsNoQueryAndAWholeURLTakesItsEntryOff() {
        for query in ["?sig=one", "?sig=two", ""] {
            let image = ImageRequest(url: "http://example.org/q.jpg" + query)
                .with { $0.options = .fromLoaderOnly }
            let token = stack.load(image)
            stack.fail(.fetch, .tooManyRedirects)
            #expect(stack.error(token) == .tooManyRedirects)
        }
        func remove(_ url: String) -> UInt32? {
            stack.ask(.remove(url: url))
            return stack.reports.last?.removed
        }
        stack.ask(.list(after: 0))
        let shown = stack.reports.last?.entries.map(\.url)
        #expect(shown == Array(repeating: "http://example.org/q.jpg", count: 3))
        #expect(remove("http://example.org/q.jpg?sig=three") == 0)
        #expect(remove("http://ben@example.org/q.jpg?sig=two") == 1)
        #expect(remove("http://example.org/q.jpg") == 2, "all that the list shows so")
    }

    @Test mutating func operatorsSeeBothListsAndClearThem() {
        stackWithABadBody()
        stack.load(.loader("b", size: 3))
        stack.finish(.fetch)
        for _ in 0..<2 { stack.crash(.decode) }
        stack.ask(.list(after: 0))
        let entries = stack.reports.last?.entries ?? []
        #expect(entries.map(\.number) == [1, 2])
        #expect(entries.map(\.operation) == ["fetch", "decode"])
        #expect(entries.map(\.reason) == [.badImageData, .poisoned])
        #expect((540_000...660_000).contains(entries.first?.expiresInMilliseconds ?? 0))
        stack.ask(.clear)
        #expect(stack.reports.last?.removed == 2)
        stack.ask(.list(after: 0))
        #expect(stack.reports.last == FailureCacheReport())
    }
}

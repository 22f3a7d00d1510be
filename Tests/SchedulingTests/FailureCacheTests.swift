import Model
import Testing

@testable import Coordinator

struct FailureCacheTests {
    private let url = "http://example.org/a.jpg"

    /// A stack that fetched a text in place of an image.
    private func stackWithABadBody(
        _ options: RequestOptions = [], _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> (Stack, ClientID) {
        var (stack, client) = Stack.staffed(change)
        let token = stack.load(.image("a", options), by: client)
        stack.run(.query, .fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        return (stack, client)
    }

    @Test func aBodyThatIsNoImageIsNotFetchedAgain() {
        var (stack, client) = stackWithABadBody()
        let again = stack.load(.image("a", size: 3), by: client)
        guard case .failure(let error) = stack.reply(again)?.outcome else {
            Issue.record("it was admitted")
            return
        }
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
    @Test(arguments: ErrorCode.allCases) func aFailedFetchBlocksAsTheTableSays(code: ErrorCode) {
        let blocking: Set<ErrorCode> = [
            .invalidURL, .badImageData, .tooManyRedirects, .badEncoding,
            .unsupportedScheme,
        ]
        #expect(code.rule.cachesFailures == blocking.contains(code))
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        // These do not end a request.
        guard ![.arenaFull, .cancelled, .shuttingDown, .stale].contains(code) else { return }
        let token = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.fail(.fetch, code)
        #expect(stack.error(token) == code)
        let again = stack.load(.image("a", .fromLoaderOnly), by: client)
        #expect(stack.error(again) == (blocking.contains(code) ? .blacklisted : nil))
    }

    @Test(arguments: ["404", "500"]) func aStatusDoesNotBlock(status: String) {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        for _ in 0..<2 {
            let token = stack.load(.image("a", .fromLoaderOnly), by: client)
            let error = ImageError(
                .invalidDownloadStatusCode, "no", details: ["httpStatus": status])
            stack.finish(.fetch, .failed(error))
            #expect(stack.error(token) == .invalidDownloadStatusCode)
        }
        #expect(stack.gets == [url: 2])
    }

    /// The URL isn't at fault: the copy in the cache is bad, and the origin is queried.
    @Test func aCachedOriginalThatIsNoImageDoesNotBlock() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image("a", size: 3), by: client)
        stack.run(.query)
        stack.finish(stack.held(.query)[0], stack.hit(stack.held(.query)[0]))
        stack.fail(.decode, .badImageData)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    /// The header of the same bytes was valid, so loads that don't need pixels succeed.
    @Test func damagedPixelsBlockOnlyLoadsThatNeedThem() throws {
        var (stack, client) = Stack.staffed()
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        let small = stack.load(.image("a", size: 3, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        stack.finish(.decode, .failed(error))
        #expect(stack.error(small) == .badImageData)
        let again = stack.load(.image("a", size: 4), by: client)
        guard case .failure(let refusal) = stack.reply(again)?.outcome else {
            Issue.record("it was admitted")
            return
        }
        #expect(refusal.code == .blacklisted)
        #expect(
            refusal.message.hasPrefix(
                "the URL is in the failure cache for loads that need its pixels:"))
        for plain in [
            ImageRequest.image("a"), .image("a").with { $0.infoOnly = true },
        ] {
            let token = stack.load(plain, by: client)
            stack.finishAll()
            #expect(stack.image(token) != nil)
        }
        #expect(stack.scheduler.report["blacklisted"] == 1)
    }

    /// The kinds of decodes, and how the failure of each is reported to operators.
    private static let decodes: [(name: String, image: ImageRequest)] = [
        ("decode", .image("a", size: 3, .fromLoaderOnly)),
        (
            "decode all frames",
            .image("a", size: 4, .fromLoaderOnly).with {
                $0.output.format = .webp
                $0.options.insert(.transformAnimatedImage)
            }
        ),
        ("decode frame 3", .image("a", size: 3, .fromLoaderOnly).with { $0.frame = 3 }),
        ("decode frame 4", .image("a", size: 3, .fromLoaderOnly).with { $0.frame = 4 }),
    ]

    /// Damage in frame 9 says nothing about frame 0.
    @Test(arguments: decodes.indices) func aFailedDecodeRefusesItsKindAlone(index: Int) {
        var (stack, client) = Stack.staffed()
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        let first = stack.load(Self.decodes[index].image, by: client)
        stack.finish(.fetch)
        stack.finish(.decode, .failed(error))
        #expect(stack.error(first) == .badImageData)
        for (other, decode) in Self.decodes.enumerated() {
            let token = stack.load(decode.image, by: client)
            #expect((stack.error(token) == .blacklisted) == (other == index), "\(decode.name)")
        }
        stack.send(.failureCache(client, .list(after: 0)))
        #expect(stack.reports.last?.entries.map(\.operation) == [Self.decodes[index].name])
    }

    /// Two decodes of one transfer: the failure of one isn't recorded for the other.
    @Test func aFailedDecodeLeavesOthersOfItsTransferAlone() {
        var (stack, client) = Stack.staffed()
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        for decode in Self.decodes.prefix(2) { stack.load(decode.image, by: client) }
        stack.finish(.fetch)
        for held in stack.held(.decode) {
            guard case .decode(let work) = held.job.work, work.wantsAllFrames else { continue }
            stack.finish(held, .failed(error))
        }
        stack.send(.failureCache(client, .list(after: 0)))
        #expect(stack.reports.last?.entries.map(\.operation) == ["decode all frames"])
    }

    /// A ticket for an original remains valid, one for a result does not.
    @Test func damagedPixelsLeaveTicketsOfOriginalsAlone() throws {
        var (stack, client) = Stack.staffed()
        let small = ImageRequest.image("a", size: 3)
        let token = stack.load(small, by: client)
        stack.finishAll()
        stack.publish(url)
        stack.publish(try #require(stack.image(token)).key)
        func ticket(_ image: ImageRequest) -> HitTicket? {
            let token = Token(Identifier128(high: 5, low: 5))
            return stack.scheduler.hitTicket(
                for: LoadRequest(token: token, image: image), LoadTerms())
        }
        var damage = ImageError(.badImageData, "no pixels")
        damage.damagesPixelsOnly = true
        let (plain, produced) = (try #require(ticket(.image("a"))), try #require(ticket(small)))
        stack.scheduler.hits.withdraw(
            .denied(
                Denial(
                    source: ScopedSource(SourceKey(small), LoadTerms()),
                    refusal: Refusal(damage, of: .still), url: url, at: stack.now, lastNumber: 0)))
        #expect(stack.scheduler.hits.stands(plain, at: stack.now))
        #expect(!stack.scheduler.hits.stands(produced, at: stack.now))
        #expect(ticket(.image("a")) != nil && ticket(small) == nil)
    }

    @Test func whatAClientBringsAlongIsNotBlocked() {
        var (stack, client) = Stack.staffed()
        for _ in 0..<2 {
            let token = stack.upload("x", by: client) {
                $0.steps = [.resize(PixelSize(width: 3, height: 3), .fit)]
            }
            stack.run(.query)
            stack.fail(.decode, .badImageData)
            #expect(stack.error(token) == .badImageData)
        }
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    /// Upstream's order: the options, the failure cache, and only then whether there is a URL.
    @Test func theOptionsComeBeforeItAndTheURLAfterIt() {
        var (stack, client) = stackWithABadBody()
        let options = stack.load(
            .image("a", RequestOptions(rawValue: 1 << 30)), by: client)
        #expect(stack.error(options) == .invalidRequest)
        let wrong = ImageRequest(url: "nonsense")
        stack.scheduler.hits.withdraw(
            .denied(
                Denial(
                    source: ScopedSource(SourceKey(wrong), LoadTerms()),
                    refusal: Refusal(ImageError(.invalidURL, "no URL")),
                    url: wrong.url, at: stack.now, lastNumber: 9)))
        let nowhere = stack.load(wrong, by: client)
        #expect(stack.error(nowhere) == .blacklisted)
        let retried = stack.load(wrong.with { $0.options = .retryFailed }, by: client)
        #expect(stack.error(retried) == .invalidURL)
    }

    @Test func itIsLookedAtBeforeTheCache() {
        var (stack, client) = stackWithABadBody()
        stack.publish(url)
        let hit = stack.load(.image("a"), by: client)
        #expect(stack.error(hit) == .blacklisted)
        let only = stack.load(.image("a", .fromCacheOnly), by: client)
        #expect(stack.error(only) == .blacklisted)
        let retried = stack.load(.image("a", .retryFailed), by: client)
        #expect(stack.image(retried)?.cacheType == .memory)
        #expect(stack.scheduler.report["blacklisted"] == 1, "only a load removes it")
    }

    @Test func aTicketOfAHitEndsWithAnEntry() throws {
        var (stack, client) = Stack.staffed()
        stack.publish(url)
        func load(_ options: RequestOptions) -> LoadRequest {
            LoadRequest(
                token: Token(Identifier128(high: 5, low: 5)), image: .image("a", options))
        }
        func ticket(_ options: RequestOptions) -> HitTicket? {
            stack.scheduler.hitTicket(for: load(options), LoadTerms())
        }
        func answers(_ ticket: HitTicket, after milliseconds: Int = 0) -> Bool {
            let moment = stack.now.adding(milliseconds: milliseconds)
            return stack.scheduler.mayAnswer(ticket, again: load([]).token, of: client, at: moment)
        }
        let plain = try #require(ticket([]))
        let retry = try #require(ticket(.retryFailed))
        #expect(answers(plain) && answers(retry))
        let token = stack.load(.image("a", size: 3, .fromLoaderOnly), by: client)
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(token) == .tooManyRedirects)
        #expect(!answers(plain) && answers(retry))
        #expect(ticket([]) == nil && ticket(.retryFailed) != nil)
        #expect(answers(plain, after: 661_000))
    }

    @Test func retryFailedAsksAgainAndASuccessTakesItOff() {
        var (stack, client) = stackWithABadBody()
        let retried = stack.load(.image("a", .retryFailed), by: client)
        stack.run(.query, .fetch)
        let meanwhile = stack.load(.image("a"), by: client)
        #expect(stack.error(meanwhile) == .blacklisted)
        stack.finishAll()
        #expect(stack.image(retried) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 0)
        let next = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.finishAll()
        #expect(stack.image(next) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aFailureUnderRetryFailedIsEnteredToo() {
        var (stack, client) = stackWithABadBody(.retryFailed)
        let again = stack.load(.image("a"), by: client)
        #expect(stack.error(again) == .blacklisted)
    }

    /// The header is valid, the pixels are not: a load of the bytes succeeds, and doesn't remove
    /// the source from the failure cache.
    @Test func aSuccessWithoutRetryFailedTakesNothingOff() {
        var (stack, client) = Stack.staffed()
        let small = stack.load(.image("a", size: 3, .fromLoaderOnly), by: client)
        let whole = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let decodes = stack.held(.decode)
        #expect(decodes.count == 2)
        stack.finish(decodes[0], .failed(ImageError(.badImageData, "cut off")))
        stack.finishAll()
        #expect(stack.error(small) == .badImageData)
        #expect(stack.image(whole) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 1)
    }

    @Test func headersMakeAnotherSource() {
        var (stack, client) = stackWithABadBody()
        let other = ImageRequest.image("a", .fromLoaderOnly).with {
            $0.headers = [HTTPHeader(name: "Authorization", value: "Basic eDp5")]
        }
        let token = stack.load(other, by: client, terms: LoadTerms(identity: "i"))
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(token) == .tooManyRedirects)
        stack.send(.failureCache(client, .list(after: 0)))
        #expect(stack.reports.last?.entries.map(\.url) == [url, url])
        #expect(stack.reports.last?.entries.map(\.number) == [1, 2])
        stack.send(.failureCache(client, .remove(url: "http://x:y@example.org/a.jpg")))
        #expect(stack.reports.last?.removed == 2, "for whomever, and without user info")
    }

    @Test func itIsForgottenAfterAWhileGiveOrTakeATenth() {
        var (stack, client) = stackWithABadBody()
        stack.pass(milliseconds: 540_000 - 1)
        let early = stack.load(.image("a"), by: client)
        #expect(stack.error(early) == .blacklisted)
        stack.pass(milliseconds: 120_001)
        let token = stack.load(.image("a"), by: client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["blacklisted"] == 0)
    }

    @Test func zeroIsForEver() {
        var (stack, client) = stackWithABadBody([]) { $0.failureCacheMilliseconds = 0 }
        stack.pass(milliseconds: 1_000_000_000)
        let token = stack.load(.image("a"), by: client)
        #expect(stack.error(token) == .blacklisted)
        stack.send(.failureCache(client, .list(after: 0)))
        #expect(stack.reports.last?.entries.first?.expiresInMilliseconds == 0)
    }

    @Test func theOldestMakesRoom() {
        var (stack, client) = Stack.staffed { $0.failureCacheMax = 2 }
        for name in ["a", "b", "c"] {
            stack.load(.image(name, .fromLoaderOnly), by: client)
            stack.fail(.fetch, .tooManyRedirects)
        }
        #expect(stack.scheduler.hits.failureCache.count == 2)
        let tokens = ["a", "b", "c"].map { stack.load(.image($0, .fromLoaderOnly), by: client) }
        #expect(tokens.map { stack.error($0) } == [nil, .blacklisted, .blacklisted])
    }

    @Test func withoutRoomNothingIsRefused() {
        var (stack, client) = stackWithABadBody([]) { $0.failureCacheMax = 0 }
        let token = stack.load(.image("a"), by: client)
        #expect(stack.error(token) == nil && stack.held(.query).count == 1)
    }

    @Test func aListShowsNoQueryAndAWholeURLTakesItsEntryOff() {
        var (stack, client) = Stack.staffed()
        for query in ["?sig=one", "?sig=two", ""] {
            let image = ImageRequest(url: "http://example.org/q.jpg" + query)
                .with { $0.options = .fromLoaderOnly }
            let token = stack.load(image, by: client)
            stack.fail(.fetch, .tooManyRedirects)
            #expect(stack.error(token) == .tooManyRedirects)
        }
        func remove(_ url: String) -> UInt32? {
            stack.send(.failureCache(client, .remove(url: url)))
            return stack.reports.last?.removed
        }
        stack.send(.failureCache(client, .list(after: 0)))
        let shown = stack.reports.last?.entries.map(\.url)
        #expect(shown == Array(repeating: "http://example.org/q.jpg", count: 3))
        #expect(remove("http://example.org/q.jpg?sig=three") == 0)
        #expect(remove("http://ben@example.org/q.jpg?sig=two") == 1)
        #expect(remove("http://example.org/q.jpg") == 2, "all that the list shows so")
    }

    @Test func operatorsSeeBothListsAndClearThem() {
        var (stack, client) = stackWithABadBody()
        stack.load(.image("b", size: 3, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        for _ in 0..<2 {
            stack.crash(stack.held(.decode)[0])
            stack.hire(.decode)
        }
        stack.send(.failureCache(client, .list(after: 0)))
        let entries = stack.reports.last?.entries ?? []
        #expect(entries.map(\.number) == [1, 2])
        #expect(entries.map(\.operation) == ["fetch", "decode"])
        #expect(entries.map(\.reason) == [.badImageData, .poisoned])
        #expect((540_000...660_000).contains(entries.first?.expiresInMilliseconds ?? 0))
        stack.send(.failureCache(client, .clear))
        #expect(stack.reports.last?.removed == 2)
        stack.send(.failureCache(client, .list(after: 0)))
        #expect(stack.reports.last == FailureCacheReport())
    }
}

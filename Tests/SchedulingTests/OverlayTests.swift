import Model
import Testing

@testable import Coordinator

extension ImageRequest {
    static let mark = "http://marks.example/mark.png"

    /// A thumbnail with overlays.
    static func marked(
        _ name: String = "a", size: Int? = 8, over urls: [String] = [mark],
        _ options: RequestOptions = []
    ) -> ImageRequest {
        image(name, size: size, options).with { request in
            request.steps += urls.map { .overlay(Overlay(url: $0, x: -3, y: 4)) }
        }
    }
}

struct OverlayTests {
    private let mark = ImageRequest.mark
    private var stack = Stack.staffed()

    private func overlayError(_ token: Token) -> String? {
        stack.failure(token)?.details["overlay"]
    }

    private func urls() -> [String] { stack.fetches.map(\.url) }

    /// A request that waits for its overlay, with empty caches.
    @discardableResult
    private mutating func fetchingMark(
        _ change: (inout ImageRequest) -> Void = { _ in },
        _ limits: (inout SchedulerLimits) -> Void = { _ in }
    ) -> Token {
        stack = Stack.staffed {
            $0.dispatch.fetchRetriesMax = 0
            limits(&$0)
        }
        let token = stack.load(.marked().with(change))
        stack.run(.query, .query)
        return token
    }

    // MARK: - Stages

    @Test mutating func overlaysAreThereBeforeAnythingOfTheImageIs() throws {
        let token = fetchingMark()
        #expect(urls() == [mark])
        stack.run(.fetch)
        #expect(stack.held(.fetch).isEmpty)
        #expect(stack.held(.query).isEmpty)
        stack.run(.decode)
        while !stack.held(.query).isEmpty { stack.run(.query) }
        #expect(urls() == ["http://example.org/a.jpg"])
        stack.finish(try #require(stack.held(.fetch).first))
        stack.run(.decode)
        let work = try #require(stack.held(.transform).first?.job.work.transform)
        #expect(work.overlays.count == 1)
        #expect(work.overlays.first?.source != work.source)
        #expect(work.steps.last == .overlay(Overlay(url: "", x: -3, y: 4)))
        stack.end(token)
    }

    @Test mutating func anOverlayIsDecodedWholeAndOnlyUpToItsLimit() throws {
        fetchingMark()
        stack.run(.fetch)
        let work = try #require(stack.decodes.first)
        #expect(work.need == .full)
        #expect(work.limits.pixelsMax == 3840 * 2160)
    }

    @Test mutating func nothingThatWasSaidToTheOriginOfTheImageIsSaidToThatOfTheOverlay() throws {
        fetchingMark {
            $0.headers = [HTTPHeader(name: "Accept", value: "image/png")]
        }
        let work = try #require(stack.fetches.first)
        #expect(work.url == mark)
        #expect(work.headers.isEmpty)
    }

    @Test mutating func itsOriginalIsKeptAndTakenFromTheCache() throws {
        fetchingMark()
        stack.run(.fetch, .decode)
        let keys = stack.stores.compactMap(\.key)
        #expect(keys == [mark])
        stack.finishAll()
        stack.load(.marked("b"))
        stack.run(.query)
        let work = try #require(stack.held(.query).first?.work.query)
        #expect(work.key == mark)
        #expect(work.destination == .staging)
        stack.find()
        stack.end()
        #expect(stack.gets[mark] == 1)
    }

    // MARK: - Sharing

    @Test mutating func twoRequestsShareTheTransferAndTheDecodeOfAnOverlay() {
        let tokens = ["a", "b"].map { stack.load(.marked($0)) }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.gets[mark] == 1)
        // At the cached original, which is missing, and at the fetched one.
        #expect(stack.counters.coalesced.decodes == 2)
        #expect(stack.isAtRest)
    }

    @Test mutating func aLoadOfTheOverlayItselfSharesItsTransfer() {
        let first = stack.load(.marked(over: ["http://example.org/m.jpg"]))
        let second = stack.load(ImageRequest.image("m"))
        stack.end(first, second)
        #expect(stack.gets["http://example.org/m.jpg"] == 1)
    }

    @Test mutating func anImageMayBeLaidOverItself() {
        let url = ImageRequest.image().url
        let token = stack.load(.marked("a", size: nil, over: [url, url]))
        stack.end(token)
    }

    @Test func otherOverlaysMakeOtherResults() throws {
        let requests = [
            ImageRequest.marked(), ImageRequest.marked(over: [mark + "x"]),
            ImageRequest.marked(over: [mark, mark]), ImageRequest.marked(over: []),
            ImageRequest.marked().with { $0.steps[1] = .overlay(Overlay(url: mark, x: -3, y: 5)) },
            ImageRequest.marked().with {
                $0.steps[1] = .overlay(Overlay(url: mark, x: -3, y: 4, opacity: 0.5))
            },
        ]
        let keys = try requests.map { request in
            let terms = LoadTerms(laying: request)
            return CacheKey.result(request, url: try SourceURL(request.url), terms: terms)
        }
        #expect(Set(keys).count == requests.count)
        var secret = LoadTerms(laying: ImageRequest.marked())
        secret.overlays[0].terms.identity = "0123"
        let key = CacheKey.result(requests[0], url: try SourceURL(requests[0].url), terms: secret)
        #expect(!keys.contains(key), "overlays aren't shared between identities")
    }

    // MARK: - Failure

    @Test mutating func anOverlayThatCannotBeHadFailsTheRequest() {
        let token = fetchingMark()
        stack.finish(
            .fetch,
            .failed(
                ImageError(.invalidDownloadStatusCode, "no", details: ["httpStatus": "404"])))
        let error = stack.failure(token)
        #expect(error?.code == .stepFailed)
        #expect(error?.details["overlay"] == ErrorCode.invalidDownloadStatusCode.rule.name)
        #expect(error?.details["httpStatus"] == "404")
        #expect(stack.isAtRest)
    }

    @Test mutating func theFallbackAppliesWithoutTheOverlay() throws {
        let other = "http://example.org/other.jpg"
        let token = fetchingMark { $0.context.fallback = .url(other) }
        stack.fail(.fetch, .invalidDownloadStatusCode)
        stack.finishAll()
        let image = try #require(stack.image(token))
        #expect(image.fallbackFor?.code == .stepFailed)
        #expect(stack.gets[mark] == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func anOverlayThatIsTooLargeIsNoReasonToRefuseItsURL() {
        let token = fetchingMark()
        stack.run(.fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(overlayError(token) == "limitExceeded")
        let plain = stack.load(ImageRequest(url: mark))
        stack.end(plain)
    }

    @Test mutating func whoMayNotFetchItHasNone() {
        let token = stack.load(.marked("a", .fromCacheOnly))
        stack.end()
        #expect(stack.isMiss(token))
        #expect(stack.gets.isEmpty)
    }

    @Test mutating func aCachedOriginalThatIsNoImageIsFetched() {
        let token = stack.load(.marked())
        stack.run(.query)
        stack.find()
        stack.fail(.decode, .badImageData)
        #expect(urls() == [mark])
        stack.end(token)
    }

    @Test(arguments: [
        ["nonsense"], ["http://user:word@h/a.png"],
        Array(repeating: "http://h/a.png", count: 5),
    ])
    mutating func whatIsNoOverlayIsRefused(urls: [String]) {
        #expect(stack.refusal(of: .marked(over: urls)) == .invalidRequest)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity])
    mutating func anOpacityIsFromZeroToOne(opacity: Double) {
        let image = ImageRequest.image().with {
            $0.steps = [.overlay(Overlay(url: mark, opacity: opacity))]
        }
        #expect(stack.refusal(of: image) == .invalidRequest)
    }

    // MARK: - Losses

    @Test mutating func withTheDecoderTheOverlayIsLostAndMadeAgain() {
        let token = fetchingMark()
        stack.run(.fetch, .decode)
        stack.replace(.decode)
        stack.end(token)
    }

    @Test mutating func aCancelEndsTheTransferOfTheOverlay() {
        let token = fetchingMark()
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.held(.fetch).isEmpty)
        stack.end()
    }

    @Test mutating func whereOverlaysHaveNoRoomTheAnswerIsBusy() {
        let token = fetchingMark({ _ in }, { $0.workGraph.overlayBytesMax = 1_000 })
        stack.run(.fetch, .decode)
        #expect(stack.error(token) == .busy)
        stack.end()
    }

    /// The cache verifies several inputs one after the other.
    @Test(arguments: [false, true])
    mutating func aTransformerThatMissesBytesIsJudgedByAllOfThem(isOverlayMissing: Bool) throws {
        let image = ImageRequest.marked("a", .fromLoaderOnly).discardingOriginal
        let token = stack.load(image)
        stack.run(.fetch, .decode, .fetch, .decode)
        let reader = stack.worker(.transform)
        let decoder = stack.worker(.decode)
        stack.fail(.transform, .stale)
        stack.finish(.store)
        #expect(stack.expelled.isEmpty)
        if isOverlayMissing { stack.fail(.store, .stale) } else { stack.finish(.store) }
        #expect(stack.gone == [isOverlayMissing ? decoder : reader])
        stack.hire(isOverlayMissing ? .decode : .transform)
        stack.end(token)
    }

    // MARK: - Refresh

    @Test mutating func aRefreshLoadsTheOverlayAnewAsWell() throws {
        let token = stack.load(.marked("a", .refreshCached))
        stack.find(etag: "\"1\"")
        #expect(stack.replies[token]?.count == 1)
        #expect(urls() == [mark])
        stack.run(.fetch, .query, .decode)
        let work = try #require(stack.fetches.first)
        #expect(work.validators == nil, "loads of the same image may have other overlays")
        stack.end(token)
        #expect(stack.replies[token]?.count == 2)
    }

    // MARK: - Admission

    /// The cache has all originals and no result.
    private mutating func finishFromCache() {
        stack.finishJobs { $1.work.query?.destination == .staging ? $0.hit($1) : nil }
    }

    // MARK: - Queues

    /// A stack with a full queue of transfers.
    private mutating func crowded() {
        stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        for kind in [WorkerKind.cache, .decode, .transform] { stack.hire(kind, credit: 4) }
        stack.load(.loader("z"))
    }

    @Test(arguments: [[], .fromCacheOnly] as [RequestOptions])
    mutating func aCachedOverlayIsLaidOverThoughNoTransferMayBegin(options: RequestOptions) {
        crowded()
        let token = stack.load(.marked("a", options))
        finishFromCache()
        #expect(stack.image(token) != nil)
        #expect(stack.counters.refused.isEmpty)
        stack.hire(.download)
        stack.end()
    }

    @Test mutating func anOverlayThatHasToBeFetchedIsRefusedThen() {
        crowded()
        let token = stack.load(.marked())
        stack.run(.query)
        #expect(stack.reply(token) == nil, "its original may be cached")
        stack.run(.query)
        #expect(stack.error(token) == .busy)
        #expect(stack.counters.refused == [.fetch: 1])
        stack.hire(.download)
        stack.end()
    }

    @Test mutating func anOverlayThatIsOnItsWayIsJoinedThoughDecodersAreBehind() {
        stack = Stack.staffed { $0.dispatch.queuedCostMax.decode = 500 }
        stack.kill(stack.worker(.decode))
        let first = stack.load(.marked())
        stack.run(.query, .query, .fetch)
        let second = stack.load(.marked("b", .fromLoaderOnly))
        #expect(stack.reply(second) == nil)
        #expect(stack.refusal(of: .marked("c", over: [mark + "x"], .fromLoaderOnly)) == .busy)
        stack.hire(.decode)
        stack.end(first, second)
    }

    // MARK: - Quarantine

    @Test mutating func aTransferThatKillsWorkersIsNoReasonToRefuseACachedOverlay() {
        stack.load(ImageRequest(url: mark).with { $0.options = .fromLoaderOnly })
        for _ in 0..<2 { stack.crash(.fetch) }
        let cached = stack.load(.marked())
        finishFromCache()
        #expect(stack.image(cached) != nil)
        let fetched = stack.load(.marked("b", .fromLoaderOnly))
        #expect(overlayError(fetched) == ErrorCode.poisoned.rule.name)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Policy

    /// The terms of a configuration that refuses the overlay's URL.
    private func refusing(_ image: ImageRequest) -> LoadTerms {
        var terms = LoadTerms(laying: image)
        terms.overlays[0].terms.refusal = ImageError(.addressForbidden, "not this one")
        return terms
    }

    @Test mutating func anOverlayThatIsForbiddenNowIsForbiddenInWhatIsCachedToo() throws {
        let image = ImageRequest.marked()
        let allowed = LoadTerms(laying: image)
        stack.publish(CacheKey.result(image, url: try SourceURL(image.url), terms: allowed))
        let hit = stack.load(image)
        #expect(stack.image(hit)?.cacheType == .memory)
        let load = LoadRequest(token: Token(Identifier128(high: 2, low: 2)), image: image)
        #expect(stack.ticket(for: load, allowed) != nil)
        #expect(stack.ticket(for: load, refusing(image)) == nil)
        let token = stack.load(image, terms: refusing(image))
        #expect(stack.error(token) == .stepFailed)
        #expect(overlayError(token) == ErrorCode.addressForbidden.rule.name)
        #expect(stack.held(.query).isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theFallbackOfAnImageWithAForbiddenOverlayIsDelivered() throws {
        let image = ImageRequest.marked().with {
            $0.context.fallback = .color(Color(argb: 0xFF00_0000))
        }
        let token = stack.load(image, terms: refusing(image))
        stack.end()
        #expect(stack.image(token)?.fallbackFor?.code == .stepFailed)
        #expect(stack.gets.isEmpty)
    }

    /// The failure cache saves transfers; a cached result needs none.
    @Test mutating func aResultThatIsCachedIsServedThoughItsOverlayIsBlacklisted() throws {
        stack.load(ImageRequest(url: mark))
        stack.run(.query, .fetch)
        stack.fail(.decode, .badImageData)
        let image = ImageRequest.marked()
        let refused = stack.load(image)
        stack.run(.query)
        #expect(overlayError(refused) == ErrorCode.blacklisted.rule.name)
        let terms = LoadTerms(laying: image)
        stack.publish(CacheKey.result(image, url: try SourceURL(image.url), terms: terms))
        let hit = stack.load(image)
        stack.expectRest([hit])
    }

    /// Loads of bytes are permitted, but an overlay needs pixels, so it is refused.
    @Test mutating func anOverlayNeedsItsPixels() {
        let mark = ImageRequest(url: mark)
        stack.load(mark.with { $0.output.format = .webp })
        stack.run(.query, .query, .fetch)
        stack.finish(.decode, .failed(.damagedPixels))
        let refused = stack.load(.marked())
        stack.run(.query)
        #expect(overlayError(refused) == ErrorCode.blacklisted.rule.name)
        let plain = stack.load(mark)
        stack.end(plain)
    }

    // MARK: - Rules that cache failures

    /// A rule that adds this failure of an overlay to the failure cache.
    private func blocking(_ code: ErrorCode, over image: ImageRequest) -> LoadTerms {
        var terms = LoadTerms(laying: image)
        terms.overlays[0].terms.blocks = [.error(code): true]
        return terms
    }

    /// An image that is too large for an overlay may be valid by itself: its URL isn't added, even
    /// if a rule caches failures of too large images.
    @Test mutating func anOverlayThatIsTooLargeIsNotBlacklistedByARule() {
        let image = ImageRequest.marked()
        let token = stack.load(image, terms: blocking(.limitExceeded, over: image))
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(overlayError(token) == ErrorCode.limitExceeded.rule.name)
        #expect(stack.scheduler.report["blacklisted"] == 0)
        let plain = stack.load(ImageRequest(url: mark))
        stack.end(plain)
    }

    /// Only an overlay's size is exempt: the same rule applies to its other failures.
    @Test mutating func anOverlayThatIsNoImageIsBlacklisted() {
        let token = stack.load(.marked())
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .badImageData)
        #expect(overlayError(token) == ErrorCode.badImageData.rule.name)
        #expect(stack.refusal(of: ImageRequest(url: mark)) == .blacklisted)
        stack.end()
    }

    /// An image that is too large is added if a rule says so.
    @Test mutating func anImageThatIsTooLargeIsBlacklistedByARule() {
        let terms = LoadTerms().with { $0.blocks = [.error(.limitExceeded): true] }
        let first = stack.load(.image("a", size: 8), terms: terms)
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(stack.error(first) == .limitExceeded)
        #expect(stack.refusal(of: .image("a", size: 8)) == .blacklisted)
        stack.end()
    }
}

import Model
import Testing

@testable import Coordinator

struct OverlayTests {
    private let mark = "http://marks.example/mark.png"

    private func image(
        _ name: String = "a", size: Int? = 8, over urls: [String]? = nil,
        _ options: RequestOptions = []
    ) -> ImageRequest {
        ImageRequest.image(name, size: size, options).with { request in
            request.steps += (urls ?? [mark]).map { .overlay(Overlay(url: $0, x: -3, y: 4)) }
        }
    }

    private func urls(_ stack: Stack) -> [String] {
        stack.held(.fetch).compactMap { held in
            guard case .fetch(let work) = held.job.work else { return nil }
            return work.url
        }
    }

    /// A request that waits for its overlay, with empty caches.
    private func fetchingMark(
        _ change: (inout ImageRequest) -> Void = { _ in },
        _ limits: (inout SchedulerLimits) -> Void = { _ in }
    ) -> (Stack, ClientID, Token) {
        var (stack, client) = Stack.staffed {
            $0.dispatch.fetchRetriesMax = 0
            limits(&$0)
        }
        let token = stack.load(image().with(change), by: client)
        stack.run(.query, .query)
        return (stack, client, token)
    }

    // MARK: - Stages

    @Test func overlaysAreThereBeforeAnythingOfTheImageIs() throws {
        var (stack, _, token) = fetchingMark()
        #expect(urls(stack) == [mark])
        stack.run(.fetch)
        #expect(stack.held(.fetch).isEmpty)
        #expect(stack.held(.query).isEmpty)
        stack.run(.decode)
        while !stack.held(.query).isEmpty { stack.run(.query) }
        #expect(urls(stack) == ["http://example.org/a.jpg"])
        stack.finish(try #require(stack.held(.fetch).first))
        stack.run(.decode)
        guard case .transform(let work)? = stack.held(.transform).first?.job.work else {
            Issue.record("nothing is transformed")
            return
        }
        #expect(work.overlays.count == 1)
        #expect(work.overlays.first?.source != work.source)
        #expect(work.steps.last == .overlay(Overlay(url: "", x: -3, y: 4)))
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func anOverlayIsDecodedWholeAndOnlyUpToItsLimit() {
        var (stack, _, _) = fetchingMark()
        stack.run(.fetch)
        guard case .decode(let work)? = stack.held(.decode).first?.job.work else {
            Issue.record("nothing is decoded")
            return
        }
        #expect(work.need == .full)
        #expect(work.limits.pixelsMax == 3840 * 2160)
    }

    @Test func nothingThatWasSaidToTheOriginOfTheImageIsSaidToThatOfTheOverlay() {
        let (stack, _, _) = fetchingMark { image in
            image.headers = [HTTPHeader(name: "Accept", value: "image/png")]
        }
        guard case .fetch(let work)? = stack.held(.fetch).first?.job.work else {
            Issue.record("nothing is fetched")
            return
        }
        #expect(work.url == mark)
        #expect(work.headers.isEmpty)
    }

    @Test func itsOriginalIsKeptAndTakenFromTheCache() {
        var (stack, client, _) = fetchingMark()
        stack.run(.fetch, .decode)
        let keys = stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work else { return nil }
            return work.key
        }
        #expect(keys == [mark])
        stack.finishAll()
        stack.load(image("b"), by: client)
        stack.run(.query)
        guard let query = stack.held(.query).first, case .query(let work) = query.job.work else {
            Issue.record("the cache is not asked")
            return
        }
        #expect(work.key == mark)
        #expect(work.destination == .staging)
        stack.finish(query, stack.hit(query))
        stack.finishAll()
        #expect(stack.gets[mark] == 1)
        #expect(stack.isAtRest)
    }

    // MARK: - Sharing

    @Test func twoRequestsShareTheTransferAndTheDecodeOfAnOverlay() {
        var (stack, client) = Stack.staffed()
        let tokens = ["a", "b"].map { stack.load(image($0), by: client) }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.gets[mark] == 1)
        // At the cached original, which is missing, and at the fetched one.
        #expect(stack.counters.coalesced.decodes == 2)
        #expect(stack.isAtRest)
    }

    @Test func aLoadOfTheOverlayItselfSharesItsTransfer() {
        var (stack, client) = Stack.staffed()
        let first = stack.load(image(over: ["http://example.org/m.jpg"]), by: client)
        let second = stack.load(ImageRequest.image("m"), by: client)
        stack.finishAll()
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.gets["http://example.org/m.jpg"] == 1)
        #expect(stack.isAtRest)
    }

    @Test func anImageMayBeLaidOverItself() {
        var (stack, client) = Stack.staffed()
        let url = ImageRequest.image("a").url
        let token = stack.load(image("a", size: nil, over: [url, url]), by: client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func otherOverlaysMakeOtherResults() throws {
        let requests = [
            image(), image(over: [mark + "x"]), image(over: [mark, mark]), image(over: []),
            image().with { $0.steps[1] = .overlay(Overlay(url: mark, x: -3, y: 5)) },
            image().with {
                $0.steps[1] = .overlay(Overlay(url: mark, x: -3, y: 4, opacity: 0.5))
            },
        ]
        let keys = try requests.map { request in
            var terms = LoadTerms()
            terms.overlays = request.preparedOverlays
            return CacheKey.result(request, url: try SourceURL(request.url), terms: terms)
        }
        #expect(Set(keys).count == requests.count)
        var secret = LoadTerms()
        secret.overlays = image().preparedOverlays
        secret.overlays[0].terms.identity = "0123"
        let key = CacheKey.result(
            requests[0], url: try SourceURL(requests[0].url), terms: secret)
        #expect(!keys.contains(key), "overlays aren't shared between identities")
    }

    // MARK: - Failure

    @Test func anOverlayThatCannotBeHadFailsTheRequest() {
        var (stack, _, token) = fetchingMark()
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

    @Test func theFallbackAppliesWithoutTheOverlay() throws {
        let other = "http://example.org/other.jpg"
        var (stack, _, token) = fetchingMark { $0.context.fallback = .url(other) }
        stack.fail(.fetch, .invalidDownloadStatusCode)
        stack.finishAll()
        let image = try #require(stack.image(token))
        #expect(image.fallbackFor?.code == .stepFailed)
        #expect(stack.gets[mark] == 1)
        #expect(stack.isAtRest)
    }

    @Test func anOverlayThatIsTooLargeIsNoReasonToRefuseItsURL() {
        var (stack, client, token) = fetchingMark()
        stack.run(.fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(stack.failure(token)?.details["overlay"] == "limitExceeded")
        let plain = stack.load(ImageRequest(url: mark), by: client)
        stack.finishAll()
        #expect(stack.image(plain) != nil)
        #expect(stack.isAtRest)
    }

    @Test func whoMayNotFetchItHasNone() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image("a", over: nil, .fromCacheOnly), by: client)
        stack.finishAll()
        #expect(stack.isMiss(token))
        #expect(stack.gets.isEmpty)
        #expect(stack.isAtRest)
    }

    @Test func aCachedOriginalThatIsNoImageIsFetched() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(), by: client)
        stack.run(.query)
        if let query = stack.held(.query).first { stack.finish(query, stack.hit(query)) }
        stack.fail(.decode, .badImageData)
        #expect(urls(stack) == [mark])
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [
        ["nonsense"], ["http://user:word@h/a.png"],
        Array(repeating: "http://h/a.png", count: 5),
    ])
    func whatIsNoOverlayIsRefused(urls: [String]) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(over: urls), by: client)
        #expect(stack.error(token) == .invalidRequest)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity])
    func anOpacityIsFromZeroToOne(opacity: Double) {
        var (stack, client) = Stack.staffed()
        let image = ImageRequest.image("a").with {
            $0.steps = [.overlay(Overlay(url: mark, opacity: opacity))]
        }
        let token = stack.load(image, by: client)
        #expect(stack.error(token) == .invalidRequest)
    }

    // MARK: - Losses

    @Test func withTheDecoderTheOverlayIsLostAndMadeAgain() {
        var (stack, _, token) = fetchingMark()
        stack.run(.fetch, .decode)
        stack.kill(stack.worker(.decode))
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aCancelEndsTheTransferOfTheOverlay() {
        var (stack, _, token) = fetchingMark()
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.held(.fetch).isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func whereOverlaysHaveNoRoomTheAnswerIsBusy() {
        var (stack, _, token) = fetchingMark({ _ in }, { $0.workGraph.overlayBytesMax = 1_000 })
        stack.run(.fetch, .decode)
        #expect(stack.error(token) == .busy)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    /// The cache verifies several inputs one after the other.
    @Test(arguments: [false, true])
    func aTransformerThatMissesBytesIsJudgedByAllOfThem(isOverlayMissing: Bool) throws {
        var (stack, client) = Stack.staffed()
        let image = image("a", over: nil, .fromLoaderOnly).with {
            $0.originalStoreCacheTypes = .none
        }
        let token = stack.load(image, by: client)
        stack.run(.fetch, .decode, .fetch, .decode)
        let reader = stack.worker(.transform)
        let decoder = stack.worker(.decode)
        stack.fail(.transform, .stale)
        stack.finish(.store)
        #expect(stack.expelled.isEmpty)
        if isOverlayMissing { stack.fail(.store, .stale) } else { stack.finish(.store) }
        #expect(stack.expelled.map(\.0) == [isOverlayMissing ? decoder : reader])
        stack.hire(isOverlayMissing ? .decode : .transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    // MARK: - Refresh

    @Test func aRefreshLoadsTheOverlayAnewAsWell() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image("a", over: nil, .refreshCached), by: client)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        #expect(stack.replies[token]?.count == 1)
        #expect(urls(stack) == [mark])
        stack.run(.fetch, .query, .decode)
        guard let fetch = stack.held(.fetch).first, case .fetch(let work) = fetch.job.work else {
            Issue.record("the image is not fetched")
            return
        }
        #expect(work.validators == nil, "loads of the same image may have other overlays")
        stack.finishAll()
        #expect(stack.replies[token]?.count == 2)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }
}

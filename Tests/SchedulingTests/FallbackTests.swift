import Model
import Testing

@testable import Coordinator

struct FallbackTests {
    private let other = "http://example.org/other.jpg"
    private let red = Color(argb: 0xFFFF_0000)

    private func request(_ fallback: Fallback?, size: Int? = 8) -> ImageRequest {
        ImageRequest.image("a", size: size).with { $0.context.fallback = fallback }
    }

    /// A stack whose origin doesn't have the image, and the request that is now loading its
    /// fallback.
    private func fallingBack(
        _ fallback: Fallback?, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> (Stack, ClientID, Token) {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let token = stack.load(request(fallback).with(change), by: client)
        while stack.held(.fetch).isEmpty { stack.finish(.query) }
        stack.finish(.fetch, .failed(Self.notFound))
        return (stack, client, token)
    }

    private static let notFound = ImageError(
        .invalidDownloadStatusCode, "as told", details: ["httpStatus": "404"])

    // MARK: - Another URL

    @Test func theFallbackHasTheStepsOfTheImageAndNoneOfItsHeaders() throws {
        var (stack, _, token) = fallingBack(.url(other)) {
            $0.headers = [HTTPHeader(name: "Accept", value: "image/png")]
            $0.output.format = .webp
        }
        #expect(stack.replies[token] == nil)
        stack.run(.query, .query)
        guard case .fetch(let fetch)? = stack.held(.fetch).first?.job.work else {
            Issue.record("the fallback is not fetched")
            return
        }
        #expect(fetch.url == other)
        #expect(fetch.headers.isEmpty)
        stack.run(.fetch, .decode)
        guard case .transform(let transform)? = stack.held(.transform).first?.job.work else {
            Issue.record("the fallback is not transformed")
            return
        }
        #expect(transform.steps == [.resize(PixelSize(width: 8, height: 8), .fit)])
        #expect(transform.output.format == .webp)
        stack.finishAll()
        let image = try #require(stack.image(token))
        #expect(image.fallbackFor == Self.notFound)
        #expect(image.key.hasPrefix("http://example.org/other-"))
        #expect(stack.counters.fallbacks == 1)
        #expect(stack.counters.failed == 0)
        #expect(stack.records[token]?.url == "http://example.org/a.jpg")
        #expect(stack.isAtRest)
    }

    @Test func theFallbackIsStoredUnderItsOwnKeysOnly() {
        var (stack, _, _) = fallingBack(.url(other))
        stack.run(.query, .query, .fetch, .decode, .transform)
        let keys = stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work else { return nil }
            return work.key
        }
        #expect(keys.count == 2)
        #expect(keys.allSatisfy { $0.hasPrefix("http://example.org/other") })
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func theFallbackSharesItsTransferWithLoadsOfItsURL() {
        var (stack, client, token) = fallingBack(.url(other))
        let plain = stack.load(.image("other", size: 8), by: client)
        stack.finishAll()
        #expect(stack.gets[other] == 1)
        #expect(stack.image(token)?.fallbackFor?.code == .invalidDownloadStatusCode)
        #expect(stack.image(plain)?.fallbackFor == nil)
        #expect(stack.image(plain)?.reference == stack.image(token)?.reference)
        #expect(stack.isAtRest)
    }

    @Test func aFallbackInMemoryAnswersAtOnce() throws {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let image = request(.url(other))
        let url = try SourceURL(other)
        let plain = ImageRequest.image("other", size: 8)
        let reference = stack.publish(CacheKey.result(plain, url: url, terms: LoadTerms()))
        let token = stack.load(image, by: client)
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.image(token)?.reference?.block == reference.block)
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.image(token)?.fallbackFor == Self.notFound)
        #expect(stack.isAtRest)
    }

    @Test func aFallbackIsResolvedWhereItIsNeededOnly() {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let url = other
        stack.scheduler.lateResolution = { request, kind in
            #expect(kind == .fallback && request.url == url)
            return Resolution(request, LoadTerms().refusing(.addressForbidden))
        }
        let token = stack.load(request(.url(other)), by: client)
        #expect(stack.reply(token) == nil)
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.failure(token)?.details["fallback"] == "addressForbidden")
        #expect(stack.isAtRest)
    }

    @Test func aBlacklistedURLHasItsFallbackAsWell() {
        var (stack, client) = Stack.staffed()
        _ = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.fail(.fetch, .tooManyRedirects)
        let token = stack.load(request(.url(other)), by: client)
        #expect(stack.replies[token] == nil)
        stack.finishAll()
        #expect(stack.image(token)?.fallbackFor?.code == .blacklisted)
        #expect(stack.gets == ["http://example.org/a.jpg": 1, other: 1])
        #expect(stack.isAtRest)
    }

    @Test func anUploadThatIsNoImageIsFreeWhileItsFallbackIsLoaded() {
        var (stack, client) = Stack.staffed()
        let token = stack.upload("x", by: client) { image in
            image.steps = [.resize(PixelSize(width: 8, height: 8), .fit)]
            image.context.fallback = .url(other)
        }
        stack.finish(.query)
        stack.fail(.decode, .badImageData)
        #expect(stack.producer.live.isEmpty)
        stack.finishAll()
        #expect(stack.image(token)?.fallbackFor?.code == .badImageData)
        #expect(stack.isAtRest)
    }

    // MARK: - A color

    @Test func aColorIsPaintedInTheSizeOfTheResult() throws {
        var (stack, _, token) = fallingBack(.color(red)) {
            $0.steps = [
                .resize(PixelSize(width: 40, height: 30), .fill),
                .rotate(Rotation(degreesClockwise: 90)),
            ]
            $0.output.quality = 90
        }
        guard case .paint(let work)? = stack.held(.transform).first?.job.work else {
            Issue.record("nothing is painted")
            return
        }
        #expect(work.color == red)
        #expect(work.size == PixelSize(width: 30, height: 40))
        #expect(work.output.quality == 90)
        stack.finish(.transform)
        guard case .store(let store)? = stack.held(.store).first?.job.work else {
            Issue.record("nothing is delivered")
            return
        }
        #expect(store.key == nil)
        #expect(store.tiers == .none)
        stack.finishAll()
        let image = try #require(stack.image(token))
        #expect(image.fallbackFor == Self.notFound)
        #expect(image.info.size == PixelSize(width: 30, height: 40))
        #expect(stack.isAtRest)
    }

    @Test func aColorOutlivesItsPainter() {
        var (stack, _, token) = fallingBack(.color(red))
        stack.finish(.transform)
        stack.kill(stack.worker(.transform))
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token)?.fallbackFor == Self.notFound)
        #expect(stack.isAtRest)
    }

    @Test func whatIsTooLargeToBePaintedIsNot() throws {
        let (stack, _, token) = fallingBack(.color(red)) {
            $0.steps = [.resize(PixelSize(width: 32_000, height: 32_000), .fit)]
        }
        let error = try #require(stack.failure(token))
        #expect(error.code == .invalidDownloadStatusCode)
        #expect(error.details["fallback"] == "limitExceeded")
        #expect(stack.isAtRest)
    }

    @Test func aBoxBeyondAllNumbersIsNotReckonedWith() throws {
        var (stack, client) = Stack.staffed()
        let image = request(.color(red)).with {
            $0.steps = Array(
                repeating: .resize(PixelSize(width: .max, height: .max), .fit), count: 2)
        }
        let token = stack.load(image, by: client)
        let error = try #require(stack.failure(token))
        #expect(error.code == .limitExceeded)
        #expect(error.details["fallback"] == "limitExceeded")
        #expect(stack.isAtRest)
    }

    @Test func aColorHasNoFacts() {
        let (stack, _, token) = fallingBack(.color(red)) {
            $0.steps = []
            $0.infoOnly = true
        }
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    // MARK: - No fallback

    @Test func theErrorOfTheImageIsToldWhereTheFallbackFailsToo() throws {
        var (stack, _, token) = fallingBack(.url(other))
        stack.run(.query, .query)
        stack.fail(.fetch, .tlsFailed)
        let error = try #require(stack.failure(token))
        #expect(error.code == .invalidDownloadStatusCode)
        #expect(error.details == ["httpStatus": "404", "fallback": "tlsFailed"])
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.counters.failures == [.invalidDownloadStatusCode: 1])
        #expect(stack.isAtRest)
    }

    @Test func aFallbackThatFailedForGoodIsNotAskedAgain() throws {
        var (stack, client, _) = fallingBack(.url(other))
        stack.run(.query, .query)
        stack.fail(.fetch, .tooManyRedirects)
        let token = stack.load(request(.url(other)), by: client)
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.failure(token)?.details["fallback"] == "blacklisted")
        #expect(stack.gets[other] == 1)
        #expect(stack.isAtRest)
    }

    @Test func aFallbackThatNoCacheHasIsAnErrorWhereNothingMayBeLoaded() {
        var (stack, client) = Stack.staffed()
        _ = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.fail(.fetch, .tooManyRedirects)
        let image = request(.url(other)).with { $0.options = .fromCacheOnly }
        let token = stack.load(image, by: client)
        stack.run(.query, .query)
        #expect(stack.failure(token)?.code == .blacklisted)
        #expect(stack.failure(token)?.details["fallback"] == "miss")
        #expect(stack.isAtRest)
    }

    @Test(arguments: ErrorCode.allCases) func onlyFailuresOfTheImageHaveAFallback(code: ErrorCode) {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        // These four do not end a request.
        guard ![.arenaFull, .cancelled, .shuttingDown, .stale].contains(code) else { return }
        let token = stack.load(
            request(.color(red)).with { $0.options = .fromLoaderOnly }, by: client)
        stack.fail(.fetch, code)
        #expect(stack.held(.transform).count == (code.admitsFallback ? 1 : 0))
        #expect(stack.error(token) == (code.admitsFallback ? nil : code))
    }

    @Test func whatIsBusyHasNoFallback() {
        var (stack, client) = Stack.staffed { $0.requestsPerClientMax = 1 }
        _ = stack.load(.image("b"), by: client)
        let token = stack.load(request(.color(red)), by: client)
        #expect(stack.error(token) == .busy)
    }

    @Test func aCachedImageThatCannotBeRefreshedNeedsNoFallback() {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let image = request(.url(other)).with { $0.options = .refreshCached }
        let token = stack.load(image, by: client)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query))
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.replies[token]?.map(\.isRefreshing) == [true, false])
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test func whatIsPrefetchedHasNoFallback() {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let batch = stack.prefetch(["a"], by: client, like: request(.url(other)))
        while stack.held(.fetch).isEmpty { stack.finish(.query) }
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.prefetchReports[batch]?.last?.skipped == 1)
        #expect(stack.gets[other] == nil)
        #expect(stack.isAtRest)
    }

    @Test(arguments: ["no url", "", "http://user:word@example.org/a.jpg"])
    func aFallbackThatCannotBeLoadedIsRefusedAtOnce(url: String) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(request(.url(url)), by: client)
        #expect(stack.error(token) == .invalidRequest)
        #expect(stack.isAtRest)
    }

    // MARK: - One request

    @Test func whoCancelsTheRequestCancelsItsFallback() throws {
        var (stack, client, token) = fallingBack(.url(other))
        stack.run(.query, .query)
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.failure(token)?.details.isEmpty == true)
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest)
    }

    @Test func theDeadlineIsThatOfTheRequest() {
        var (stack, _, token) = fallingBack(.url(other)) { $0.timeoutMilliseconds = 500 }
        stack.run(.query, .query)
        stack.pass(milliseconds: 500)
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.failure(token)?.details["fallback"] == "deadlineExceeded")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aRequestWhoseTimeIsUpHasNoFallback() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(
            request(.color(red)).with { $0.timeoutMilliseconds = 100 }, by: client)
        stack.pass(milliseconds: 100)
        #expect(stack.error(token) == .deadlineExceeded)
    }

    @Test func theFallbackIsAsUrgentAsTheRequest() {
        var (stack, client, token) = fallingBack(.url(other))
        stack.send(.reprioritize(client, token, .high))
        #expect(stack.held(.query).map(\.priority) == [.high])
    }
}

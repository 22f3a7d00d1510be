import Model
import Testing

@testable import Coordinator

struct FallbackTests {
    private var stack = Stack.staffed()
    private static let other = "http://example.org/other.jpg"
    private static let red = Color(argb: 0xFFFF_0000)

    private func request(_ fallback: Fallback?, size: Int? = 8) -> ImageRequest {
        ImageRequest.image("a", size: size).with { $0.context.fallback = fallback }
    }

    /// A stack whose origin doesn't have the image, and the request that is now loading its
    /// fallback.
    @discardableResult
    private mutating func fallingBack(
        _ fallback: Fallback?, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let token = stack.load(request(fallback).with(change))
        while stack.held(.fetch).isEmpty { stack.finish(.query) }
        stack.finish(.fetch, .failed(Self.notFound))
        return token
    }

    private static let notFound = ImageError(
        .invalidDownloadStatusCode, "as told", details: ["httpStatus": "404"])

    // MARK: - Another URL

    @Test mutating func theFallbackHasTheStepsOfTheImageAndNoneOfItsHeaders() throws {
        let token = fallingBack(.url(Self.other)) {
            $0.headers = [HTTPHeader(name: "Accept", value: "image/png")]
            $0.output.format = .webp
        }
        #expect(stack.replies[token] == nil)
        stack.run(.query, .query)
        let fetch = try #require(stack.fetches.first)
        #expect(fetch.url == Self.other)
        #expect(fetch.headers.isEmpty)
        stack.run(.fetch, .decode)
        let transform = try #require(stack.held(.transform).first?.job.work.transform)
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

    @Test mutating func theFallbackIsStoredUnderItsOwnKeysOnly() {
        fallingBack(.url(Self.other))
        stack.run(.query, .query, .fetch, .decode, .transform)
        let keys = stack.stores.compactMap(\.key)
        #expect(keys.count == 2)
        #expect(keys.allSatisfy { $0.hasPrefix("http://example.org/other") })
        stack.end()
    }

    @Test mutating func theFallbackSharesItsTransferWithLoadsOfItsURL() {
        let token = fallingBack(.url(Self.other))
        let plain = stack.load(.image("other", size: 8))
        stack.end()
        #expect(stack.gets[Self.other] == 1)
        #expect(stack.image(token)?.fallbackFor?.code == .invalidDownloadStatusCode)
        #expect(stack.image(plain)?.fallbackFor == nil)
        #expect(stack.image(plain)?.reference == stack.image(token)?.reference)
    }

    @Test mutating func aFallbackInMemoryAnswersAtOnce() throws {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let image = request(.url(Self.other))
        let url = try SourceURL(Self.other)
        let plain = ImageRequest.image("other", size: 8)
        let reference = stack.publish(CacheKey.result(plain, url: url, terms: LoadTerms()))
        let token = stack.load(image)
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.image(token)?.reference?.block == reference.block)
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.image(token)?.fallbackFor == Self.notFound)
        #expect(stack.isAtRest)
    }

    @Test mutating func aFallbackIsResolvedWhereItIsNeededOnly() {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let url = Self.other
        stack.scheduler.lateResolution = { request, kind in
            #expect(kind == .fallback && request.url == url)
            return Resolution(request, LoadTerms().refusing(.addressForbidden))
        }
        let token = stack.load(request(.url(Self.other)))
        #expect(stack.reply(token) == nil)
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.failure(token)?.details["fallback"] == "addressForbidden")
        #expect(stack.isAtRest)
    }

    @Test mutating func aBlacklistedURLHasItsFallbackAsWell() {
        _ = stack.load(.loader())
        stack.fail(.fetch, .tooManyRedirects)
        let token = stack.load(request(.url(Self.other)))
        #expect(stack.replies[token] == nil)
        stack.end()
        #expect(stack.image(token)?.fallbackFor?.code == .blacklisted)
        #expect(stack.gets == ["http://example.org/a.jpg": 1, Self.other: 1])
    }

    @Test mutating func anUploadThatIsNoImageIsFreeWhileItsFallbackIsLoaded() {
        let token = stack.upload("x") { image in
            image.steps = [.resize(PixelSize(width: 8, height: 8), .fit)]
            image.context.fallback = .url(Self.other)
        }
        stack.finish(.query)
        stack.fail(.decode, .badImageData)
        #expect(stack.producer.live.isEmpty)
        stack.end()
        #expect(stack.image(token)?.fallbackFor?.code == .badImageData)
    }

    // MARK: - A color

    @Test mutating func aColorIsPaintedInTheSizeOfTheResult() throws {
        let token = fallingBack(.color(Self.red)) {
            $0.steps = [
                .resize(PixelSize(width: 40, height: 30), .fill),
                .rotate(Rotation(degreesClockwise: 90)),
            ]
            $0.output.quality = 90
        }
        let work = try #require(stack.held(.transform).first?.job.work.paint)
        #expect(work.color == Self.red)
        #expect(work.size == PixelSize(width: 30, height: 40))
        #expect(work.output.quality == 90)
        stack.finish(.transform)
        let store = try #require(stack.stores.first)
        #expect(store.key == nil)
        #expect(store.tiers == .none)
        stack.finishAll()
        let image = try #require(stack.image(token))
        #expect(image.fallbackFor == Self.notFound)
        #expect(image.info.size == PixelSize(width: 30, height: 40))
        #expect(stack.isAtRest)
    }

    @Test mutating func aColorOutlivesItsPainter() {
        let token = fallingBack(.color(Self.red))
        stack.finish(.transform)
        stack.replace(.transform)
        stack.end()
        #expect(stack.image(token)?.fallbackFor == Self.notFound)
    }

    @Test mutating func whatIsTooLargeToBePaintedIsNot() throws {
        let token = fallingBack(.color(Self.red)) {
            $0.steps = [.resize(PixelSize(width: 32_000, height: 32_000), .fit)]
        }
        let error = try #require(stack.failure(token))
        #expect(error.code == .invalidDownloadStatusCode)
        #expect(error.details["fallback"] == "limitExceeded")
        #expect(stack.isAtRest)
    }

    @Test mutating func aBoxBeyondAllNumbersIsNotReckonedWith() throws {
        let image = request(.color(Self.red)).with {
            $0.steps = Array(
                repeating: .resize(PixelSize(width: .max, height: .max), .fit), count: 2)
        }
        let token = stack.load(image)
        let error = try #require(stack.failure(token))
        #expect(error.code == .limitExceeded)
        #expect(error.details["fallback"] == "limitExceeded")
        #expect(stack.isAtRest)
    }

    @Test mutating func aColorHasNoFacts() {
        let token = fallingBack(.color(Self.red)) {
            $0.steps = []
            $0.infoOnly = true
        }
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    // MARK: - No fallback

    @Test mutating func theErrorOfTheImageIsToldWhereTheFallbackFailsToo() throws {
        let token = fallingBack(.url(Self.other))
        stack.run(.query, .query)
        stack.fail(.fetch, .tlsFailed)
        let error = try #require(stack.failure(token))
        #expect(error.code == .invalidDownloadStatusCode)
        #expect(error.details == ["httpStatus": "404", "fallback": "tlsFailed"])
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.counters.failures == [.invalidDownloadStatusCode: 1])
        #expect(stack.isAtRest)
    }

    @Test mutating func aFallbackThatFailedForGoodIsNotAskedAgain() throws {
        fallingBack(.url(Self.other))
        stack.run(.query, .query)
        stack.fail(.fetch, .tooManyRedirects)
        let token = stack.load(request(.url(Self.other)))
        stack.run(.query, .query)
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.failure(token)?.details["fallback"] == "blacklisted")
        #expect(stack.gets[Self.other] == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func aFallbackThatNoCacheHasIsAnErrorWhereNothingMayBeLoaded() {
        _ = stack.load(.loader())
        stack.fail(.fetch, .tooManyRedirects)
        let image = request(.url(Self.other)).with { $0.options = .fromCacheOnly }
        let token = stack.load(image)
        stack.run(.query, .query)
        #expect(stack.failure(token)?.code == .blacklisted)
        #expect(stack.failure(token)?.details["fallback"] == "miss")
        #expect(stack.isAtRest)
    }

    @Test(arguments: ErrorCode.allCases) mutating func onlyFailuresOfTheImageHaveAFallback(
        code: ErrorCode
    ) {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        // These four do not end a request.
        guard ![.arenaFull, .cancelled, .shuttingDown, .stale].contains(code) else { return }
        let token = stack.load(request(.color(Self.red)).with { $0.options = .fromLoaderOnly })
        stack.fail(.fetch, code)
        #expect(stack.held(.transform).count == (code.admitsFallback ? 1 : 0))
        #expect(stack.error(token) == (code.admitsFallback ? nil : code))
    }

    @Test mutating func whatIsBusyHasNoFallback() {
        stack = Stack.staffed { $0.requestsPerClientMax = 1 }
        _ = stack.load(.image("b"))
        #expect(stack.refusal(of: request(.color(Self.red))) == .busy)
    }

    @Test mutating func aCachedImageThatCannotBeRefreshedNeedsNoFallback() {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let image = request(.url(Self.other)).with { $0.options = .refreshCached }
        let token = stack.load(image)
        stack.find()
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.replies[token]?.map(\.isRefreshing) == [true, false])
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test mutating func whatIsPrefetchedHasNoFallback() {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let batch = stack.prefetch(["a"], like: request(.url(Self.other)))
        while stack.held(.fetch).isEmpty { stack.finish(.query) }
        stack.finish(.fetch, .failed(Self.notFound))
        #expect(stack.prefetchReports[batch]?.last?.skipped == 1)
        #expect(stack.gets[Self.other] == nil)
        #expect(stack.isAtRest)
    }

    @Test(arguments: ["no url", "", "http://user:word@example.org/a.jpg"])
    mutating func aFallbackThatCannotBeLoadedIsRefusedAtOnce(url: String) {
        #expect(stack.refusal(of: request(.url(url))) == .invalidRequest)
        #expect(stack.isAtRest)
    }

    // MARK: - One request

    @Test mutating func whoCancelsTheRequestCancelsItsFallback() throws {
        let token = fallingBack(.url(Self.other))
        stack.run(.query, .query)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        #expect(stack.failure(token)?.details.isEmpty == true)
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        stack.end()
        #expect(stack.replies[token]?.count == 1)
    }

    @Test mutating func theDeadlineIsThatOfTheRequest() {
        let token = fallingBack(.url(Self.other)) { $0.timeoutMilliseconds = 500 }
        stack.run(.query, .query)
        stack.pass(milliseconds: 500)
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.failure(token)?.details["fallback"] == "deadlineExceeded")
        stack.end()
    }

    @Test mutating func aRequestWhoseTimeIsUpHasNoFallback() {
        let token = stack.load(request(.color(Self.red)).within(milliseconds: 100))
        stack.pass(milliseconds: 100)
        #expect(stack.error(token) == .deadlineExceeded)
    }

    @Test mutating func theFallbackIsAsUrgentAsTheRequest() {
        let token = fallingBack(.url(Self.other))
        stack.reprioritize(token, .high)
        #expect(stack.held(.query).map(\.priority) == [.high])
    }
}

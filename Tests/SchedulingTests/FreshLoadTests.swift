import Model
import Testing

@testable import Coordinator

/// respectCacheControl: a cached image is used as long as its origin permits (SEMANTICS §6.5).
struct FreshLoadTests {
    private static let image = ImageRequest.image(size: 100, .respectCacheControl)
    private static let key = "http://example.org/a.jpg"
    private static let control = "max-age=60, stale-while-revalidate=30, stale-if-error=100"

    private var stack = Stack.staffed()
    private var token = Token(0)

    /// A load of an image that is in the cache, with an age in seconds.
    private mutating func begin(
        age: Int64, _ control: String? = control, length: UInt64 = 1_000,
        terms: LoadTerms = LoadTerms(), _ change: (inout ImageRequest) -> Void = { _ in }
    ) {
        stack = Stack()
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        stack.age = 0
        stack.hireAll()
        token = stack.load(Self.image.with(change), terms: terms)
        found(age: age, control, length: length)
    }

    /// The cache has it.
    private mutating func found(age: Int64, _ control: String?, length: UInt64 = 1_000) {
        stack.finishRenewals()
        guard !stack.held(.query).isEmpty else { return }
        stack.find(length: length, etag: "\"1\"", caching: control.map { caching(age: age, $0) })
    }

    private func caching(age: Int64, _ control: String = control) -> OriginCaching {
        let born = stack.scheduler.calendarNow - age * 1_000
        return OriginCaching(CacheControl(control), ResponseAge(bornMilliseconds: born))
    }

    /// Repeats the load; the cache has the same entry.
    private mutating func again(age: Int64, _ control: String = control) {
        token = stack.load(Self.image)
        found(age: age, control)
    }

    private var outcome: Reply.Outcome? { stack.reply(token)?.outcome }
    private var image: DeliveredImage? { stack.image(token) }
    private var conditions: [Validators?] { stack.fetches.map(\.validators) }

    private static let v1 = Validators(etag: "\"1\"", lastModified: nil)

    @Test mutating func whatIsFreshIsDelivered() {
        begin(age: 59)
        #expect(image?.cacheType == .disk)
        #expect(image?.validity?.etag == "\"1\"")
        #expect(image?.validity?.caching == caching(age: 59, Self.control))
        #expect(stack.held(.fetch).isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoDoesNotAskForItGetsWhatIsStale() {
        begin(age: 9_999) { $0.options = [] }
        #expect(image != nil)
        #expect(image?.validity == nil)
        #expect(stack.held(.fetch).isEmpty)
        begin(age: 9_999) { $0.options.insert(.fromCacheOnly) }
        #expect(image != nil)
        #expect(stack.held(.fetch).isEmpty)
    }

    @Test mutating func whatMayBeStaleIsDeliveredAndAskedAboutOnce() {
        begin(age: 60)
        #expect(image?.cacheType == .disk)
        #expect(conditions == [Self.v1])
        again(age: 89)
        #expect(image?.cacheType == .disk)
        #expect(conditions == [Self.v1], "one question for both")
        stack.finish(.fetch, .failed(stack.notModified("max-age=10")))
        let renewed = stack.finishRenewals()
        // The image and its original, renewed with the latest caching data, as their bytes are
        // those.
        #expect(Set(renewed.map(\.key)).count == 2 && renewed.count == 2)
        #expect(renewed.contains { $0.key == Self.key })
        #expect(renewed.allSatisfy { $0.renewal?.caching?.cacheControl.maxAge == 10 })
        #expect(renewed.allSatisfy { $0.renewal?.etag == "\"1\"" })
        #expect(stack.isAtRest, "\(stack)")
        again(age: 95)
        #expect(image?.cacheType == .disk, "the answer has renewed it")
        #expect(image?.validity?.expiry?.freshFor == 10_000)
        #expect(stack.held(.fetch).isEmpty)
        // The result read earlier still had the old data: the cache is updated once more.
        let renewedKeys = stack.finishRenewals().map(\.key)
        #expect(
            renewedKeys.count == 1 && renewedKeys.first?.contains("FitTransformer") == true,
            "\(renewedKeys)")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theBackgroundOutlivesItsClientAndReplacesWhatChanged() {
        begin(age: 60)
        stack.disconnect()
        #expect(conditions == [Self.v1])
        let stored = stack.finishJobs().filter { $0.storedKey != nil && $0.store?.delivers == true }
        #expect(stored.count == 1)
        stack.expectRest()
    }

    /// A transfer that nothing waits for would delay the end of the stack.
    @Test mutating func aStackThatDrainsAsksNobodyInTheBackground() {
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        let token = stack.load(Self.image)
        stack.send(.drain)
        found(age: 60, Self.control)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.held(.fetch).isEmpty && stack.wasDrained)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: [90, 9_999])
    mutating func theOriginIsAskedFirst(age: Int64) {
        begin(age: age)
        #expect(outcome == nil)
        #expect(conditions == [Self.v1])
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        #expect(image?.cacheType == .disk)
        #expect(image?.validity?.originFailure == nil)
        #expect(stack.replies[token]?.count == 1)
        // The 304 had no caching data, so the previous data applies again (RFC 9111 §4.3.4).
        #expect(image?.validity?.expiry?.freshFor == 60_000)
        again(age: age)
        #expect(image != nil)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 91_000)
        again(age: age)
        #expect(outcome == nil)
        stack.end()
    }

    /// The clock was a day ahead when the image was stored.
    @Test mutating func whatAFastClockStoredIsAskedForOnce() {
        begin(age: -86_400)
        #expect(outcome == nil)
        #expect(conditions == [Self.v1])
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        #expect(image?.cacheType == .disk)
        again(age: -86_400)
        #expect(image?.cacheType == .disk)
        #expect(stack.held(.fetch).isEmpty, "the origin has just confirmed it")
        stack.pass(milliseconds: 91_000)
        again(age: -86_400)
        #expect(outcome == nil)
        while outcome == nil {
            for held in stack.held(.fetch) { stack.fail(held, .timedOut) }
            stack.pass(milliseconds: 1)
        }
        // From the confirmation on, it may be served for 160 s if its origin fails.
        #expect(image?.validity?.originFailure?.code == .timedOut)
        stack.end()
    }

    @Test mutating func severalWaitForOneAnswer() {
        begin(age: 90)
        let tokens = (0..<3).map { _ in
            let token = stack.load(Self.image)
            found(age: 90, Self.control)
            return token
        }
        #expect(conditions == [Self.v1])
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        stack.goOn()
        #expect(tokens.allSatisfy { stack.image($0)?.cacheType == .disk })
        #expect(stack.finishRenewals().count == 2, "for all of them")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: [nil, "max-age=0", "no-cache, max-age=60"])
    mutating func whatIsNeverFreshIsAlwaysAskedFor(control: String?) {
        begin(age: 0, control)
        #expect(outcome == nil)
        stack.finish(.fetch, .failed(stack.notModified(control)))
        #expect(image?.cacheType == .disk)
        again(age: 0, control ?? "")
        #expect(conditions.count == 1)
        stack.end()
    }

    /// A client without an assumed lifetime stored the image, and the origin states none. A client
    /// that assumes one causes one query to the origin; the result is kept for the next
    /// coordinator.
    @Test mutating func whatAnotherOneHadStoredIsAskedAboutOnce() throws {
        let terms = LoadTerms().with { $0.assumedLifetime = AssumedLifetime(fresh: 3_600) }
        begin(age: 9_999, "", terms: terms)
        #expect(outcome == nil)
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        #expect(image?.cacheType == .disk)
        let renewed = stack.finishRenewals()
        #expect(renewed.count == 2 && renewed.allSatisfy { $0.renewal?.etag == "\"1\"" })
        let kept = try #require(renewed.first?.renewal?.caching)
        #expect(kept.age.bornMilliseconds == stack.scheduler.calendarNow)
        token = stack.load(Self.image, terms: terms)
        found(age: 9_999, "")
        #expect(image?.cacheType == .disk && stack.held(.fetch).isEmpty)
        // Another coordinator reads the stored data.
        begin(age: 0, kept.cacheControl.field ?? "", terms: terms)
        #expect(image?.cacheType == .disk && stack.held(.fetch).isEmpty)
    }

    @Test mutating func whatHasChangedIsDeliveredAlone() {
        begin(age: 90)
        stack.cacheControl = "max-age=7"
        stack.end()
        #expect(stack.replies[token]?.count == 1)
        #expect(image?.cacheType == CacheTypes.none)
        #expect(image?.validity?.expiry?.freshFor == 7_000)
    }

    // MARK: - Origin failures

    private static let failures: [(ErrorCode, String?, Bool)] = [
        (.connectionFailed, nil, true), (.nameNotResolved, nil, true), (.timedOut, nil, true),
        (.invalidDownloadStatusCode, "503", true), (.invalidDownloadStatusCode, "500", true),
        (.invalidDownloadStatusCode, "404", false), (.invalidDownloadStatusCode, "429", false),
        (.tlsFailed, nil, false), (.addressForbidden, nil, false),
    ]

    @Test(arguments: failures)
    mutating func anOriginThatFails(code: ErrorCode, status: String?, isServed: Bool) {
        for (age, mayServe) in [(90, isServed), (159, isServed), (160, false)] as [(Int64, Bool)] {
            begin(age: age)
            let error = ImageError(code, "drawn", details: status.map { ["httpStatus": $0] } ?? [:])
            while outcome == nil {
                for held in stack.held(.fetch) { stack.finish(held, .failed(error)) }
                stack.pass(milliseconds: 1)
            }
            if mayServe {
                #expect(image?.cacheType == .disk)
                #expect(image?.validity?.originFailure?.code == code)
            } else {
                #expect(stack.error(token) == code)
            }
            #expect(stack.isAtRest, "\(stack)")
        }
    }

    @Test mutating func whatMustBeConfirmedIsNotServedAfterAFailure() {
        begin(age: 61, "max-age=60, must-revalidate, stale-if-error=100")
        stack.fail(.fetch, .tlsFailed)
        #expect(stack.error(token) == .tlsFailed)
        begin(age: 61, "max-age=60, must-revalidate, stale-if-error=100")
        stack.pass(milliseconds: 30_000)
        #expect(stack.error(token) == .deadlineExceeded)
    }

    @Test mutating func anOriginThatIsSilentUntilTheDeadlineHasFailed() {
        begin(age: 90)
        stack.pass(milliseconds: 30_000)
        #expect(image?.validity?.originFailure?.code == .deadlineExceeded)
        stack.end()
    }

    @Test mutating func aCancelEndsItAsAlways() {
        begin(age: 90, length: 2 << 20)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        stack.end()
    }

    /// Found by a random walk: the held image lost its reader twice.
    @Test mutating func aRefusedFallbackLeavesNoReaderOfTheHeldImage() throws {
        let fallback = Fallback.url("http://example.org/b.jpg")
        begin(age: 9_999, length: 2 << 20) { $0.context.fallback = fallback }
        let block = try #require(stack.workers[stack.worker(.cache)]?.large.keys.first)
        let handle = BlockHandle(worker: stack.worker(.cache), block: block)
        #expect(stack.scheduler.hits.blocks.readers(of: handle) == 1)
        stack.scheduler.lateResolution = { request, _ in
            Resolution(request, LoadTerms().refusing(.addressForbidden))
        }
        stack.fail(.fetch, .tlsFailed)
        #expect(stack.failure(token)?.details["fallback"] == "addressForbidden")
        #expect(stack.scheduler.hits.blocks.readers(of: handle) == 0)
        stack.evict(block)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - The cache

    @Test mutating func anImageThatIsHeldIsFetchedAgainWhereTheCacheWasLost() {
        begin(age: 90)
        stack.kill(stack.worker(.cache))
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        #expect(outcome == nil)
        stack.hire(.cache, credit: 4)
        stack.end()
        #expect(image?.cacheType == CacheTypes.none)
    }

    @Test mutating func memoryAnswersWhatIsFreshAlone() {
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        let born = stack.scheduler.calendarNow
        let caching = OriginCaching(
            CacheControl("max-age=60, stale-while-revalidate=30"),
            ResponseAge(bornMilliseconds: born))
        let image = ImageRequest.image("a", .respectCacheControl)
        stack.publish(Self.key, validity: Validity(caching: caching, etag: "\"1\""))
        let fresh = stack.load(image)
        #expect(stack.image(fresh)?.cacheType == .memory)
        #expect(stack.image(fresh)?.validity?.caching == caching)
        #expect(stack.image(fresh)?.validity?.expiry == caching.expiry(.shared))
        stack.pass(milliseconds: 60_000)
        let plain = stack.load(.image())
        #expect(stack.image(plain)?.validity == nil)
        let stale = stack.load(image)
        #expect(stack.image(stale) == nil)
        #expect(stack.held(.query).count == 1, "the cache knows more")
        stack.end()
    }

    /// A result made from a cached original is as fresh as the original.
    @Test mutating func anOriginalHasItsOwnAge() {
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        stack.age = 0
        let token = stack.load(Self.image)
        stack.finish(.query)
        let caching = caching(age: 90, "max-age=60")
        stack.find(etag: "\"1\"", caching: caching)
        var stored: [OriginCaching?] = []
        while let held = stack.allHeld.first(where: { $0.job.work.stage != .fetch }) {
            if case .store(let work) = held.job.work { stored.append(work.metadata.caching) }
            stack.finish(held)
        }
        #expect(stored == [caching])
        #expect(stack.image(token) == nil)
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.finishRenewals().count == 2)
        #expect(stack.isAtRest, "\(stack)")
    }
}

/// Confirmations by an origin are shared with other machines through an external cache
/// (SEMANTICS §6.7).
@Suite struct SharedValidityTests {
    private static let image = ImageRequest.image(size: 100, .respectCacheControl)
    private static let control = "max-age=60, stale-while-revalidate=30"
    private var stack = Stack.withTeam(
        CacheLayout(
            ["both": CompositeCache(of: ["theirs", "low"], policies: [.store: .serial])],
            external: ["theirs": ExternalCache(pool: "team", timeout: 200)]))
    private let terms = LoadTerms.kept(in: "both")

    init() {
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        stack.age = 0
        stack.hireTeam()
    }

    /// Keys queried at external caches.
    private var questions: [String] {
        stack.theirs.compactMap(\.work.entry).filter(\.wantsValidity).map(\.key)
    }

    private func caching(age: Int64, _ control: String = SharedValidityTests.control)
        -> OriginCaching
    {
        let born = stack.scheduler.calendarNow - age * 1_000
        return OriginCaching(CacheControl(control), ResponseAge(bornMilliseconds: born))
    }

    /// Our own cache has the image with that age in seconds.
    private mutating func load(age: Int64) -> Token {
        let token = stack.load(Self.image, terms: terms)
        if let query = stack.held(.query).first(where: { $0.work.query != nil }) {
            stack.finish(query, stack.hit(query, etag: "\"1\"", caching: caching(age: age)))
        }
        return token
    }

    private mutating func confirm(_ age: Int64, etag: String = "\"1\"") {
        stack.finish(stack.theirs[0], .validity(Validity(caching: caching(age: age), etag: etag)))
    }

    @Test mutating func whatAnotherMachineHadConfirmedIsNotAskedForAgain() throws {
        let token = load(age: 200)
        #expect(questions.count == 1 && questions[0].hasPrefix("theirs\u{1F}"))
        #expect(stack.held(.fetch).isEmpty && stack.image(token) == nil)
        confirm(10)
        #expect(stack.image(token)?.cacheType == .disk && stack.held(.fetch).isEmpty)
        #expect(stack.image(token)?.validity?.caching == caching(age: 10))
        #expect(stack.theirs.isEmpty, "it isn't sent its own confirmation")
        let renewed = stack.finishRenewals()
        #expect(renewed.count == 2 && renewed.allSatisfy { $0.key.hasPrefix("low\u{1F}") })
        let second = load(age: 200)
        #expect(stack.image(second) != nil && stack.theirs.isEmpty && stack.held(.fetch).isEmpty)
        stack.end()
        #expect(stack.gets.isEmpty)
    }

    @Test mutating func whereItKnowsNothingNewTheOriginIsAsked() {
        let token = load(age: 200)
        confirm(300)
        #expect(questions.count == 1 && questions[0].contains("a.jpg"), "the original is next")
        #expect(stack.held(.fetch).isEmpty)
        confirm(10, etag: "\"2\"")
        #expect(stack.held(.fetch).count == 1, "those are other bytes")
        stack.finish(.fetch, .failed(stack.notModified("max-age=5")))
        #expect(stack.image(token) != nil)
        var renewals: [EntryWork] = []
        while let held = stack.theirs.first {
            if case .entry(let work) = held.job.work { renewals.append(work) }
            stack.finish(held)
        }
        #expect(
            renewals.count == 2 && renewals.allSatisfy { $0.action == .renew && $0.tiers == .disk })
        #expect(renewals.allSatisfy { $0.renewal?.caching?.cacheControl.maxAge == 5 })
        #expect(renewals.allSatisfy { $0.renewal?.etag == "\"1\"" && $0.renewal?.expiry != nil })
        stack.end()
    }

    @Test(arguments: [100, -10])
    mutating func whatIsStaleOrFromTheFutureDoesNotCount(age: Int64) {
        let token = load(age: 200)
        confirm(age)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.gets["http://example.org/a.jpg"] == 1)
        #expect(stack.image(token) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoIsServedStaleHasItAskedInTheBackground() {
        let token = load(age: 70)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(questions.count == 1 && stack.held(.fetch).isEmpty)
        confirm(1)
        stack.finishRenewals()
        #expect(stack.gets.isEmpty && stack.isAtRest, "\(stack)")
    }

    @Test mutating func severalAskOnce() {
        let tokens = (0..<3).map { _ in load(age: 200) }
        #expect(questions.count == 1)
        confirm(10)
        stack.goOn()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        stack.end()
        #expect(stack.gets.isEmpty)
    }

    /// A worker of an earlier version only reports whether it has the entry.
    @Test mutating func anEarlierWorkerCostsAQuestion() {
        let token = load(age: 200)
        while let held = stack.theirs.first { stack.finish(held) }
        #expect(stack.held(.fetch).count == 1)
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        while let held = stack.theirs.first {
            stack.finish(held, .failed(ImageError(.notSupported, "it does not")))
        }
        #expect(stack.image(token) != nil)
        #expect(stack.teamCounter("Errors") == 0)
        // A request that it didn't support isn't counted as a removal: it stays trusted.
        stack.finishAll()
        let second = stack.load(.image("b"), terms: terms)
        stack.finishAll()
        #expect(stack.image(second) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func aSlowCacheIsNotWaitedFor() {
        _ = load(age: 200)
        stack.pass(milliseconds: 200)
        #expect(stack.held(.fetch).isEmpty && questions.count == 1, "the original is next")
        stack.pass(milliseconds: 200)
        #expect(stack.held(.fetch).count == 1)
        stack.end()
    }

    @Test mutating func anExplicitRefreshAsksTheOrigin() {
        let image = ImageRequest.image(size: 100, .refreshCached)
        stack.load(image, terms: terms)
        stack.find(etag: "\"1\"")
        #expect(questions.isEmpty && stack.held(.fetch).count == 1)
        stack.end()
    }

    /// After a removal by an operator, only the origin can confirm the entry.
    @Test mutating func afterARemovalItsAnswerDoesNotCount() {
        let token = load(age: 200)
        var command = CacheCommand(number: 1, action: .removeSelected, key: "")
        command.selection.url = "http://example.org/a.jpg"
        stack.ask(command)
        confirm(10)
        stack.finishAll()
        #expect(stack.gets["http://example.org/a.jpg"] == 1)
        #expect(stack.image(token) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoLeavesStopsAsking() {
        let token = load(age: 200)
        stack.cancel(token)
        #expect(stack.theirs.isEmpty)
        stack.end()
    }
}

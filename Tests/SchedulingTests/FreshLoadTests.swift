import Model
import Testing

@testable import Coordinator

/// respectCacheControl: a cached image is used as long as its origin permits (SEMANTICS §6.5).
struct FreshLoadTests {
    private static let image = ImageRequest.image(size: 100, .respectCacheControl)
    private static let key = "http://example.org/a.jpg"
    private static let control =
        "max-age=60, stale-while-revalidate=30, stale-if-error=100"

    private struct Setting {
        var stack = Stack()
        let client: ClientID
        var token: Token

        /// A load of an image that is in the cache, with an age in seconds.
        init(
            age: Int64, _ control: String? = FreshLoadTests.control, length: UInt64 = 1_000,
            terms: LoadTerms = LoadTerms(), _ change: (inout ImageRequest) -> Void = { _ in }
        ) {
            stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
            stack.age = 0
            stack.hireAll()
            client = stack.connect()
            token = stack.load(FreshLoadTests.image.with(change), by: client, terms: terms)
            found(age: age, control, length: length)
        }

        /// The cache has it.
        mutating func found(age: Int64, _ control: String?, length: UInt64 = 1_000) {
            stack.finishRenewals()
            guard let held = stack.held(.query).first else { return }
            stack.finish(
                held,
                stack.hit(
                    held, length: length, etag: "\"1\"",
                    caching: control.map { caching(age: age, $0) }))
        }

        func caching(age: Int64, _ control: String) -> OriginCaching {
            let born = stack.scheduler.calendarNow - age * 1_000
            return OriginCaching(CacheControl(control), ResponseAge(bornMilliseconds: born))
        }

        /// Repeats the load; the cache has the same entry.
        mutating func again(age: Int64, _ control: String = FreshLoadTests.control) {
            token = stack.load(FreshLoadTests.image, by: client)
            found(age: age, control)
        }

        var outcome: Reply.Outcome? { stack.reply(token)?.outcome }
        var image: DeliveredImage? { stack.image(token) }
        var conditions: [Validators?] {
            stack.held(.fetch).map {
                if case .fetch(let work) = $0.job.work { work.validators } else { nil }
            }
        }
    }

    private static let v1 = Validators(etag: "\"1\"", lastModified: nil)

    @Test func whatIsFreshIsDelivered() {
        let setting = Setting(age: 59)
        #expect(setting.image?.cacheType == .disk)
        #expect(setting.image?.validity?.etag == "\"1\"")
        #expect(setting.image?.validity?.caching == setting.caching(age: 59, Self.control))
        #expect(setting.stack.held(.fetch).isEmpty)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func whoDoesNotAskForItGetsWhatIsStale() {
        let setting = Setting(age: 9_999) { $0.options = [] }
        #expect(setting.image != nil)
        #expect(setting.image?.validity == nil)
        #expect(setting.stack.held(.fetch).isEmpty)
        let offline = Setting(age: 9_999) { $0.options.insert(.fromCacheOnly) }
        #expect(offline.image != nil)
        #expect(offline.stack.held(.fetch).isEmpty)
    }

    @Test func whatMayBeStaleIsDeliveredAndAskedAboutOnce() {
        var setting = Setting(age: 60)
        #expect(setting.image?.cacheType == .disk)
        #expect(setting.conditions == [Self.v1])
        setting.again(age: 89)
        #expect(setting.image?.cacheType == .disk)
        #expect(setting.conditions == [Self.v1], "one question for both")
        setting.stack.finish(.fetch, .failed(setting.stack.notModified("max-age=10")))
        let renewed = setting.stack.finishRenewals()
        // The image and its original, renewed with the latest caching data, as their bytes are
        // those.
        #expect(Set(renewed.map(\.key)).count == 2 && renewed.count == 2)
        #expect(renewed.contains { $0.key == Self.key })
        #expect(renewed.allSatisfy { $0.renewal?.caching?.cacheControl.maxAge == 10 })
        #expect(renewed.allSatisfy { $0.renewal?.etag == "\"1\"" })
        #expect(setting.stack.isAtRest, "\(setting.stack)")
        setting.again(age: 95)
        #expect(setting.image?.cacheType == .disk, "the answer has renewed it")
        #expect(setting.image?.validity?.expiry?.freshFor == 10_000)
        #expect(setting.stack.held(.fetch).isEmpty)
        // The result read earlier still had the old data: the cache is updated once more.
        let renewedKeys = setting.stack.finishRenewals().map(\.key)
        #expect(
            renewedKeys.count == 1 && renewedKeys.first?.contains("FitTransformer") == true,
            "\(renewedKeys)")
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func theBackgroundOutlivesItsClientAndReplacesWhatChanged() {
        var setting = Setting(age: 60)
        setting.stack.disconnect(setting.client)
        #expect(setting.conditions == [Self.v1])
        var stored: [String] = []
        while let held = setting.stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key, work.delivers {
                stored.append(key)
            }
            setting.stack.finish(held)
        }
        #expect(stored.count == 1)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// A transfer that nothing waits for would delay the end of the stack.
    @Test func aStackThatDrainsAsksNobodyInTheBackground() {
        var (stack, client) = Stack.staffed()
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        let token = stack.load(Self.image, by: client)
        stack.send(.drain)
        let held = stack.held(.query)[0]
        let born = stack.scheduler.calendarNow - 60_000
        let caching = OriginCaching(
            CacheControl(Self.control), ResponseAge(bornMilliseconds: born))
        stack.finish(held, stack.hit(held, etag: "\"1\"", caching: caching))
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.held(.fetch).isEmpty && stack.wasDrained)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: [90, 9_999])
    func theOriginIsAskedFirst(age: Int64) {
        var setting = Setting(age: age)
        #expect(setting.outcome == nil)
        #expect(setting.conditions == [Self.v1])
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(nil)))
        #expect(setting.image?.cacheType == .disk)
        #expect(setting.image?.validity?.originFailure == nil)
        #expect(setting.stack.replies[setting.token]?.count == 1)
        // The 304 had no caching data, so the previous data applies again (RFC 9111 §4.3.4).
        #expect(setting.image?.validity?.expiry?.freshFor == 60_000)
        setting.again(age: age)
        #expect(setting.image != nil)
        #expect(setting.stack.held(.fetch).isEmpty)
        setting.stack.pass(milliseconds: 91_000)
        setting.again(age: age)
        #expect(setting.outcome == nil)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// The clock was a day ahead when the image was stored.
    @Test func whatAFastClockStoredIsAskedForOnce() {
        var setting = Setting(age: -86_400)
        #expect(setting.outcome == nil)
        #expect(setting.conditions == [Self.v1])
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(nil)))
        #expect(setting.image?.cacheType == .disk)
        setting.again(age: -86_400)
        #expect(setting.image?.cacheType == .disk)
        #expect(setting.stack.held(.fetch).isEmpty, "the origin has just confirmed it")
        setting.stack.pass(milliseconds: 91_000)
        setting.again(age: -86_400)
        #expect(setting.outcome == nil)
        while setting.outcome == nil {
            for held in setting.stack.held(.fetch) {
                let error = ImageError(.timedOut, "the origin is silent")
                setting.stack.finish(held, .failed(error))
            }
            setting.stack.pass(milliseconds: 1)
        }
        // From the confirmation on, it may be served for 160 s if its origin fails.
        #expect(setting.image?.validity?.originFailure?.code == .timedOut)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func severalWaitForOneAnswer() {
        var setting = Setting(age: 90)
        let tokens = (0..<3).map { _ in
            let token = setting.stack.load(Self.image, by: setting.client)
            setting.found(age: 90, Self.control)
            return token
        }
        #expect(setting.conditions == [Self.v1])
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(nil)))
        setting.stack.goOn()
        #expect(tokens.allSatisfy { setting.stack.image($0)?.cacheType == .disk })
        #expect(setting.stack.finishRenewals().count == 2, "for all of them")
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test(arguments: [nil, "max-age=0", "no-cache, max-age=60"])
    func whatIsNeverFreshIsAlwaysAskedFor(control: String?) {
        var setting = Setting(age: 0, control)
        #expect(setting.outcome == nil)
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(control)))
        #expect(setting.image?.cacheType == .disk)
        setting.again(age: 0, control ?? "")
        #expect(setting.conditions.count == 1)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// A client without an assumed lifetime stored the image, and the origin states none. A client
    /// that assumes one causes one query to the origin; the result is kept for the next
    /// coordinator.
    @Test func whatAnotherOneHadStoredIsAskedAboutOnce() throws {
        var terms = LoadTerms()
        terms.assumedLifetime = AssumedLifetime(fresh: 3_600)
        var setting = Setting(age: 9_999, "", terms: terms)
        #expect(setting.outcome == nil)
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(nil)))
        #expect(setting.image?.cacheType == .disk)
        let renewed = setting.stack.finishRenewals()
        #expect(renewed.count == 2 && renewed.allSatisfy { $0.renewal?.etag == "\"1\"" })
        let kept = try #require(renewed.first?.renewal?.caching)
        #expect(kept.age.bornMilliseconds == setting.stack.scheduler.calendarNow)
        setting.token = setting.stack.load(Self.image, by: setting.client, terms: terms)
        setting.found(age: 9_999, "")
        #expect(setting.image?.cacheType == .disk && setting.stack.held(.fetch).isEmpty)
        // Another coordinator reads the stored data.
        let next = Setting(age: 0, kept.cacheControl.field ?? "", terms: terms)
        #expect(next.image?.cacheType == .disk && next.stack.held(.fetch).isEmpty)
    }

    @Test func whatHasChangedIsDeliveredAlone() {
        var setting = Setting(age: 90)
        setting.stack.cacheControl = "max-age=7"
        setting.stack.finishAll()
        #expect(setting.stack.replies[setting.token]?.count == 1)
        #expect(setting.image?.cacheType == CacheTypes.none)
        #expect(setting.image?.validity?.expiry?.freshFor == 7_000)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    // MARK: - Origin failures

    private static let failures: [(ErrorCode, String?, Bool)] = [
        (.connectionFailed, nil, true), (.nameNotResolved, nil, true), (.timedOut, nil, true),
        (.invalidDownloadStatusCode, "503", true), (.invalidDownloadStatusCode, "500", true),
        (.invalidDownloadStatusCode, "404", false), (.invalidDownloadStatusCode, "429", false),
        (.tlsFailed, nil, false), (.addressForbidden, nil, false),
    ]

    @Test(arguments: failures)
    func anOriginThatFails(code: ErrorCode, status: String?, isServed: Bool) {
        for (age, mayServe) in [(90, isServed), (159, isServed), (160, false)] as [(Int64, Bool)] {
            var setting = Setting(age: age)
            let error = ImageError(code, "drawn", details: status.map { ["httpStatus": $0] } ?? [:])
            while setting.outcome == nil {
                for held in setting.stack.held(.fetch) {
                    setting.stack.finish(held, .failed(error))
                }
                setting.stack.pass(milliseconds: 1)
            }
            if mayServe {
                #expect(setting.image?.cacheType == .disk)
                #expect(setting.image?.validity?.originFailure?.code == code)
            } else {
                #expect(setting.stack.error(setting.token) == code)
            }
            #expect(setting.stack.isAtRest, "\(setting.stack)")
        }
    }

    @Test func whatMustBeConfirmedIsNotServedAfterAFailure() {
        var setting = Setting(age: 61, "max-age=60, must-revalidate, stale-if-error=100")
        setting.stack.fail(.fetch, .tlsFailed)
        #expect(setting.stack.error(setting.token) == .tlsFailed)
        setting = Setting(age: 61, "max-age=60, must-revalidate, stale-if-error=100")
        setting.stack.pass(milliseconds: 30_000)
        #expect(setting.stack.error(setting.token) == .deadlineExceeded)
    }

    @Test func anOriginThatIsSilentUntilTheDeadlineHasFailed() {
        var setting = Setting(age: 90)
        setting.stack.pass(milliseconds: 30_000)
        #expect(setting.image?.validity?.originFailure?.code == .deadlineExceeded)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aCancelEndsItAsAlways() {
        var setting = Setting(age: 90, length: 2 << 20)
        setting.stack.send(.cancel(setting.client, setting.token))
        #expect(setting.stack.error(setting.token) == .cancelled)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    // MARK: - The cache

    @Test func anImageThatIsHeldIsFetchedAgainWhereTheCacheWasLost() {
        var setting = Setting(age: 90)
        setting.stack.kill(setting.stack.worker(.cache))
        setting.stack.finish(.fetch, .failed(setting.stack.notModified(nil)))
        #expect(setting.outcome == nil)
        setting.stack.hire(.cache, credit: 4)
        setting.stack.finishAll()
        #expect(setting.image?.cacheType == CacheTypes.none)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func memoryAnswersWhatIsFreshAlone() {
        var (stack, client) = Stack.staffed()
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        let born = stack.scheduler.calendarNow
        let caching = OriginCaching(
            CacheControl("max-age=60, stale-while-revalidate=30"),
            ResponseAge(bornMilliseconds: born))
        let image = ImageRequest.image(options: .respectCacheControl)
        stack.publish(Self.key, validity: Validity(caching: caching, etag: "\"1\""))
        let fresh = stack.load(image, by: client)
        #expect(stack.image(fresh)?.cacheType == .memory)
        #expect(stack.image(fresh)?.validity?.caching == caching)
        #expect(stack.image(fresh)?.validity?.expiry == caching.expiry(.shared))
        stack.pass(milliseconds: 60_000)
        let plain = stack.load(.image(), by: client)
        #expect(stack.image(plain)?.validity == nil)
        let stale = stack.load(image, by: client)
        #expect(stack.image(stale) == nil)
        #expect(stack.held(.query).count == 1, "the cache knows more")
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A result made from a cached original is as fresh as the original.
    @Test func anOriginalHasItsOwnAge() {
        var (stack, client) = Stack.staffed()
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        stack.age = 0
        let token = stack.load(Self.image, by: client)
        stack.finish(.query)
        let held = stack.held(.query)[0]
        let born = stack.scheduler.calendarNow - 90_000
        let caching = OriginCaching(
            CacheControl("max-age=60"), ResponseAge(bornMilliseconds: born))
        stack.finish(held, stack.hit(held, etag: "\"1\"", caching: caching))
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

extension ImageRequest {
    fileprivate static func image(options: RequestOptions) -> ImageRequest {
        image("a", size: nil, options)
    }
}

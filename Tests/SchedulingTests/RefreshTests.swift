import Model
import Testing

@testable import Coordinator

/// refreshCached: one, two, two or one reply (SEMANTICS §6.1).
struct RefreshTests {
    private static let v1 = "\"1\""
    private static let v2 = "\"2\""

    private struct Setting {
        var stack = Stack()
        var client: ClientID
        var token: Token

        /// A refresh of an image that is in the cache.
        init(
            size: Int? = 100, etag: String? = v1, tier: CacheTypes = .disk,
            _ change: (inout ImageRequest) -> Void = { _ in }
        ) {
            stack.hireAll()
            client = stack.connect()
            let image = ImageRequest.image(size: size, .refreshCached).with(change)
            token = stack.load(image, by: client)
            guard let held = stack.held(.query).first else { return }
            stack.finish(held, stack.hit(held, tier: tier, etag: etag))
        }

        var replies: [Reply] { stack.replies[token] ?? [] }
        var last: Reply.Outcome? { replies.last?.outcome }

        var fetch: FetchWork? {
            guard case .fetch(let work) = stack.held(.fetch).first?.job.work else { return nil }
            return work
        }

        mutating func fetched(etag: String? = v2, length: UInt64 = 1_000) {
            guard let held = stack.held(.fetch).first, let url = fetch?.url else { return }
            let body = FetchedBody(
                reference: stack.block(of: held.worker, length: length), httpStatus: 200,
                etag: etag, effectiveURL: url)
            stack.finish(held, .fetched(body))
        }

        mutating func weighed(etag: String? = v1, length: UInt64 = 1_000) {
            guard let held = stack.held(.query).first else { return }
            stack.finish(held, stack.hit(held, length: length, etag: etag))
        }

        mutating func compared(isSame: Bool) {
            stack.finish(
                .store, .stored(StoreReport(delivered: nil, tiers: .none, isSame: isSame)))
        }
    }

    @Test func anUnmodifiedImageComesOnce() {
        var setting = Setting()
        #expect(setting.replies.count == 1)
        #expect(setting.replies.first?.isRefreshing == true)
        #expect(setting.stack.image(setting.token)?.cacheType == .disk)
        #expect(setting.fetch?.validators == Validators(etag: Self.v1, lastModified: nil))
        setting.stack.fail(.fetch, .cacheNotModified)
        #expect(setting.replies.count == 2)
        #expect(setting.last == .notModified)
        #expect(setting.replies.last?.isRefreshing == false)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aChangedImageComesTwice() {
        var setting = Setting()
        setting.fetched()
        setting.weighed(length: 900)
        setting.stack.finishAll()
        #expect(setting.replies.count == 2)
        #expect(setting.stack.image(setting.token)?.cacheType == CacheTypes.none)
        #expect(setting.replies.last?.isRefreshing == false)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aFailedRefreshEndsWithItsError() {
        var setting = Setting()
        setting.stack.fail(.fetch, .tlsFailed)
        #expect(setting.replies.count == 2)
        #expect(setting.stack.error(setting.token) == .tlsFailed)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aMissIsAPlainLoad() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 9, .refreshCached), by: client)
        stack.run(.query, .query)
        guard case .fetch(let work) = stack.held(.fetch).first?.job.work else {
            Issue.record("it is fetched")
            return
        }
        #expect(work.validators == nil)
        stack.finishAll()
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.image(token)?.cacheType == CacheTypes.none)
        #expect(stack.counters.misses == 1)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whoAsksOnlyCachesRefreshesNothing() {
        var setting = Setting { $0.options.insert(.fromCacheOnly) }
        #expect(setting.replies.count == 1)
        #expect(setting.replies.first?.isRefreshing == false)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test(arguments: [nil, "no entity tag", "imagebus:1-1"])
    func withoutValidatorsTheOriginIsAskedForAll(etag: String?) {
        let setting = Setting(etag: etag)
        #expect(setting.fetch != nil)
        #expect(setting.fetch?.validators == nil)
    }

    @Test func theSameBytesAreUnmodifiedWhateverTheOriginSays() {
        var setting = Setting(etag: "imagebus:1-1")
        setting.fetched(etag: nil)
        setting.weighed(etag: "imagebus:1-1")
        guard case .store(let look) = setting.stack.held(.store).first?.job.work else {
            Issue.record("the bytes are compared")
            return
        }
        #expect(look.comparedWith != nil && look.key == nil && !look.delivers)
        setting.compared(isSame: true)
        #expect(setting.last == .notModified)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func otherBytesOfTheSameLengthAreNew() {
        var setting = Setting()
        setting.fetched()
        setting.weighed()
        setting.compared(isSame: false)
        setting.stack.finishAll()
        #expect(setting.stack.image(setting.token)?.cacheType == CacheTypes.none)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// Another size was refreshed first: the stored original is newer than this result, so equal
    /// bytes do not confirm it.
    @Test func aResultOfBytesThatWereReplacedIsMadeAnew() {
        var setting = Setting(etag: "imagebus:1-1")
        setting.fetched(etag: nil)
        setting.weighed(etag: "imagebus:1-2")
        #expect(setting.stack.held(.store).isEmpty, "nothing to compare with")
        setting.stack.finishAll()
        #expect(setting.stack.image(setting.token) != nil)
        #expect(setting.last != .notModified)
    }

    @Test func anOriginalInTheSecondQueryIsRefreshedAsWell() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 9, .refreshCached), by: client)
        stack.finish(.query)
        let original = stack.held(.query)[0]
        stack.finish(original, stack.hit(original, etag: Self.v1))
        stack.run(.decode, .transform)
        guard case .store(let store) = stack.held(.store).first?.job.work else {
            Issue.record("the result is delivered")
            return
        }
        #expect(store.metadata.etag == Self.v1, "the result names its source")
        stack.finish(.store)
        #expect(stack.replies[token]?.first?.isRefreshing == true)
        #expect(stack.image(token)?.cacheType == .disk)
        guard case .fetch(let work) = stack.held(.fetch).first?.job.work else {
            Issue.record("the origin is asked")
            return
        }
        #expect(work.validators?.etag == Self.v1)
        stack.fail(.fetch, .cacheNotModified)
        #expect(stack.reply(token)?.outcome == .notModified)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func twoRefreshesShareTheirQuestionAndNoPlainLoadJoinsIt() {
        var setting = Setting()
        let second = setting.stack.load(.image(size: 100, .refreshCached), by: setting.client)
        setting.weighed()
        #expect(setting.stack.held(.fetch).count == 1)
        let other = setting.stack.load(.image(size: 7, .refreshCached), by: setting.client)
        setting.weighed()
        #expect(setting.stack.held(.fetch).count == 1, "another size, the same source")
        let plain = setting.stack.load(.image(size: 100, .fromLoaderOnly), by: setting.client)
        #expect(setting.stack.held(.fetch).count == 2)
        let conditional = setting.stack.held(.fetch)[0]
        setting.stack.finish(conditional, .failed(ImageError(.cacheNotModified, "")))
        for token in [setting.token, second, other] {
            #expect(setting.stack.reply(token)?.outcome == .notModified)
        }
        #expect(setting.stack.reply(plain) == nil)
        setting.stack.finishAll()
        #expect(setting.stack.image(plain) != nil)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aRefreshWithoutValidatorsAndAPlainLoadShareTheirTransfer() {
        var setting = Setting(etag: "imagebus:1-1")
        let plain = setting.stack.load(.image(size: 100, .fromLoaderOnly), by: setting.client)
        #expect(setting.stack.held(.fetch).count == 1)
        setting.fetched(etag: nil)
        setting.weighed(etag: "imagebus:1-1")
        setting.compared(isSame: true)
        #expect(setting.last == .notModified)
        #expect(setting.stack.reply(plain) == nil)
        setting.stack.finishAll()
        #expect(setting.stack.image(plain)?.cacheType == CacheTypes.none)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aRefreshIsNoAnswerToOneThatBeginsLater() {
        var setting = Setting(etag: "imagebus:1-1")
        setting.fetched(etag: nil)
        setting.stack.run(.query, .decode)
        let mark = setting.stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work else { return nil }
            return work.metadata.etag
        }
        _ = setting.stack.load(.image(size: 100, .refreshCached), by: setting.client)
        setting.weighed(etag: mark.first)
        #expect(setting.stack.held(.fetch).count == 1, "the origin is asked again")
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// The bytes arrived before the refresh was requested: the origin may have changed since.
    @Test func aRefreshAsksAnewWhileTheOriginalOfAnEarlierOneIsStored() {
        var setting = Setting()
        setting.fetched()
        setting.weighed(length: 900)
        setting.stack.run(.decode, .transform)
        for held in setting.stack.held(.store) {
            guard case .store(let work) = held.job.work, work.delivers else { continue }
            setting.stack.finish(held)
        }
        #expect(setting.last != nil)
        #expect(setting.stack.held(.store).count == 1, "the original is being stored")
        // Another size of the same old bytes.
        let second = setting.stack.load(.image(size: 7, .refreshCached), by: setting.client)
        setting.weighed()
        #expect(setting.stack.held(.fetch).count == 1, "the origin is asked again")
        setting.fetched(etag: "\"3\"")
        #expect(setting.stack.reply(second)?.isRefreshing == true)
        setting.stack.finishAll()
        #expect(setting.stack.image(second)?.cacheType == CacheTypes.none)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func whatIsReplacedIsReplacedWhereItWasFound() {
        var setting = Setting(tier: .memory) { $0.storeCacheTypes = .disk }
        setting.fetched()
        setting.stack.run(.query, .decode, .transform)
        let tiers = setting.stack.held(.store).compactMap { held -> CacheTypes? in
            guard case .store(let work) = held.job.work, work.delivers else { return nil }
            return work.tiers
        }
        #expect(tiers == [.all])
    }

    /// Memory was queried first, so it is unknown whether the disk has the old one, too.
    @Test func whatIsReplacedInMemoryAloneGoesFromTheDisk() {
        var setting = Setting(tier: .memory) { $0.storeCacheTypes = .memory }
        setting.fetched()
        setting.stack.run(.query, .decode, .transform)
        let works = setting.stack.allHeld.map(\.job.work)
        let stored = works.compactMap { work -> String? in
            guard case .store(let store) = work, store.delivers else { return nil }
            return store.tiers == .memory ? store.key : nil
        }
        let removed = works.compactMap { work -> String? in
            guard case .entry(let entry) = work, entry.action == .remove else { return nil }
            return entry.tiers == .disk ? entry.key : nil
        }
        #expect(stored.count == 1)
        #expect(removed.contains(stored.first ?? "none"))
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// A cache that can't remove it reports that by then: it is retried once, not forever.
    @Test func whatCannotBeRemovedIsTriedOnceMore() {
        var setting = Setting(tier: .memory) { $0.storeCacheTypes = .memory }
        setting.fetched()
        setting.stack.run(.query, .decode, .transform)
        func removal(_ stack: Stack) -> Stack.Held? {
            stack.allHeld.first { held in
                guard case .entry(let entry) = held.job.work else { return false }
                return entry.action == .remove
            }
        }
        for _ in 0..<2 {
            guard let held = removal(setting.stack) else {
                Issue.record("a removal is missing")
                return
            }
            setting.stack.finish(held, .failed(ImageError(.internalError, "as told")))
        }
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    /// The original in another cache is outdated as well, and no load stores a new one there.
    @Test func anOutdatedOriginalGoesUnderEveryTextUnderWhichItIsNotReplaced() {
        var setting = Setting()
        var terms = LoadTerms()
        (terms.cache, terms.originalCache) = ("x", "x")
        let other = setting.stack.load(
            .image(size: 100, .refreshCached).with { $0.originalStoreCacheTypes = .none },
            by: setting.client, terms: terms)
        setting.weighed()
        #expect(setting.stack.held(.fetch).count == 1, "both ask the same")
        setting.fetched()
        setting.weighed(length: 7)
        var (removed, stored): ([String], [String]) = ([], [])
        while let held = setting.stack.allHeld.first {
            switch held.job.work {
            case .entry(let work) where work.action == .remove && work.tiers == .all:
                removed.append(work.key)
            case .store(let work): stored.append(work.key ?? "")
            default: break
            }
            setting.stack.finish(held)
        }
        #expect(removed == ["x\u{1F}http://example.org/a.jpg"])
        #expect(stored.contains("http://example.org/a.jpg"))
        #expect(setting.stack.image(other) != nil)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func whatWasBeingMadeOfOldBytesIsMadeOfNewOnes() {
        var setting = Setting()
        setting.fetched()
        // Meanwhile, another size starts with the cached original.
        let other = setting.stack.load(.image(size: 5), by: setting.client)
        for held in setting.stack.held(.query) {
            guard case .query(let work) = held.job.work else { continue }
            if work.destination == .results { setting.stack.finish(held, .miss) }
        }
        for held in setting.stack.held(.query) {
            setting.stack.finish(held, setting.stack.hit(held, length: 10, etag: Self.v1))
        }
        #expect(setting.stack.held(.decode).count == 2, "one of old, one of new bytes")
        guard let refreshed = setting.stack.held(.decode).first(where: { $0.isOfDownload }) else {
            Issue.record("the new bytes are decoded")
            return
        }
        setting.stack.finish(refreshed)
        #expect(setting.stack.held(.decode).isEmpty, "the old ones are no longer needed")
        setting.stack.finish(.query)
        #expect(setting.stack.held(.query).isEmpty, "the new bytes are here")
        setting.stack.finishAll()
        #expect(setting.stack.image(other)?.cacheType == CacheTypes.none)
        #expect(setting.stack.gets.values.allSatisfy { $0 == 1 })
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func bytesThatAreNoImageReplaceNothing() {
        var setting = Setting()
        setting.fetched()
        setting.stack.finish(.query)
        setting.stack.fail(.decode, .badImageData)
        #expect(setting.stack.error(setting.token) == .badImageData)
        #expect(setting.stack.held(.store).isEmpty)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aQueryUnderWayDoesNotBringWhatWasReplaced() {
        var setting = Setting()
        setting.fetched()
        setting.stack.run(.query, .decode, .transform)
        let late = setting.stack.load(.image(size: 100), by: setting.client)
        let query = setting.stack.held(.query)[0]
        for held in setting.stack.held(.store) { setting.stack.finish(held) }
        let after = setting.stack.load(.image(size: 100), by: setting.client)
        setting.stack.finish(query, setting.stack.hit(query, length: 2 << 20, etag: Self.v1))
        #expect(setting.stack.reply(late) == nil && setting.stack.reply(after) == nil)
        setting.weighed(etag: Self.v2)
        #expect(setting.stack.image(late) != nil && setting.stack.image(after) != nil)
    }

    // MARK: - Ends

    @Test(arguments: 0..<5)
    func aCancelEndsARefreshAtEveryPoint(point: Int) {
        var setting = Setting()
        if point > 0 { setting.fetched() }
        if point > 1 { setting.weighed() }
        if point > 2 { setting.compared(isSame: false) }
        if point > 3 { setting.stack.finish(.decode) }
        setting.stack.send(.cancel(setting.client, setting.token))
        #expect(setting.replies.count == 2)
        #expect(setting.stack.error(setting.token) == .cancelled)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func theDeadlineEndsARefresh() {
        var setting = Setting()
        setting.stack.pass(milliseconds: 30_000)
        #expect(setting.replies.count == 2)
        #expect(setting.stack.error(setting.token) == .deadlineExceeded)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test(arguments: [WorkerKind.download, .cache])
    func aLossDeliversTheCachedImageNotTwice(kind: WorkerKind) {
        var setting = Setting()
        setting.fetched()
        setting.weighed()
        setting.stack.kill(setting.stack.worker(kind))
        setting.stack.hire(kind)
        #expect(setting.replies.count == 1)
        if kind == .cache {
            setting.weighed()
            setting.compared(isSame: true)
            #expect(setting.last == .notModified)
        } else {
            setting.stack.finishAll()
            #expect(setting.stack.image(setting.token)?.cacheType == CacheTypes.none)
        }
        #expect(setting.replies.count == 2)
        setting.stack.finishAll()
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }

    @Test func aCacheThatCannotCompareIsTakenForANo() {
        var setting = Setting()
        setting.fetched()
        setting.stack.fail(.query, .arenaFull)
        setting.stack.finishAll()
        #expect(setting.stack.image(setting.token)?.cacheType == CacheTypes.none)
        #expect(setting.stack.isAtRest, "\(setting.stack)")
    }
}

extension Stack.Held {
    fileprivate var isOfDownload: Bool { job.work.input?.producer?.kind == .download }
}

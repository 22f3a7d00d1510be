import Model
import Testing

@testable import Coordinator

/// refreshCached: one, two, two or one reply (SEMANTICS §6.1).
struct RefreshTests {
    private static let v1 = "\"1\""
    private static let v2 = "\"2\""

    private var stack = Stack.staffed()
    private var token = Token(0)

    /// A refresh of an image that is in the cache.
    private mutating func begin(
        size: Int? = 100, etag: String? = v1, tier: CacheTypes = .disk,
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) {
        stack = Stack.staffed()
        token = stack.load(ImageRequest.image(size: size, .refreshCached).with(change))
        stack.find(tier: tier, etag: etag)
    }

    private var replies: [Reply] { stack.replies[token] ?? [] }
    private var last: Reply.Outcome? { replies.last?.outcome }
    private var fetch: FetchWork? { stack.fetches.first }

    private mutating func fetched(etag: String? = v2, length: UInt64 = 1_000) {
        guard let held = stack.held(.fetch).first, let url = fetch?.url else { return }
        let body = FetchedBody(
            reference: stack.block(of: held.worker, length: length), httpStatus: 200,
            etag: etag, effectiveURL: url)
        stack.finish(held, .fetched(body))
    }

    private mutating func weighed(etag: String? = v1, length: UInt64 = 1_000) {
        if !stack.held(.query).isEmpty { stack.find(length: length, etag: etag) }
    }

    private mutating func compared(isSame: Bool) {
        stack.finish(.store, .stored(StoreReport(delivered: nil, tiers: .none, isSame: isSame)))
    }

    @Test mutating func anUnmodifiedImageComesOnce() {
        begin()
        #expect(replies.count == 1)
        #expect(replies.first?.isRefreshing == true)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(fetch?.validators == Validators(etag: Self.v1, lastModified: nil))
        stack.fail(.fetch, .cacheNotModified)
        #expect(replies.count == 2)
        #expect(last == .notModified)
        #expect(replies.last?.isRefreshing == false)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aChangedImageComesTwice() {
        begin()
        fetched()
        weighed(length: 900)
        stack.end(token, from: CacheTypes.none)
        #expect(replies.count == 2)
        #expect(replies.last?.isRefreshing == false)
    }

    @Test mutating func aFailedRefreshEndsWithItsError() {
        begin()
        stack.fail(.fetch, .tlsFailed)
        #expect(replies.count == 2)
        #expect(stack.error(token) == .tlsFailed)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aMissIsAPlainLoad() throws {
        let token = stack.load(.image(size: 9, .refreshCached))
        stack.run(.query, .query)
        let work = try #require(stack.fetches.first)
        #expect(work.validators == nil)
        stack.end(token, from: CacheTypes.none)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.counters.misses == 1)
    }

    @Test mutating func whoAsksOnlyCachesRefreshesNothing() {
        begin { $0.options.insert(.fromCacheOnly) }
        #expect(replies.count == 1)
        #expect(replies.first?.isRefreshing == false)
        stack.end()
    }

    @Test(arguments: [nil, "no entity tag", "imagebus:1-1"])
    mutating func withoutValidatorsTheOriginIsAskedForAll(etag: String?) {
        begin(etag: etag)
        #expect(fetch != nil)
        #expect(fetch?.validators == nil)
    }

    @Test mutating func theSameBytesAreUnmodifiedWhateverTheOriginSays() throws {
        begin(etag: "imagebus:1-1")
        fetched(etag: nil)
        weighed(etag: "imagebus:1-1")
        let look = try #require(stack.stores.first)
        #expect(look.comparedWith != nil && look.key == nil && !look.delivers)
        compared(isSame: true)
        #expect(last == .notModified)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func otherBytesOfTheSameLengthAreNew() {
        begin()
        fetched()
        weighed()
        compared(isSame: false)
        stack.end(token, from: CacheTypes.none)
    }

    /// Another size was refreshed first: the stored original is newer than this result, so equal
    /// bytes do not confirm it.
    @Test mutating func aResultOfBytesThatWereReplacedIsMadeAnew() {
        begin(etag: "imagebus:1-1")
        fetched(etag: nil)
        weighed(etag: "imagebus:1-2")
        #expect(stack.held(.store).isEmpty, "nothing to compare with")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(last != .notModified)
    }

    @Test mutating func anOriginalInTheSecondQueryIsRefreshedAsWell() throws {
        let token = stack.load(.image(size: 9, .refreshCached))
        stack.finish(.query)
        stack.find(etag: Self.v1)
        stack.run(.decode, .transform)
        let store = try #require(stack.stores.first)
        #expect(store.metadata.etag == Self.v1, "the result names its source")
        stack.finish(.store)
        #expect(stack.replies[token]?.first?.isRefreshing == true)
        #expect(stack.image(token)?.cacheType == .disk)
        let work = try #require(stack.fetches.first)
        #expect(work.validators?.etag == Self.v1)
        stack.fail(.fetch, .cacheNotModified)
        #expect(stack.reply(token)?.outcome == .notModified)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func twoRefreshesShareTheirQuestionAndNoPlainLoadJoinsIt() {
        begin()
        let second = stack.load(.image(size: 100, .refreshCached))
        weighed()
        #expect(stack.held(.fetch).count == 1)
        let other = stack.load(.image(size: 7, .refreshCached))
        weighed()
        #expect(stack.held(.fetch).count == 1, "another size, the same source")
        let plain = stack.load(.loader(size: 100))
        #expect(stack.held(.fetch).count == 2)
        let conditional = stack.held(.fetch)[0]
        stack.finish(conditional, .failed(ImageError(.cacheNotModified, "")))
        for token in [token, second, other] { #expect(stack.reply(token)?.outcome == .notModified) }
        #expect(stack.reply(plain) == nil)
        stack.end(plain)
    }

    @Test mutating func aRefreshWithoutValidatorsAndAPlainLoadShareTheirTransfer() {
        begin(etag: "imagebus:1-1")
        let plain = stack.load(.loader(size: 100))
        #expect(stack.held(.fetch).count == 1)
        fetched(etag: nil)
        weighed(etag: "imagebus:1-1")
        compared(isSame: true)
        #expect(last == .notModified)
        #expect(stack.reply(plain) == nil)
        stack.end(plain, from: CacheTypes.none)
    }

    @Test mutating func aRefreshIsNoAnswerToOneThatBeginsLater() {
        begin(etag: "imagebus:1-1")
        fetched(etag: nil)
        stack.run(.query, .decode)
        let mark = stack.stores.compactMap(\.metadata.etag)
        _ = stack.load(.image(size: 100, .refreshCached))
        weighed(etag: mark.first)
        #expect(stack.held(.fetch).count == 1, "the origin is asked again")
        stack.end()
    }

    /// The bytes arrived before the refresh was requested: the origin may have changed since.
    @Test mutating func aRefreshAsksAnewWhileTheOriginalOfAnEarlierOneIsStored() {
        begin()
        fetched()
        weighed(length: 900)
        stack.run(.decode, .transform)
        for held in stack.held(.store) where held.work.store?.delivers == true {
            stack.finish(held)
        }
        #expect(last != nil)
        #expect(stack.held(.store).count == 1, "the original is being stored")
        // Another size of the same old bytes.
        let second = stack.load(.image(size: 7, .refreshCached))
        weighed()
        #expect(stack.held(.fetch).count == 1, "the origin is asked again")
        fetched(etag: "\"3\"")
        #expect(stack.reply(second)?.isRefreshing == true)
        stack.end(second, from: CacheTypes.none)
    }

    @Test mutating func whatIsReplacedIsReplacedWhereItWasFound() {
        begin(tier: .memory) { $0.storeCacheTypes = .disk }
        fetched()
        stack.run(.query, .decode, .transform)
        #expect(stack.stores.filter(\.delivers).map(\.tiers) == [.all])
    }

    /// Memory was queried first, so it is unknown whether the disk has the old one, too.
    @Test mutating func whatIsReplacedInMemoryAloneGoesFromTheDisk() {
        begin(tier: .memory) { $0.storeCacheTypes = .memory }
        fetched()
        stack.run(.query, .decode, .transform)
        let stored = stack.stores.filter { $0.delivers && $0.tiers == .memory }.compactMap(\.key)
        let removed = stack.entries.filter { $0.action == .remove && $0.tiers == .disk }.map(\.key)
        #expect(stored.count == 1)
        #expect(removed.contains(stored.first ?? "none"))
        stack.end()
    }

    /// A cache that can't remove it reports that by then: it is retried once, not forever.
    @Test mutating func whatCannotBeRemovedIsTriedOnceMore() throws {
        begin(tier: .memory) { $0.storeCacheTypes = .memory }
        fetched()
        stack.run(.query, .decode, .transform)
        for _ in 0..<2 {
            let removal = try #require(stack.allHeld.first { $0.work.entry?.action == .remove })
            stack.fail(removal, .internalError)
        }
        stack.end()
    }

    /// The original in another cache is outdated as well, and no load stores a new one there.
    @Test mutating func anOutdatedOriginalGoesUnderEveryTextUnderWhichItIsNotReplaced() {
        begin()
        let other = stack.load(
            .image(size: 100, .refreshCached).discardingOriginal, terms: .kept(in: "x"))
        weighed()
        #expect(stack.held(.fetch).count == 1, "both ask the same")
        fetched()
        weighed(length: 7)
        let works = stack.finishJobs()
        #expect(works.compactMap(\.removedKey) == ["x\u{1F}http://example.org/a.jpg"])
        #expect(works.compactMap(\.storedKey).contains("http://example.org/a.jpg"))
        stack.expectRest([other])
    }

    @Test mutating func whatWasBeingMadeOfOldBytesIsMadeOfNewOnes() throws {
        begin()
        fetched()
        // Meanwhile, another size starts with the cached original.
        let other = stack.load(.image(size: 5))
        for held in stack.held(.query) where held.work.query?.destination == .results {
            stack.finish(held, .miss)
        }
        for held in stack.held(.query) {
            stack.finish(held, stack.hit(held, length: 10, etag: Self.v1))
        }
        #expect(stack.held(.decode).count == 2, "one of old, one of new bytes")
        let refreshed = stack.held(.decode).first { $0.work.input?.producer?.kind == .download }
        stack.finish(try #require(refreshed))
        #expect(stack.held(.decode).isEmpty, "the old ones are no longer needed")
        stack.finish(.query)
        #expect(stack.held(.query).isEmpty, "the new bytes are here")
        stack.end(other, from: CacheTypes.none)
        #expect(stack.gets.values.allSatisfy { $0 == 1 })
    }

    @Test mutating func bytesThatAreNoImageReplaceNothing() {
        begin()
        fetched()
        stack.finish(.query)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        #expect(stack.held(.store).isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aQueryUnderWayDoesNotBringWhatWasReplaced() {
        begin()
        fetched()
        stack.run(.query, .decode, .transform)
        let late = stack.load(.image(size: 100))
        let query = stack.held(.query)[0]
        stack.finishEach(.store)
        let after = stack.load(.image(size: 100))
        stack.finish(query, stack.hit(query, length: 2 << 20, etag: Self.v1))
        #expect(stack.reply(late) == nil && stack.reply(after) == nil)
        weighed(etag: Self.v2)
        #expect(stack.image(late) != nil && stack.image(after) != nil)
    }

    // MARK: - Ends

    @Test(arguments: 0..<5)
    mutating func aCancelEndsARefreshAtEveryPoint(point: Int) {
        begin()
        if point > 0 { fetched() }
        if point > 1 { weighed() }
        if point > 2 { compared(isSame: false) }
        if point > 3 { stack.finish(.decode) }
        stack.cancel(token)
        #expect(replies.count == 2)
        #expect(stack.error(token) == .cancelled)
        stack.end()
    }

    @Test mutating func theDeadlineEndsARefresh() {
        begin()
        stack.pass(milliseconds: 30_000)
        #expect(replies.count == 2)
        #expect(stack.error(token) == .deadlineExceeded)
        stack.end()
    }

    @Test(arguments: [WorkerKind.download, .cache])
    mutating func aLossDeliversTheCachedImageNotTwice(kind: WorkerKind) {
        begin()
        fetched()
        weighed()
        stack.replace(kind)
        #expect(replies.count == 1)
        if kind == .cache {
            weighed()
            compared(isSame: true)
            #expect(last == .notModified)
        } else {
            stack.finishAll()
            #expect(stack.image(token)?.cacheType == CacheTypes.none)
        }
        #expect(replies.count == 2)
        stack.end()
    }

    @Test mutating func aCacheThatCannotCompareIsTakenForANo() {
        begin()
        fetched()
        stack.fail(.query, .arenaFull)
        stack.end(token, from: CacheTypes.none)
    }
}

/// If two refreshes of an image overlap, the transfer that started last is stored.
struct RacingRefreshTests {
    private static let url = "http://example.org/a.jpg"

    /// Two refreshes of one image, in two sizes that were made from different bytes; `older` was
    /// assigned first.
    private var stack = Stack.staffed()
    private var (first, second) = (Token(0), Token(0))
    private var (older, newer): (Stack.Held?, Stack.Held?)

    /// Two refreshes of one image, in two sizes that were made from different bytes; `older` was
    /// assigned first.
    private mutating func begin(_ change: (inout ImageRequest) -> Void = { _ in }) throws {
        stack = Stack.staffed(credit: 8)
        first = stack.load(.image(size: 100, .refreshCached).with(change))
        stack.find(etag: "\"0\"")
        older = stack.held(.fetch).first
        second = stack.load(.image(size: 7, .refreshCached).with(change))
        stack.find(etag: "\"1\"")
        newer = stack.held(.fetch).first { $0.job.id != older?.job.id }
    }

    /// A transfer returns other bytes than the stored ones, and they are a valid image.
    private mutating func arrive(_ held: Stack.Held?, etag: String) throws {
        let held = try #require(held)
        let body = FetchedBody(
            reference: stack.block(of: held.worker), httpStatus: 200, etag: etag,
            effectiveURL: Self.url)
        stack.finish(held, .fetched(body))
        let weighing = try #require(queries.first)
        stack.finish(weighing, stack.hit(weighing, length: 900, etag: "\"0\""))
        stack.finish(try #require(stack.held(.decode).last))
    }

    /// Entity tags of the pending stores of the original.
    private var kept: [String?] { stack.stores.filter { !$0.delivers }.map(\.metadata.etag) }

    /// Queries only; removals belong to the same stage.
    private var queries: [Stack.Held] {
        stack.held(.query).filter { $0.job.work.query != nil }
    }

    private func deliveries(etag: String) -> [StoreWork] {
        stack.stores.filter { $0.delivers && $0.metadata.etag == etag }
    }

    /// Completes everything. Returns all stored keys with their entity tags, and all removed ones.
    private mutating func finishAll() -> (stored: [String: String?], removed: [String]) {
        var (stored, removed): ([String: String?], [String]) = ([:], [])
        while let held = stack.allHeld.first {
            if held.isCancelled {
                stack.fail(held, .cancelled)
                continue
            }
            if let store = held.job.work.store, let key = store.key {
                stored[key] = .some(store.metadata.etag)
            }
            removed += held.job.work.entry.map { [$0.key] } ?? []
            stack.finish(held)
        }
        return (stored, removed)
    }

    @Test mutating func anOlderTransferThatEndsLaterIsStoredNowhere() throws {
        try begin()
        try arrive(newer, etag: "\"3\"")
        #expect(kept == ["\"3\""])
        try arrive(older, etag: "\"2\"")
        #expect(kept == ["\"3\""], "the newer original is still being stored")
        let ended = finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(stack.image(first)?.cacheType == CacheTypes.none)
        #expect(stack.image(second)?.cacheType == CacheTypes.none)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Entries that an older refresh would have replaced are not served later.
    @Test mutating func whatAnOlderTransferWouldHaveReplacedIsRemoved() throws {
        try begin()
        try arrive(newer, etag: "\"3\"")
        let ended = finishAll()
        #expect(ended.removed.count == 1)
        let result = try #require(ended.removed.first)
        #expect(result.contains("100"), "\(result)")
        #expect(!ended.removed.contains(Self.url))
        #expect(stack.isAtRest, "\(stack)")
    }

    /// The older refresh had replaced the original, and its result is being stored.
    @Test mutating func whatTheOlderTransferBroughtIsOutdatedByTheNewerOne() throws {
        try begin()
        try arrive(older, etag: "\"2\"")
        stack.finish(.transform)
        #expect(kept == ["\"2\""])
        #expect(deliveries(etag: "\"2\"").map(\.tiers) == [.all])
        try arrive(newer, etag: "\"3\"")
        #expect(kept == ["\"3\""])
        #expect(deliveries(etag: "\"2\"").map(\.tiers) == [CacheTypes.none])
        let ended = finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatTheOlderTransferBroughtIsReencodedForNobody() throws {
        try begin { $0.context.serializer = .transcode(.webp, quality: nil) }
        try arrive(older, etag: "\"2\"")
        try arrive(newer, etag: "\"3\"")
        let ended = finishAll()
        #expect(ended.stored[Self.url] == "\"3\"")
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// The older refresh was answered, and its serialized result is being written to disk.
    @Test mutating func whatTheOlderTransferWasToReplaceOnTheDiskIsRemoved() throws {
        try begin { $0.context.serializer = .transcode(.webp, quality: nil) }
        try arrive(older, etag: "\"2\"")
        stack.finish(.transform)
        for held in stack.held(.store) where held.work.store?.delivers == true {
            stack.finish(held)
        }
        #expect(stack.image(first)?.cacheType == CacheTypes.none)
        try arrive(newer, etag: "\"3\"")
        let ended = finishAll()
        #expect(ended.removed.contains { $0.contains("100") })
        #expect(!ended.stored.values.contains("\"2\""))
        #expect(stack.isAtRest, "\(stack)")
    }

    /// An older transfer known to be outdated is not joined.
    @Test mutating func whoRefreshesAfterwardsAsksAnew() throws {
        try begin()
        try arrive(newer, etag: "\"3\"")
        stack.load(.image(size: 5, .refreshCached))
        let query = try #require(queries.last)
        stack.finish(query, stack.hit(query, etag: "\"0\""))
        #expect(stack.held(.fetch).count == 2)
        _ = finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// It queries the origin again after the newer one was answered, so its answer is now the
    /// newest.
    @Test mutating func aTransferThatBeginsAgainIsTheNewest() throws {
        try begin()
        stack.fail(try #require(older), .timedOut)
        try arrive(newer, etag: "\"3\"")
        stack.pass(milliseconds: 5_000)
        try arrive(stack.held(.fetch).first, etag: "\"4\"")
        #expect(kept == ["\"4\""])
        let ended = finishAll()
        #expect(ended.stored[Self.url] == "\"4\"")
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// The image changes with each response: no refresh restarts another.
    @Test mutating func refreshesDoNotRestartEachOther() throws {
        try begin()
        try arrive(newer, etag: "\"3\"")
        try arrive(older, etag: "\"2\"")
        _ = finishAll()
        #expect(stack.gets[Self.url] == 2)
    }

    // MARK: - Shared overlays

    /// The first refresh has its response, and is comparing, decoding, transforming or storing it.
    @Test(arguments: 0..<4)
    mutating func aLaterRefreshOfTheSameMarkAsksAnew(point: Int) throws {
        let first = stack.load(.image(size: 100, .refreshCached))
        stack.finish(.query, stack.hit(try #require(stack.held(.query).first), etag: "\"1\""))
        let fetch = try #require(stack.held(.fetch).first)
        let body = FetchedBody(
            reference: stack.block(of: fetch.worker), httpStatus: 200, etag: "\"2\"",
            effectiveURL: Self.url)
        stack.finish(fetch, .fetched(body))
        for stage in [JobStage.query, .decode, .transform].prefix(point) { stack.finish(stage) }
        let busy = stack.allHeld.map(\.job.id)
        let second = stack.load(.image(size: 100, .refreshCached))
        let query = try #require(stack.held(.query).first { !busy.contains($0.job.id) })
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        #expect(stack.held(.fetch).count == 1, "the origin is asked again")
        stack.end(first, second)
        #expect(stack.gets[Self.url] == 2)
    }
}

import Model
import Testing

@testable import Coordinator

/// Hits of external caches that are promoted into our own (SEMANTICS §5.26): which, where and in
/// which tiers.
@Suite struct PromotionTests {
    /// The copy of a hit, for loads with different store options.
    private func copy(
        _ promotion: CachePromotion, _ cache: String = "tiers", storing tiers: CacheTypes = .all
    ) throws -> StoreWork {
        var tier = PromotionStack(promotion, named: cache)
        let token = tier.load(.image().with { $0.storeCacheTypes = tiers })
        tier.missOwn()
        tier.hit()
        let copy = try #require(tier.stores.first)
        #expect(copy.delivers && !copy.waitsForDisk && tier.stores.count == 1)
        #expect(copy.isPromotion == (copy.key != nil))
        #expect((copy.key == nil) == copy.tiers.isEmpty)
        tier.stack.finishAll()
        #expect(tier.stack.image(token)?.cacheType == .disk)
        #expect(tier.promoted == (copy.key == nil ? 0 : 1) && tier.isAtRest)
        return copy
    }

    @Test(arguments: [
        (CachePromotion.memory, CacheTypes.all, CacheTypes.memory),
        (.memory, .memory, .memory), (.memory, .disk, .none), (.memory, .none, .none),
        (.disk, .all, .all), (.disk, .memory, .memory), (.disk, .disk, .disk),
        (.disk, .none, .none), (.none, .all, .none),
    ])
    func aHitEntersTheTiersInWhichTheLoadStores(
        promotion: CachePromotion, storing: CacheTypes, tiers: CacheTypes
    ) throws {
        let copy = try copy(promotion, storing: storing)
        #expect(copy.tiers == tiers && copy.caches == [])
        if !tiers.isEmpty { #expect(copy.key == "high\u{1F}\(PromotionStack.url)") }
    }

    /// The first of our own caches that is queried, if it comes before the external one.
    @Test(arguments: [
        ("tiers", "high"), ("between", "high"), ("any", "low"), ("reversed", nil),
        ("lowest", nil), ("shared", nil),
    ])
    func aHitEntersTheHighestCacheThatIsAskedBefore(cache: String, target: String?) throws {
        let copy = try copy(.disk, cache)
        #expect(copy.key == target.map { "\($0)\u{1F}\(PromotionStack.url)" })
    }

    @Test func whatWasStoredWithItComesAlong() throws {
        var tier = PromotionStack()
        _ = tier.load()
        tier.missOwn()
        tier.hit(tags: ["red"], etag: "\"7\"")
        let copy = try #require(tier.stores.first)
        #expect(copy.metadata.tags == ["red"] && copy.metadata.etag == "\"7\"")
        tier.stack.finishAll()
        #expect(tier.isAtRest)
    }

    /// Coalesced loads share one query: their tiers are combined.
    @Test func theTiersOfAllWhoWaitCount() throws {
        var tier = PromotionStack(.disk)
        _ = tier.load(.image().with { $0.storeCacheTypes = .memory })
        _ = tier.load(.image().with { $0.storeCacheTypes = .all })
        #expect(tier.own.count == 1)
        tier.missOwn()
        tier.hit()
        #expect(tier.stores.map(\.tiers) == [.all])
        tier.stack.finishAll()
        #expect(tier.isAtRest)
    }

    @Test(arguments: ["tiers", "any"])
    func theNextLoadIsAnsweredByMemory(cache: String) throws {
        var tier = PromotionStack(named: cache)
        let first = tier.load()
        tier.missOwn()
        tier.hit()
        let key = try #require(tier.stores.first?.key)
        tier.stack.publish(key)
        tier.stack.finishAll()
        #expect(tier.stack.image(first)?.cacheType == .disk)
        let second = tier.load()
        #expect(tier.own.isEmpty && tier.shared.isEmpty)
        #expect(tier.stack.image(second)?.cacheType == .memory && tier.isAtRest)
    }

    /// Our own cache rejects an invalid image, so it isn't stored either.
    @Test func whatIsRefusedIsNotCounted() {
        var tier = PromotionStack()
        let token = tier.load()
        tier.missOwn()
        tier.hit()
        tier.stack.fail(tier.own[0], .badImageData)
        tier.stack.finishAll()
        #expect(tier.stack.image(token)?.cacheType == CacheTypes.none)
        #expect(tier.promoted == 0 && tier.isAtRest)
    }

    @Test func aHitThatIsLostWhileItIsCopiedIsAMiss() {
        var tier = PromotionStack()
        let token = tier.load()
        tier.missOwn()
        tier.hit()
        let worker = tier.stack.workers.first { $0.value.isExternal }?.key
        if let worker { tier.stack.kill(worker) }
        tier.stack.finishAll()
        #expect(tier.stack.image(token)?.cacheType == CacheTypes.none)
        #expect(tier.promoted == 0 && tier.isAtRest)
    }

    // MARK: - Originals

    /// Completes the queries of the result and of the original: the external cache has the latter.
    private func decoding(
        _ promotion: CachePromotion, originals: CacheTypes = .disk
    ) -> PromotionStack {
        var tier = PromotionStack(promotion)
        _ = tier.load(.image(size: 10).with { $0.originalStoreCacheTypes = originals })
        tier.missOwn()
        tier.stack.finish(tier.shared[0], .miss)
        tier.missOwn()
        tier.hit(tags: ["red"])
        #expect(tier.stack.held(.decode).count == 1 && tier.stores.isEmpty)
        return tier
    }

    @Test(arguments: [
        (CachePromotion.disk, CacheTypes.disk, CacheTypes.disk), (.disk, .all, .all),
        (.memory, .all, .memory), (.memory, .disk, .none), (.none, .all, .none),
        (.disk, .none, .none),
    ])
    func anOriginalIsKeptOnceADecoderHasReadIt(
        promotion: CachePromotion, originals: CacheTypes, tiers: CacheTypes
    ) {
        var tier = decoding(promotion, originals: originals)
        tier.stack.finish(.decode)
        tier.stack.goOn()
        let kept = tier.stores.filter { !$0.delivers }
        #expect(kept.map(\.tiers) == (tiers.isEmpty ? [] : [tiers]))
        for work in kept {
            #expect(work.isPromotion && work.key == tier.text("high"))
            #expect(work.metadata.tags == ["red"] && !work.waitsForDisk)
        }
        tier.stack.finishAll()
        #expect(tier.promoted == (tiers.isEmpty ? 0 : 1) && tier.stack.gets.isEmpty)
        #expect(tier.isAtRest)
    }

    /// Several decodes of one original need one copy of it.
    @Test func anOriginalThatIsDecodedTwiceIsKeptOnce() {
        var tier = PromotionStack(.disk)
        for size in [10, 20] { _ = tier.load(.image(size: size)) }
        tier.missOwn()
        for query in tier.shared { tier.stack.finish(query, .miss) }
        tier.missOwn()
        tier.hit()
        let decodes = tier.stack.held(.decode)
        #expect(decodes.count == 2)
        for decode in decodes { tier.stack.finish(decode) }
        tier.stack.goOn()
        #expect(tier.stores.filter(\.isPromotion).count == 1)
        tier.stack.finishAll()
        #expect(tier.promoted == 1 && tier.isAtRest)
    }

    @Test func anOriginalThatDoesNotDecodeIsNotKept() {
        var tier = decoding(.disk)
        tier.stack.fail(.decode, .badImageData)
        tier.stack.goOn()
        #expect(tier.stores.filter(\.isPromotion).isEmpty)
        tier.stack.finishAll()
        #expect(tier.promoted == 0 && tier.stack.gets[PromotionStack.url] == 1 && tier.isAtRest)
    }

    /// No load waits for the copy, which ends with the worker that has the bytes.
    @Test func anOriginalWhoseProducerIsGoneIsNotKept() {
        var tier = decoding(.disk)
        tier.stack.finish(.decode)
        tier.stack.goOn()
        let worker = tier.stack.workers.first { $0.value.isExternal }?.key
        if let worker { tier.stack.kill(worker) }
        tier.stack.finishAll()
        #expect(tier.promoted == 0 && tier.isAtRest)
    }

    // MARK: - Trust

    /// An entry of our own cache under such a name may come from anyone with write access to the
    /// external cache: it is not evidence against the URL.
    @Test func promotedBytesThatKillDecodersPoisonNoURL() throws {
        var tier = PromotionStack(.disk)
        let token = tier.load(.image(size: 10))
        tier.missOwn()
        tier.stack.finish(tier.shared[0], .miss)
        let query = try #require(tier.own.first)
        tier.stack.finish(query, tier.stack.hit(query))
        for _ in 0..<2 {
            tier.stack.crash(try #require(tier.stack.held(.decode).first))
            tier.stack.hire(.decode, credit: 4)
        }
        tier.stack.goOn()
        let removals = (tier.own + tier.shared).filter { held in
            if case .entry(let work) = held.job.work { work.action == .remove } else { false }
        }
        #expect(removals.count >= 2, "it is removed from our own cache and the external one")
        #expect(tier.stack.held(.fetch).count == 1)
        tier.stack.finishAll()
        #expect(tier.stack.image(token) != nil && tier.isAtRest)
    }
}

/// Removals and stores while a hit of an external cache is being promoted into our own
/// (SEMANTICS §5.26).
@Suite struct PromotionRaceTests {
    /// Removals that match an entry with the tag `red`, and one of a missing entry.
    private static let removals: [CacheCommand] = {
        let url = PromotionStack.url
        var commands = [
            CacheCommand(number: 7, action: .remove, cache: "tiers", key: url),
            CacheCommand(number: 7, action: .remove, cache: "high", key: url),
            CacheCommand(number: 7, action: .remove, cache: "shared", key: url),
            CacheCommand(number: 7, action: .remove, cache: "high", key: url, tiers: .memory),
            CacheCommand(number: 7, action: .clear, key: ""),
        ]
        commands += [
            EntrySelection(url: url), EntrySelection(prefix: "http://example.org/"),
            EntrySelection(tag: "red"), EntrySelection(olderThanSeconds: 60),
            EntrySelection(cache: "tiers"), EntrySelection(cache: "shared"),
        ].map { CacheCommand(number: 7, action: .removeSelected, key: "", selection: $0) }
        return commands
    }()

    private static let others: [CacheCommand] =
        [CacheCommand(number: 7, action: .remove, cache: "tiers", key: "\(PromotionStack.url)x")]
        + [
            EntrySelection(url: "http://example.org/b.jpg"), EntrySelection(tag: "blue"),
            EntrySelection(cache: "low"),
        ].map { CacheCommand(number: 7, action: .removeSelected, key: "", selection: $0) }

    private static func isStore(_ work: JobWork) -> Bool {
        if case .store = work { true } else { false }
    }

    /// A stack whose external cache has received a query.
    private func asked() -> PromotionStack {
        var tier = PromotionStack(.disk)
        _ = tier.load()
        tier.missOwn()
        return tier
    }

    /// Completes everything. Returns whether our own cache was asked to keep a hit.
    private func keeps(_ tier: inout PromotionStack) -> Bool {
        var isKept = false
        repeat {
            while let held = tier.stack.allHeld.first {
                if case .store(let work) = held.job.work, work.isPromotion, !held.isCancelled {
                    isKept = true
                }
                let isExternal = tier.stack.workers[held.worker]?.isExternal == true
                if isExternal, !held.isCancelled, case .query = held.job.work {
                    tier.stack.finish(held, .miss)
                } else if held.isCancelled {
                    tier.stack.fail(held, .cancelled)
                } else {
                    tier.stack.finish(held)
                }
            }
            tier.stack.goOn()
        } while !tier.stack.allHeld.isEmpty
        return isKept
    }

    // MARK: - Removals

    @Test(arguments: removals)
    func whatIsRemovedWhileTheExternalCacheIsAskedIsNotKept(command: CacheCommand) {
        var tier = asked()
        let question = tier.shared[0]
        tier.remove(command)
        // The removal completes before the answer, which was already in flight.
        while let removal = (tier.own + tier.shared).first(where: {
            if case .entry = $0.job.work { true } else { false }
        }) {
            tier.stack.finish(removal)
        }
        #expect(tier.stack.answers[7] != nil)
        if case .hit(var hit) = tier.stack.hit(question) {
            hit.metadata.tags = ["red"]
            tier.stack.finish(question, .hit(hit))
        }
        #expect(tier.stores.map(\.key) == [nil], "it is delivered alone")
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    @Test(arguments: removals)
    func whatIsBeingRemovedAsTheAnswerComesIsNotKept(command: CacheCommand) {
        var tier = asked()
        let question = tier.shared[0]
        tier.remove(command)
        if case .hit(var hit) = tier.stack.hit(question) {
            hit.metadata.tags = ["red"]
            tier.stack.finish(question, .hit(hit))
        }
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    /// The copy into our own cache is canceled, and restarts without a key.
    @Test(arguments: removals)
    func whatIsRemovedWhileItIsCopiedIsNotKept(command: CacheCommand) {
        var tier = asked()
        tier.hit(tags: ["red"])
        #expect(tier.stores.map(\.isPromotion) == [true])
        tier.remove(command)
        tier.stack.goOn()
        #expect(tier.stores.map(\.isPromotion) == [false] && tier.stores[0].delivers)
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    @Test(arguments: others)
    func removalsOfOtherEntriesDoNotMatter(command: CacheCommand) {
        var tier = asked()
        tier.remove(command)
        tier.hit(tags: ["red"])
        #expect(tier.stores.map(\.isPromotion) == [true])
        tier.stack.finishAll()
        #expect(tier.promoted == 1 && tier.isAtRest)
    }

    /// A query that starts after a removal was answered finds later stores.
    @Test func aRemovalThatIsOverDoesNotMatter() {
        var tier = PromotionStack()
        tier.remove(Self.removals[0])
        tier.stack.finishAll()
        #expect(tier.stack.answers[7] != nil)
        _ = tier.load()
        tier.missOwn()
        tier.hit()
        tier.stack.finishAll()
        #expect(tier.promoted == 1 && tier.isAtRest)
    }

    /// The answer may predate a removal that started earlier and is still in flight.
    @Test func aQueryThatBeginsDuringARemovalIsNotKept() {
        var tier = PromotionStack()
        tier.remove(Self.removals[0])
        let removal = tier.shared[0]
        tier.finishOwn { if case .entry = $0 { true } else { false } }
        _ = tier.load()
        tier.missOwn()
        let question = tier.shared.first {
            if case .query = $0.job.work { true } else { false }
        }
        if let question { tier.stack.finish(question, tier.stack.hit(question)) }
        #expect(tier.stores.map(\.key) == [nil])
        tier.stack.finish(removal)
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    @Test(arguments: [true, false])
    func anOriginalThatIsRemovedMeanwhileIsNotKept(isCopying: Bool) {
        var tier = PromotionStack(.disk)
        _ = tier.load(.image(size: 10))
        tier.missOwn()
        tier.stack.finish(tier.shared[0], .miss)
        tier.missOwn()
        tier.hit()
        if isCopying {
            tier.stack.finish(.decode)
            tier.stack.goOn()
            #expect(tier.stores.contains { $0.isPromotion })
        }
        tier.remove(
            CacheCommand(number: 7, action: .remove, cache: "high", key: PromotionStack.url))
        tier.stack.goOn()
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    // MARK: - Stores

    /// A load that skips the caches stores a newer image in the meantime.
    private mutating func storeNewer(in tier: inout PromotionStack) {
        _ = tier.load(.loader())
        tier.stack.run(.fetch, .decode)
    }

    @Test mutating func whatIsStoredWhileTheExternalCacheIsAskedStays() throws {
        var tier = asked()
        let question = try #require(tier.shared.first)
        storeNewer(in: &tier)
        #expect(tier.stores.map(\.isPromotion) == [false])
        tier.finishOwn(Self.isStore)
        tier.stack.finish(question, tier.stack.hit(question))
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    @Test mutating func whatIsStoredWhileAHitIsCopiedStays() throws {
        var tier = asked()
        tier.hit()
        #expect(tier.stores.map(\.isPromotion) == [true])
        storeNewer(in: &tier)
        tier.stack.goOn()
        #expect(tier.stores.filter(\.isPromotion).isEmpty && tier.stores.count == 2)
        #expect(!keeps(&tier) && tier.promoted == 0 && tier.isAtRest)
    }

    // MARK: - Layout changes

    @Test func aQueryFromBeforeAReloadIsNotKept() {
        var tier = asked()
        tier.stack.send(.caches(PromotionStack.layout(.memory)))
        tier.hit()
        #expect(tier.stores.map(\.key) == [nil])
        tier.stack.finishAll()
        #expect(tier.promoted == 0 && tier.isAtRest)
    }

    /// The load was canceled: without a copy in our own cache, nothing is kept.
    @Test func aLoadThatIsCancelledLeavesNothingBehind() {
        var tier = PromotionStack()
        let token = tier.load()
        tier.missOwn()
        tier.hit()
        #expect(tier.stores.map(\.isPromotion) == [true])
        tier.stack.cancel(token)
        #expect(tier.stores.isEmpty)
        tier.stack.finishAll()
        #expect(tier.promoted == 0 && tier.isAtRest)
    }
}

/// Which cache names may have entries promoted from an external cache (SEMANTICS §5.26): our own
/// caches that keep its hits, and the composites whose queries reach those. Bytes under such a name
/// are no evidence against a URL.
@Suite struct PromotedCachesTests {
    private func mayHavePromoted(_ layout: CacheLayout, _ cache: String) -> Bool {
        let prefix = cache.isEmpty ? "" : "\(cache)\u{1F}"
        return layout.mayHavePromoted("\(prefix)\(PromotionStack.url)")
    }

    @Test(arguments: [
        ("tiers", true), ("high", true), ("between", true), ("any", true), ("low", true),
        ("reversed", true), ("lowest", false), ("shared", false), ("other", false), ("", false),
    ])
    func aNameMayHavePromotedHits(cache: String, mayHave: Bool) {
        for promotion in [CachePromotion.memory, .disk] {
            let layout = PromotionStack.layout(promotion)
            #expect(mayHavePromoted(layout, cache) == mayHave && layout.promotes)
        }
        let none = PromotionStack.layout(.none)
        #expect(!mayHavePromoted(none, cache) && !none.promotes)
    }

    /// The default cache has no name in stored keys.
    @Test func theDefaultCacheMayHaveThemToo() {
        let layout = CacheLayout(
            ["tiers": CompositeCache(of: ["shared", ""])],
            external: ["shared": ExternalCache(pool: "team")])
        #expect(mayHavePromoted(layout, "") && mayHavePromoted(layout, "tiers"))
        #expect(!mayHavePromoted(layout, "shared"))
    }

    /// Without external caches, nothing is promoted.
    @Test func withoutExternalCachesNothingIsPromoted() {
        for layout in [
            CacheLayout(), CacheLayout(["tiers": CompositeCache(of: ["low", "high"])]),
            CacheLayout([:], external: ["shared": ExternalCache(pool: "team")]),
        ] {
            #expect(!layout.promotes)
            for cache in ["", "tiers", "low", "high", "shared"] {
                #expect(!mayHavePromoted(layout, cache))
            }
        }
    }
}

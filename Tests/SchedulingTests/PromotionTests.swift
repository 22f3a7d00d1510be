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
        tier.stack.finish(tier.own[0], .failed(ImageError(.badImageData, "another image")))
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

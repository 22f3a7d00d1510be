import Model
import Testing

@testable import Coordinator

/// How an external cache could affect loads that don't use it.
@Suite struct ExternalCacheAttackTests {
    private let client: ClientID
    private var stack: Stack
    private var terms = LoadTerms()
    private let layout = CacheLayout(
        ["three": CompositeCache(of: ["", "theirs", "high"], policies: [:])],
        external: ["theirs": ExternalCache(pool: "team", timeout: 200)])

    init() {
        (stack, client) = Stack.staffed {
            $0.dispatch.pools = WorkerPools([ExternalCacheTests.pool("team")])
        }
        stack.send(.caches(layout))
        (terms.cache, terms.originalCache) = ("theirs", "theirs")
        let pool = ExternalCacheTests.id("team", in: stack.scheduler.limits.dispatch.pools)
        stack.hire(.cache, credit: 4, pool: pool)
    }

    private var theirs: [Stack.Held] {
        stack.allHeld.filter { stack.workers[$0.worker]?.isExternal == true && !$0.isCancelled }
    }

    /// Misses of the result, then a hit of the original.
    private mutating func handOverAnOriginal() throws {
        stack.finish(try #require(theirs.first))
        let query = try #require(theirs.first)
        stack.finish(query, stack.hit(query))
        #expect(stack.held(.decode).count == 1)
    }

    /// Bytes that crash decoders are evidence against that entry, not against the origin's bytes.
    @Test mutating func bytesThatKillDecodersPoisonNoURL() throws {
        let token = stack.load(.image(size: 10), by: client, terms: terms)
        try handOverAnOriginal()
        for _ in 0..<2 {
            stack.crash(try #require(stack.held(.decode).first))
            stack.hire(.decode, credit: 4)
        }
        stack.goOn()
        let removals = theirs.filter { held in
            if case .entry(let work) = held.job.work { work.action == .remove } else { false }
        }
        #expect(removals.count == 1, "it is removed there")
        #expect(stack.held(.fetch).count == 1, "the origin has other bytes")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let other = stack.load(.image(size: 11), by: client)
        stack.finishAll()
        #expect(stack.image(other) != nil, "\(String(describing: stack.error(other)))")
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// Jobs queued because of class low's small share don't count as errors of the pool.
    @Test mutating func whatNobodyWasGivenIsNoFaultOfThePool() {
        for number in 0..<8 {
            stack.load(.image("n\(number)", size: 9, .lowPriority), by: client, terms: terms)
        }
        #expect(theirs.count == 1)
        stack.pass(milliseconds: 250)
        stack.goOn()
        var circuit = stack.scheduler.workGraph.compositeJobs.circuits["team"]
        #expect(circuit?.admits(at: stack.now) ?? true, "one fault, of the one that it had")
        stack.finishAll()
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// After a reload moves a cache to an external pool, memory no longer answers for it.
    @Test mutating func whatWasOursIsAskedOfWhoHoldsItNow() {
        stack.send(.caches(CacheLayout([:])))
        stack.publish("theirs\u{1F}http://example.org/a.jpg")
        #expect(stack.scheduler.report["indexedHits"] == 1)
        let before = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(before)?.cacheType == .memory)
        stack.send(.caches(layout))
        stack.scheduler.reconfigured()
        let after = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(after) == nil && theirs.count == 1)
        stack.finishAll()
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    /// An external cache of higher priority is queried each time.
    @Test mutating func aHitBelowACacheOfOthersIsNotRemembered() throws {
        (terms.cache, terms.originalCache) = ("three", "three")
        let reference = stack.publish("http://example.org/a.jpg")
        let info = ImageInfo(format: .png, size: PixelSize(width: 20, height: 20))
        let hit = CacheHit(
            reference: reference, tier: .memory, metadata: StoredMetadata(info: info))
        for _ in 0..<2 {
            stack.load(.image(), by: client, terms: terms)
            stack.finish(try #require(stack.held(.query).first), .miss)
            #expect(theirs.count == 1, "it may have it by now")
            stack.finish(try #require(theirs.first))
            let own = try #require(stack.held(.query).first)
            stack.finish(own, .hit(hit))
        }
        stack.finishAll()
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// Unanswered stores don't block decodes of other pools.
    @Test mutating func storesThatHangKeepNoDecoderFromItsJobs() {
        stack.load(.image(size: 10), by: client, terms: terms)
        while let held = stack.allHeld.first(where: { held in
            if case .store = held.job.work { return !theirs.contains { $0.job.id == held.job.id } }
            return true
        }) {
            stack.finish(held)
            stack.goOn()
        }
        #expect(!theirs.isEmpty, "stores are pending")
        #expect(stack.scheduler.workGraph.dispatcher.jobs.bytesClaimedByCaches > 0)
        #expect(stack.scheduler.workGraph.dispatcher.jobs.bytesClaimedByFurtherPools == 0)
        stack.finishAll()
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }
}

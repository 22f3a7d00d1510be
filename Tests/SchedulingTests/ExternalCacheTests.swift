import Model
import Testing

@testable import Coordinator

/// Caches implemented by plug-ins (SEMANTICS §5.26).
@Suite struct ExternalCacheTests {
    private let url = "http://example.org/a.jpg"
    private let client: ClientID
    private var stack: Stack
    private var terms = LoadTerms()

    static func pool(_ name: String) -> WorkerPool {
        guard let name = PoolName(name) else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .cache)
        pool.trust = .external
        return pool
    }

    static func id(_ name: String, in pools: WorkerPools) -> PoolID? {
        PoolName(name).flatMap { pools.id(of: $0) }
    }

    private static let timeout = 200
    private static let external = ExternalCache(pool: "team", timeout: timeout)

    init() {
        (stack, client) = Stack.staffed { $0.dispatch.pools = WorkerPools([Self.pool("team")]) }
        stack.send(
            .caches(
                CacheLayout(
                    [
                        "both": CompositeCache(
                            of: ["theirs", "low", "high"], policies: [.store: .serial]),
                        "first": CompositeCache(
                            of: ["low", "theirs"], policies: [.store: .serial]),
                        "any": CompositeCache(
                            of: ["low", "theirs"], policies: [.query: .concurrent]),
                    ], external: ["theirs": Self.external])))
        (terms.cache, terms.originalCache) = ("theirs", "theirs")
    }

    private func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

    @discardableResult
    private mutating func hire(credit: Int = 4) -> WorkerID {
        let pool = Self.id("team", in: stack.scheduler.limits.dispatch.pools)
        return stack.hire(.cache, credit: credit, pool: pool)
    }

    /// Jobs at the external cache.
    private var theirs: [Stack.Held] {
        stack.allHeld.filter { stack.workers[$0.worker]?.isExternal == true && !$0.isCancelled }
    }

    /// Jobs at our own cache.
    private var ours: [Stack.Held] {
        stack.allHeld.filter {
            $0.job.work.kind == .cache && stack.workers[$0.worker]?.isExternal == false
        }
    }

    private func counter(_ name: String) -> UInt64 {
        stack.scheduler.report.counters.first { $0.name == "foreignCache\(name).team" }?.value
            ?? 0
    }

    private func asked(_ held: Stack.Held?) -> QueryWork? {
        if case .query(let work)? = held?.job.work { work } else { nil }
    }

    private func stored(_ held: Stack.Held?) -> StoreWork? {
        if case .store(let work)? = held?.job.work { work } else { nil }
    }

    /// Completes everything except the jobs of the external cache.
    private mutating func finishOurs() {
        stack.goOn()
        while let held = stack.allHeld.first(where: { held in
            stack.workers[held.worker]?.isExternal == false
        }) {
            stack.finish(held)
            stack.goOn()
        }
    }

    // MARK: - Queries

    @Test mutating func aCacheOfOthersAloneIsAskedAndOurOwnIsNot() throws {
        hire()
        let token = stack.load(.image(), by: client, terms: terms)
        #expect(ours.isEmpty)
        let query = try #require(asked(theirs.first))
        #expect(query.key == text("theirs") && query.destination == .staging)
        #expect(
            query.tiers == .disk && query.bytesMax == stack.scheduler.limits.workGraph.bodyBytesMax
        )
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
        #expect(counter("Misses") >= 1)
    }

    @Test mutating func withoutAWorkerItIsAMissAtOnce() {
        let token = stack.load(.image(), by: client, terms: terms)
        stack.goOn()
        #expect(stack.held(.fetch).count == 1, "no time has passed")
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
        #expect(counter("Skipped") >= 2, "queries and stores")
    }

    @Test mutating func aHitIsCopiedByOurOwnCacheToWhereClientsRead() throws {
        hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], stack.hit(theirs[0], tier: .memory))
        let copy = try #require(stored(ours.first))
        #expect(copy.key == nil && copy.delivers && copy.tiers.isEmpty)
        #expect(copy.metadata.info.size == PixelSize(width: 20, height: 20))
        #expect(stack.image(token) == nil)
        stack.finish(ours[0])
        let image = try #require(stack.image(token))
        #expect(image.cacheType == .disk && image.reference?.arena == .results)
        #expect(counter("Hits") == 1 && stack.isAtRest)
        #expect(
            stack.scheduler.report["indexedHits"] == 0, "nothing is answered without asking again")
        stack.load(.image(), by: client, terms: terms)
        #expect(theirs.count == 1)
        stack.finishAll()
    }

    @Test mutating func whatOurOwnRefusesIsAMissAndIsRemoved() throws {
        let worker = hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], stack.hit(theirs[0]))
        stack.finish(ours[0], .failed(ImageError(.badImageData, "another image")))
        #expect(stack.workers[worker] != nil, "its session continues")
        guard case .entry(let removal)? = theirs.first?.job.work else {
            Issue.record("it is removed there")
            return
        }
        #expect(removal.action == .remove && removal.key == text("theirs"))
        #expect(stack.held(.fetch).count == 1 && counter("Refused") == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
    }

    @Test mutating func aHitOfAnOriginalIsReadByADecoderWhereItIs() throws {
        let worker = hire()
        terms.cache = "low"
        let token = stack.load(.image(size: 10), by: client, terms: terms)
        stack.finish(.query)
        stack.finish(theirs[0], stack.hit(theirs[0], etag: "\"1\""))
        guard case .decode(let decode)? = stack.held(.decode).first?.job.work else {
            Issue.record("it is decoded")
            return
        }
        let incarnation = try #require(stack.workers[worker]).incarnation
        #expect(decode.source.producer?.incarnation == incarnation)
        #expect(decode.source.producer?.pool.text == "team")
        stack.finishAll()
        #expect(stack.image(token)?.cacheType == .disk && stack.gets.isEmpty && stack.isAtRest)
    }

    @Test mutating func aCacheIsAskedInItsTurn() throws {
        hire()
        terms.cache = "both"
        stack.load(.image(), by: client, terms: terms)
        let first = try #require(asked(ours.first))
        #expect(first.key == text("high") && first.caches == ["low"] && theirs.isEmpty)
        stack.finish(ours[0], .miss)
        #expect(asked(theirs.first)?.key == text("theirs") && ours.isEmpty)
        stack.finishAll()
        terms.cache = "first"
        stack.load(.image("b"), by: client, terms: terms)
        #expect(theirs.count == 1 && ours.isEmpty)
        stack.finish(theirs[0], .miss)
        #expect(asked(ours.first)?.key == "low\u{1F}http://example.org/b.jpg")
        stack.finishAll()
        terms.cache = "any"
        stack.load(.image("c"), by: client, terms: terms)
        #expect(asked(ours.first)?.caches == [] && theirs.isEmpty, "memory comes first")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func whoMeansMemoryDoesNotMeanIt() {
        hire()
        let image = ImageRequest.image().with {
            ($0.queryCacheTypes, $0.storeCacheTypes) = (.memory, .memory)
            $0.originalStoreCacheTypes = .none
        }
        stack.load(image, by: client, terms: terms)
        stack.goOn()
        #expect(theirs.isEmpty && stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.isAtRest && counter("Writes") == 0)
    }

    // MARK: - Timeouts

    @Test mutating func itIsNotWaitedForLongerThanItsPatience() {
        let worker = hire()
        let token = stack.load(.image(), by: client, terms: terms)
        let query = theirs[0]
        stack.pass(milliseconds: Self.timeout - 1)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.fetch).count == 1 && counter("Slow") == 1)
        #expect(stack.workers[worker]?.held[query.job.id]?.isCancelled == true)
        finishOurs()
        #expect(stack.image(token) != nil, "stores do not keep the reply")
        // A late answer is discarded.
        stack.finish(query, stack.hit(query))
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func afterFiveFaultsItIsLeftAlone() {
        hire()
        let names = ["a", "b", "c", "d", "e"]
        for name in names {
            let image = ImageRequest.image(name).with { $0.originalStoreCacheTypes = .none }
            stack.load(image.with { $0.storeCacheTypes = .none }, by: client, terms: terms)
            stack.finish(theirs[0], .failed(ImageError(.internalError, "no")))
            stack.finishAll()
        }
        #expect(counter("Errors") == 5 && counter("LeftAlone") == 1)
        stack.load(.image("f"), by: client, terms: terms)
        stack.goOn()
        #expect(theirs.isEmpty && stack.held(.fetch).count == 1)
        stack.finishAll()
        stack.pass(milliseconds: 1_000)
        stack.load(.image("g"), by: client, terms: terms)
        #expect(theirs.count == 1)
        stack.finish(theirs[0], .miss)
        #expect(counter("LeftAlone") == 0)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func whatWasAskedOfAWorkerThatDiesIsAMiss() {
        let worker = hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.kill(worker)
        #expect(stack.held(.fetch).count == 1 && counter("Errors") == 1)
        hire()
        #expect(theirs.isEmpty, "it is not asked of another one")
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
    }

    @Test mutating func aHitThatIsLostWhileItIsCopiedIsAMiss() {
        let worker = hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], stack.hit(theirs[0]))
        stack.kill(worker)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.gets[url] == 1 && stack.isAtRest)
    }

    // MARK: - Stores

    @Test mutating func aReplyDoesNotWaitForItUnlessItWaitsForStores() throws {
        hire()
        (terms.cache, terms.originalCache) = ("both", "both")
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(ours[0], .miss)
        stack.finish(theirs[0], .miss)
        finishOurs()
        #expect(stack.image(token) != nil)
        let kept = try #require(stored(theirs.first { self.stored($0)?.key == text("theirs") }))
        #expect(!kept.delivers && kept.tiers == .disk)
        stack.finishAll()
        #expect(stack.isAtRest)
        let second = stack.load(
            .image("b", .waitStoreCache), by: client, terms: terms)
        stack.finish(ours[0], .miss)
        stack.finish(theirs[0], .miss)
        finishOurs()
        #expect(stack.image(second) == nil && theirs.count == 1)
        stack.finishAll()
        #expect(stack.image(second)?.storedTiers == .all && stack.isAtRest)
    }

    @Test mutating func nobodyFetchesWhatIsBeingStoredThere() {
        hire()
        let first = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], .miss)
        finishOurs()
        #expect(stack.image(first) != nil && theirs.count == 1, "the store is in flight")
        let second = stack.load(.image(), by: client, terms: terms)
        #expect(theirs.count == 1 && stack.held(.fetch).isEmpty, "the query waits for it")
        stack.finish(theirs[0])
        #expect(asked(theirs.first) != nil)
        stack.finish(theirs[0], stack.hit(theirs[0]))
        stack.finishAll()
        #expect(stack.image(second) != nil && stack.gets[url] == 1 && stack.isAtRest)
    }

    @Test mutating func aStoreThatIsSlowKeepsAQueryNoLongerThanItsPatience() {
        hire()
        stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], .miss)
        finishOurs()
        let second = stack.load(.image(), by: client, terms: terms)
        stack.pass(milliseconds: Self.timeout)
        #expect(stack.held(.fetch).count == 1)
        finishOurs()
        #expect(stack.image(second) != nil)
        stack.pass(milliseconds: 10 * Self.timeout)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    // MARK: - Removals

    private mutating func ask(
        _ action: EntryAction, key: String = "", _ cache: String? = nil, of tiers: CacheTypes = .all
    ) {
        stack.questions[7] = client
        var command = CacheCommand(number: 7, action: action, key: key, tiers: tiers)
        command.cache = cache
        stack.send(.cache(client, command))
    }

    @Test mutating func aRemovalIsAnsweredWhenAllHaveAnswered() {
        hire()
        ask(.remove, key: url, "both")
        #expect(ours.count == 1 && theirs.count == 1)
        stack.finish(ours[0])
        #expect(stack.answers[7] == nil)
        stack.finish(theirs[0])
        #expect(stack.answers[7] == .tiers(.all) && stack.isAtRest)
    }

    @Test mutating func aRemovalWithoutAWorkerSaysSoAndIsMadeUpFor() {
        ask(.remove, key: url, "both")
        stack.finishAll()
        guard case .failure(let error)? = stack.answers[7] else {
            Issue.record("\(stack.answers)")
            return
        }
        #expect(error.message.contains("'theirs'") && error.message.contains("'team'"))
        hire()
        stack.load(.image(), by: client, terms: terms)
        stack.goOn()
        guard case .entry(let work)? = theirs.first?.job.work, theirs.count == 1 else {
            Issue.record("what it may have is not asked for, but removed")
            return
        }
        #expect(work.action == .remove && stack.held(.fetch).count == 1)
        stack.finishAll()
        stack.load(.image(), by: client, terms: terms)
        #expect(asked(theirs.first) != nil, "it is trusted again")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func aRemovalIsNotWaitedForForEver() {
        hire()
        ask(.remove, key: url, "theirs")
        stack.pass(milliseconds: 10 * Self.timeout)
        guard case .failure(let error)? = stack.answers[7] else {
            Issue.record("\(stack.answers)")
            return
        }
        #expect(error.code == .deadlineExceeded)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func whatIsRemovedIsNotStoredAfterwards() {
        let worker = hire()
        stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], .miss)
        finishOurs()
        let stored = theirs[0]
        ask(.remove, key: url, "theirs")
        #expect(stack.workers[worker]?.held[stored.job.id]?.isCancelled == true)
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.disk) && stack.isAtRest)
    }

    @Test mutating func whatIsRemovedFromMemoryStaysThere() {
        let worker = hire()
        stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], .miss)
        finishOurs()
        let stored = theirs[0]
        ask(.remove, key: url, "theirs", of: .memory)
        #expect(stack.workers[worker]?.held[stored.job.id]?.isCancelled == false)
        #expect(theirs.count == 1)
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.none) && stack.isAtRest)
    }

    @Test mutating func clearEmptiesEachOfThem() {
        hire()
        ask(.clear)
        guard case .entry(let work)? = theirs.first?.job.work else {
            Issue.record("it is emptied")
            return
        }
        #expect(work.action == .removeSelected && work.selection.cache == "theirs")
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.all) && stack.isAtRest)
    }

    // MARK: - Refreshes

    /// An outdated entry is removed there before the new one is stored, since the store may fail.
    @Test mutating func whatARefreshReplacesIsRemovedThereFirst() {
        hire()
        let token = stack.load(.image("a", .refreshCached), by: client, terms: terms)
        var done: [JobWork] = []
        while let held = stack.allHeld.first {
            if stack.workers[held.worker]?.isExternal == true { done.append(held.job.work) }
            let isQuery = asked(held) != nil
            stack.finish(held, isQuery ? stack.hit(held, etag: "\"0\"") : stack.success(held))
            stack.goOn()
        }
        let removal = done.firstIndex {
            if case .entry(let work) = $0 {
                work.action == .remove && work.key == text("theirs")
            } else {
                false
            }
        }
        let store = done.lastIndex { if case .store = $0 { true } else { false } }
        #expect(removal.map { $0 < store ?? 0 } == true, "\(done)")
        #expect(stack.image(token)?.cacheType == CacheTypes.none && stack.isAtRest)
        #expect(stack.faults == [], "nothing of theirs is compared by our own")
    }

    // MARK: - Trust

    @Test mutating func itWritesNothingWhereClientsReadAndEvictsNothing() {
        let lies: [(inout Stack, WorkerID) -> Void] = [
            { stack, worker in
                let segment = SegmentAnnouncement(arena: .results, number: 9, size: 1 << 20)
                stack.send(.segmentsOpened(worker, [segment]))
            },
            { stack, worker in stack.send(.evicted(worker, [BlockID(1)])) },
        ]
        for lie in lies {
            let worker = hire()
            lie(&stack, worker)
            #expect(stack.workers[worker] == nil)
        }
    }

    @Test mutating func aHitOfTooManyBytesEndsItsSession() {
        let worker = hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], stack.hit(theirs[0], length: 65 << 20))
        #expect(stack.workers[worker] == nil)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
    }

    @Test mutating func whoDoesNotFindWhatItIsToStoreIsNotBelieved() {
        hire()
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(theirs[0], .miss)
        finishOurs()
        stack.finish(theirs[0], .failed(ImageError(.stale, "nothing is there")))
        #expect(stack.expelled.isEmpty && stack.image(token) != nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func twoWorkersOfAPoolAndOurOwnAreConnectedAtOnce() {
        hire()
        hire()
        #expect(stack.expelled.isEmpty && stack.workers.values.count { $0.kind == .cache } == 3)
    }
}

import Model
import Testing

@testable import Coordinator

/// Caches implemented by plug-ins (SEMANTICS §5.26).
@Suite struct ExternalCacheTests {
    private let url = "http://example.org/a.jpg"
    private var terms = LoadTerms.kept(in: "theirs")
    private static let timeout = 200
    private var stack = Stack.withTeam(
        CacheLayout(
            [
                "both": CompositeCache(of: ["theirs", "low", "high"], policies: [.store: .serial]),
                "first": CompositeCache(of: ["low", "theirs"], policies: [.store: .serial]),
                "any": CompositeCache(of: ["low", "theirs"], policies: [.query: .concurrent]),
            ], external: ["theirs": ExternalCache(pool: "team", timeout: timeout)]))

    private func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

    /// Completes everything except the jobs of the external cache.
    private mutating func finishOurs() {
        stack.goOn()
        while let held = stack.allHeld.first(where: {
            stack.workers[$0.worker]?.isExternal == false
        }) {
            stack.finish(held)
            stack.goOn()
        }
    }

    /// The external cache misses, and everything else is completed.
    private mutating func missAndFinishOurs() {
        stack.finish(stack.theirs[0], .miss)
        finishOurs()
    }

    // MARK: - Queries

    @Test mutating func aCacheOfOthersAloneIsAskedAndOurOwnIsNot() throws {
        stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        #expect(stack.ours.isEmpty)
        let query = try #require(stack.theirs.first?.work.query)
        #expect(query.key == text("theirs") && query.destination == .staging)
        #expect(
            query.tiers == .disk && query.bytesMax == stack.scheduler.limits.workGraph.bodyBytesMax
        )
        stack.end(token)
        #expect(stack.teamCounter("Misses") >= 1)
    }

    @Test mutating func withoutAWorkerItIsAMissAtOnce() {
        let token = stack.load(.image(), terms: terms)
        stack.goOn()
        #expect(stack.held(.fetch).count == 1, "no time has passed")
        stack.end(token)
        #expect(stack.teamCounter("Skipped") >= 2, "queries and stores")
    }

    @Test mutating func aHitIsCopiedByOurOwnCacheToWhereClientsRead() throws {
        stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0], tier: .memory))
        let copy = try #require(stack.ours.first?.work.store)
        #expect(copy.key == nil && copy.delivers && copy.tiers.isEmpty)
        #expect(copy.metadata.info.size == PixelSize(width: 20, height: 20))
        #expect(stack.image(token) == nil)
        stack.finish(stack.ours[0])
        let image = try #require(stack.image(token))
        #expect(image.cacheType == .disk && image.reference?.arena == .results)
        #expect(stack.teamCounter("Hits") == 1 && stack.isAtRest)
        #expect(
            stack.scheduler.report["indexedHits"] == 0, "nothing is answered without asking again")
        stack.load(.image(), terms: terms)
        #expect(stack.theirs.count == 1)
        stack.finishAll()
    }

    @Test mutating func whatOurOwnRefusesIsAMissAndIsRemoved() throws {
        let worker = stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0]))
        stack.fail(stack.ours[0], .badImageData)
        #expect(stack.workers[worker] != nil, "its session continues")
        let removal = try #require(stack.theirs.first?.work.entry)
        #expect(removal.action == .remove && removal.key == text("theirs"))
        #expect(stack.held(.fetch).count == 1 && stack.teamCounter("Refused") == 1)
        stack.end(token)
    }

    @Test mutating func aHitOfAnOriginalIsReadByADecoderWhereItIs() throws {
        let worker = stack.hireTeam()
        terms.cache = "low"
        let token = stack.load(.image(size: 10), terms: terms)
        stack.finish(.query)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0], etag: "\"1\""))
        let decode = try #require(stack.decodes.first)
        let incarnation = try #require(stack.workers[worker]).incarnation
        #expect(decode.source.producer?.incarnation == incarnation)
        #expect(decode.source.producer?.pool.text == "team")
        stack.finishAll()
        #expect(stack.image(token)?.cacheType == .disk && stack.gets.isEmpty && stack.isAtRest)
    }

    @Test mutating func aCacheIsAskedInItsTurn() throws {
        stack.hireTeam()
        terms.cache = "both"
        stack.load(.image(), terms: terms)
        let first = try #require(stack.ours.first?.work.query)
        #expect(first.key == text("high") && first.caches == ["low"] && stack.theirs.isEmpty)
        stack.finish(stack.ours[0], .miss)
        #expect(stack.theirs.first?.work.query?.key == text("theirs") && stack.ours.isEmpty)
        stack.finishAll()
        terms.cache = "first"
        stack.load(.image("b"), terms: terms)
        #expect(stack.theirs.count == 1 && stack.ours.isEmpty)
        stack.finish(stack.theirs[0], .miss)
        #expect(stack.ours.first?.work.query?.key == "low\u{1F}http://example.org/b.jpg")
        stack.finishAll()
        terms.cache = "any"
        stack.load(.image("c"), terms: terms)
        #expect(
            stack.ours.first?.work.query?.caches == [] && stack.theirs.isEmpty, "memory comes first"
        )
        stack.end()
    }

    @Test mutating func whoMeansMemoryDoesNotMeanIt() {
        stack.hireTeam()
        let image = ImageRequest.image().with {
            ($0.queryCacheTypes, $0.storeCacheTypes) = (.memory, .memory)
            $0.originalStoreCacheTypes = .none
        }
        stack.load(image, terms: terms)
        stack.goOn()
        #expect(stack.theirs.isEmpty && stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.isAtRest && stack.teamCounter("Writes") == 0)
    }

    // MARK: - Timeouts

    @Test mutating func itIsNotWaitedForLongerThanItsPatience() {
        let worker = stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        let query = stack.theirs[0]
        stack.pass(milliseconds: Self.timeout - 1)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.fetch).count == 1 && stack.teamCounter("Slow") == 1)
        #expect(stack.workers[worker]?.held[query.job.id]?.isCancelled == true)
        finishOurs()
        #expect(stack.image(token) != nil, "stores do not keep the reply")
        // A late answer is discarded.
        stack.finish(query, stack.hit(query))
        stack.end()
    }

    @Test mutating func afterFiveFaultsItIsLeftAlone() {
        stack.hireTeam()
        let names = ["a", "b", "c", "d", "e"]
        for name in names {
            let image = ImageRequest.image(name).discardingOriginal
            stack.load(image.with { $0.storeCacheTypes = .none }, terms: terms)
            stack.finish(stack.theirs[0], .failed(ImageError(.internalError, "no")))
            stack.finishAll()
        }
        #expect(stack.teamCounter("Errors") == 5 && stack.teamCounter("LeftAlone") == 1)
        stack.load(.image("f"), terms: terms)
        stack.goOn()
        #expect(stack.theirs.isEmpty && stack.held(.fetch).count == 1)
        stack.finishAll()
        stack.pass(milliseconds: 1_000)
        stack.load(.image("g"), terms: terms)
        #expect(stack.theirs.count == 1)
        stack.finish(stack.theirs[0], .miss)
        #expect(stack.teamCounter("LeftAlone") == 0)
        stack.end()
    }

    @Test mutating func whatWasAskedOfAWorkerThatDiesIsAMiss() {
        let worker = stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        stack.kill(worker)
        #expect(stack.held(.fetch).count == 1 && stack.teamCounter("Errors") == 1)
        stack.hireTeam()
        #expect(stack.theirs.isEmpty, "it is not asked of another one")
        stack.end(token)
    }

    @Test mutating func aHitThatIsLostWhileItIsCopiedIsAMiss() {
        let worker = stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0]))
        stack.kill(worker)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.gets[url] == 1 && stack.isAtRest)
    }

    // MARK: - Stores

    @Test mutating func aReplyDoesNotWaitForItUnlessItWaitsForStores() throws {
        stack.hireTeam()
        terms = .kept(in: "both")
        let token = stack.load(.image(), terms: terms)
        stack.finish(stack.ours[0], .miss)
        missAndFinishOurs()
        #expect(stack.image(token) != nil)
        let kept = try #require(
            stack.theirs.compactMap(\.work.store).first { $0.key == text("theirs") })
        #expect(!kept.delivers && kept.tiers == .disk)
        stack.end()
        let second = stack.load(.image("b", .waitStoreCache), terms: terms)
        stack.finish(stack.ours[0], .miss)
        missAndFinishOurs()
        #expect(stack.image(second) == nil && stack.theirs.count == 1)
        stack.finishAll()
        #expect(stack.image(second)?.storedTiers == .all && stack.isAtRest)
    }

    @Test mutating func nobodyFetchesWhatIsBeingStoredThere() {
        stack.hireTeam()
        let first = stack.load(.image(), terms: terms)
        missAndFinishOurs()
        #expect(stack.image(first) != nil && stack.theirs.count == 1, "the store is in flight")
        let second = stack.load(.image(), terms: terms)
        #expect(stack.theirs.count == 1 && stack.held(.fetch).isEmpty, "the query waits for it")
        stack.finish(stack.theirs[0])
        #expect(stack.theirs.first?.work.query != nil)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0]))
        stack.finishAll()
        #expect(stack.image(second) != nil && stack.gets[url] == 1 && stack.isAtRest)
    }

    @Test mutating func aStoreThatIsSlowKeepsAQueryNoLongerThanItsPatience() {
        stack.hireTeam()
        stack.load(.image(), terms: terms)
        missAndFinishOurs()
        let second = stack.load(.image(), terms: terms)
        stack.pass(milliseconds: Self.timeout)
        #expect(stack.held(.fetch).count == 1)
        finishOurs()
        #expect(stack.image(second) != nil)
        stack.pass(milliseconds: 10 * Self.timeout)
        stack.end()
    }

    // MARK: - Removals

    @Test mutating func aRemovalIsAnsweredWhenAllHaveAnswered() {
        stack.hireTeam()
        stack.ask(7, .remove, url, in: "both")
        #expect(stack.ours.count == 1 && stack.theirs.count == 1)
        stack.finish(stack.ours[0])
        #expect(stack.answers[7] == nil)
        stack.finish(stack.theirs[0])
        #expect(stack.answers[7] == .tiers(.all) && stack.isAtRest)
    }

    @Test mutating func aRemovalWithoutAWorkerSaysSoAndIsMadeUpFor() throws {
        stack.ask(7, .remove, url, in: "both")
        stack.finishAll()
        let error = try #require(stack.refusal(7))
        #expect(error.message.contains("'theirs'") && error.message.contains("'team'"))
        stack.hireTeam()
        stack.load(.image(), terms: terms)
        stack.goOn()
        let work = try #require(stack.theirs.first?.work.entry)
        #expect(work.action == .remove && stack.held(.fetch).count == 1)
        stack.finishAll()
        stack.load(.image(), terms: terms)
        #expect(stack.theirs.first?.work.query != nil, "it is trusted again")
        stack.end()
    }

    @Test mutating func aRemovalIsNotWaitedForForEver() throws {
        stack.hireTeam()
        stack.ask(7, .remove, url, in: "theirs")
        stack.pass(milliseconds: 10 * Self.timeout)
        let error = try #require(stack.refusal(7))
        #expect(error.code == .deadlineExceeded)
        stack.end()
    }

    @Test mutating func whatIsRemovedIsNotStoredAfterwards() {
        let worker = stack.hireTeam()
        stack.load(.image(), terms: terms)
        missAndFinishOurs()
        let stored = stack.theirs[0]
        stack.ask(7, .remove, url, in: "theirs")
        #expect(stack.workers[worker]?.held[stored.job.id]?.isCancelled == true)
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.disk) && stack.isAtRest)
    }

    @Test mutating func whatIsRemovedFromMemoryStaysThere() {
        let worker = stack.hireTeam()
        stack.load(.image(), terms: terms)
        missAndFinishOurs()
        let stored = stack.theirs[0]
        stack.ask(7, .remove, url, in: "theirs", of: .memory)
        #expect(stack.workers[worker]?.held[stored.job.id]?.isCancelled == false)
        #expect(stack.theirs.count == 1)
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.none) && stack.isAtRest)
    }

    @Test mutating func clearEmptiesEachOfThem() throws {
        stack.hireTeam()
        stack.ask(7, .clear)
        let work = try #require(stack.theirs.first?.work.entry)
        #expect(work.action == .removeSelected && work.selection.cache == "theirs")
        stack.finishAll()
        #expect(stack.answers[7] == .tiers(.all) && stack.isAtRest)
    }

    // MARK: - Refreshes

    /// An outdated entry is removed there before the new one is stored, since the store may fail.
    @Test mutating func whatARefreshReplacesIsRemovedThereFirst() {
        stack.hireTeam()
        let token = stack.load(.image("a", .refreshCached), terms: terms)
        var done: [JobWork] = []
        while let held = stack.allHeld.first {
            if stack.workers[held.worker]?.isExternal == true { done.append(held.job.work) }
            let isQuery = held.work.query != nil
            stack.finish(held, isQuery ? stack.hit(held, etag: "\"0\"") : stack.success(held))
            stack.goOn()
        }
        let removal = done.firstIndex {
            $0.entry?.action == .remove && $0.entry?.key == text("theirs")
        }
        let store = done.lastIndex { $0.store != nil }
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
            let worker = stack.hireTeam()
            lie(&stack, worker)
            #expect(stack.workers[worker] == nil)
        }
    }

    @Test mutating func aHitOfTooManyBytesEndsItsSession() {
        let worker = stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        stack.finish(stack.theirs[0], stack.hit(stack.theirs[0], length: 65 << 20))
        #expect(stack.workers[worker] == nil)
        stack.end(token)
    }

    @Test mutating func whoDoesNotFindWhatItIsToStoreIsNotBelieved() {
        stack.hireTeam()
        let token = stack.load(.image(), terms: terms)
        missAndFinishOurs()
        stack.fail(stack.theirs[0], .stale)
        #expect(stack.expelled.isEmpty && stack.image(token) != nil)
        stack.end()
    }

    @Test mutating func twoWorkersOfAPoolAndOurOwnAreConnectedAtOnce() {
        stack.hireTeam()
        stack.hireTeam()
        #expect(stack.expelled.isEmpty && stack.workers.values.count { $0.kind == .cache } == 3)
    }
}

/// How an external cache could affect loads that don't use it.
@Suite struct ExternalCacheAttackTests {
    private static let layout = CacheLayout(
        ["three": CompositeCache(of: ["", "theirs", "high"], policies: [:])],
        external: ["theirs": ExternalCache(pool: "team", timeout: 200)])
    private var stack = Stack.withTeam(layout)
    private var terms = LoadTerms.kept(in: "theirs")

    init() { stack.hireTeam() }

    /// Misses of the result, then a hit of the original.
    private mutating func handOverAnOriginal() throws {
        stack.finish(try #require(stack.theirs.first))
        let query = try #require(stack.theirs.first)
        stack.finish(query, stack.hit(query))
        #expect(stack.held(.decode).count == 1)
    }

    /// Bytes that crash decoders are evidence against that entry, not against the origin's bytes.
    @Test mutating func bytesThatKillDecodersPoisonNoURL() throws {
        let token = stack.load(.image(size: 10), terms: terms)
        try handOverAnOriginal()
        for _ in 0..<2 {
            stack.crash(try #require(stack.held(.decode).first))
            stack.hire(.decode, credit: 4)
        }
        stack.goOn()
        let removals = stack.theirs.filter { $0.work.entry?.action == .remove }
        #expect(removals.count == 1, "it is removed there")
        #expect(stack.held(.fetch).count == 1, "the origin has other bytes")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let other = stack.load(.image(size: 11))
        stack.finishAll()
        #expect(stack.image(other) != nil, "\(String(describing: stack.error(other)))")
        #expect(stack.isDone)
    }

    /// Jobs queued because of class low's small share don't count as errors of the pool.
    @Test mutating func whatNobodyWasGivenIsNoFaultOfThePool() {
        for number in 0..<8 {
            stack.load(.image("n\(number)", size: 9, .lowPriority), terms: terms)
        }
        #expect(stack.theirs.count == 1)
        stack.pass(milliseconds: 250)
        stack.goOn()
        var circuit = stack.scheduler.workGraph.compositeJobs.circuits["team"]
        #expect(circuit?.admits(at: stack.now) ?? true, "one fault, of the one that it had")
        stack.finishAll()
        #expect(stack.isDone)
    }

    /// After a reload moves a cache to an external pool, memory no longer answers for it.
    @Test mutating func whatWasOursIsAskedOfWhoHoldsItNow() {
        stack.send(.caches(CacheLayout([:])))
        stack.publish("theirs\u{1F}http://example.org/a.jpg")
        #expect(stack.scheduler.report["indexedHits"] == 1)
        let before = stack.load(.image(), terms: terms)
        #expect(stack.image(before)?.cacheType == .memory)
        stack.send(.caches(Self.layout))
        stack.scheduler.reconfigured()
        let after = stack.load(.image(), terms: terms)
        #expect(stack.image(after) == nil && stack.theirs.count == 1)
        stack.finishAll()
        #expect(stack.isDone)
    }

    /// An external cache of higher priority is queried each time.
    @Test mutating func aHitBelowACacheOfOthersIsNotRemembered() throws {
        terms = .kept(in: "three")
        let reference = stack.publish("http://example.org/a.jpg")
        let info = ImageInfo(format: .png, size: PixelSize(width: 20, height: 20))
        let hit = CacheHit(
            reference: reference, tier: .memory, metadata: StoredMetadata(info: info))
        for _ in 0..<2 {
            stack.load(.image(), terms: terms)
            stack.finish(try #require(stack.held(.query).first), .miss)
            #expect(stack.theirs.count == 1, "it may have it by now")
            stack.finish(try #require(stack.theirs.first))
            let own = try #require(stack.held(.query).first)
            stack.finish(own, .hit(hit))
        }
        stack.finishAll()
        #expect(stack.isDone)
    }

    /// Unanswered stores don't block decodes of other pools.
    @Test mutating func storesThatHangKeepNoDecoderFromItsJobs() {
        stack.load(.image(size: 10), terms: terms)
        while let held = stack.allHeld.first(where: { held in
            held.work.store == nil || !stack.theirs.contains { $0.job.id == held.job.id }
        }) {
            stack.finish(held)
            stack.goOn()
        }
        #expect(!stack.theirs.isEmpty, "stores are pending")
        #expect(stack.scheduler.workGraph.dispatcher.jobs.bytesClaimedByCaches > 0)
        #expect(stack.scheduler.workGraph.dispatcher.jobs.bytesClaimedByFurtherPools == 0)
        stack.finishAll()
        #expect(stack.isDone)
    }
}

/// Removals from external caches in steps (SEMANTICS §5.26).
@Suite struct RemovalStepTests {
    private var stack = Stack.withTeam(
        CacheLayout([:], external: ["theirs": ExternalCache(pool: "team", timeout: 200)]))

    init() { stack.hireTeam() }

    private var step: EntryWork? {
        stack.theirs.first?.work.entry
    }

    private mutating func remove(wantsProgress: Bool = true) {
        var command = CacheCommand(number: 7, action: .removeSelected, key: "")
        command.selection = EntrySelection(cache: "theirs", tag: "red")
        command.wantsProgress = wantsProgress
        stack.ask(command)
    }

    private mutating func finish(next: UInt64, removed: UInt64, total: UInt64 = 0) {
        var page = EntryPage(next: next, disk: EntryCount(entries: removed, bytes: 10 * removed))
        (page.examined, page.total) = (100, total)
        stack.finish(stack.theirs[0], .entries(page))
    }

    private var failure: ImageError? { stack.refusal(7) }

    @Test mutating func itGoesOnUntilItIsDone() throws {
        remove()
        #expect(step?.inSteps == true && step?.after == 0)
        finish(next: 5, removed: 30, total: 270)
        #expect(step?.after == 5 && stack.answers[7] == nil)
        #expect(stack.removals[7]?.last?.disk.entries == 30)
        #expect(stack.removals[7]?.last?.examined == 100 && stack.removals[7]?.last?.total == 300)
        finish(next: 9, removed: 50, total: 220)
        finish(next: 0, removed: 10, total: 210)
        let page = try #require(stack.page(7))
        #expect(page.disk == EntryCount(entries: 90, bytes: 900) && page.next == 0)
        #expect(page.examined == 300 && stack.removals[7]?.count == 2 && stack.isAtRest)
    }

    @Test mutating func whoDoesNotWantProgressIsToldTheEnd() {
        remove(wantsProgress: false)
        finish(next: 5, removed: 30)
        finish(next: 0, removed: 1)
        #expect(stack.removals[7] == nil && stack.answers[7] != nil && stack.isAtRest)
    }

    /// Each step has the timeout of a removal: ten times the query timeout.
    @Test mutating func timeCountsByStep() {
        remove()
        for next in 1...5 {
            stack.pass(milliseconds: 1_900)
            finish(next: UInt64(next), removed: 1, total: 400)
        }
        #expect(failure == nil)
        stack.pass(milliseconds: 2_000)
        #expect(failure?.code == .deadlineExceeded)
        #expect(failure?.details["removed"] == "5", "\(String(describing: failure))")
        #expect(failure?.message.contains("'theirs'") == true)
        stack.end()
    }

    @Test mutating func aWorkerThatStopsLeavesARest() {
        remove()
        finish(next: 1, removed: 40, total: 860)
        finish(next: 2, removed: 60, total: 800)
        stack.kill(stack.theirs[0].worker)
        #expect(failure?.details["removed"] == "100" && failure?.details["left"] == "700")
        #expect(failure?.message.contains("about 700 entries") == true)
        #expect(stack.isAtRest)
        stack.hireTeam()
        remove()
        finish(next: 0, removed: 1)
        #expect(stack.page(7) != nil)
    }

    @Test mutating func aFailureInTheFirstStepSaysNoMore() {
        remove()
        stack.finish(stack.theirs[0], .failed(ImageError(.internalError, "no")))
        #expect(failure?.details["removed"] == nil && stack.isAtRest)
    }

    /// What an external cache reports, and what the operator gets.
    @Test(arguments: [
        (ErrorCode.connectionFailed, ErrorCode.busy), (.timedOut, .busy), (.arenaFull, .busy),
        (.busy, .busy), (.deadlineExceeded, .deadlineExceeded), (.workerLost, .workerLost),
        (.notSupported, .notSupported), (.badImageData, .internalError),
        (.internalError, .internalError),
    ])
    mutating func aFailureThatMayPassIsBusy(told: ErrorCode, expected: ErrorCode) {
        remove()
        stack.finish(stack.theirs[0], .failed(ImageError(told, "no server")))
        #expect(failure?.code == expected && stack.isAtRest)
        #expect(failure?.message == "the cache 'theirs' failed: no server")
    }

    @Test mutating func whoTurnsInCirclesIsStopped() {
        remove()
        finish(next: 3, removed: 1)
        finish(next: 3, removed: 0)
        #expect(failure?.message.contains("does not terminate") == true && stack.isAtRest)
    }

    @Test mutating func whenItsOperatorLeavesItEnds() {
        remove()
        finish(next: 3, removed: 1)
        stack.disconnect()
        #expect(stack.theirs.isEmpty)
        stack.end()
    }

    @Test mutating func othersAreServedInBetween() {
        let terms = LoadTerms().with { $0.cache = "theirs" }
        remove()
        finish(next: 3, removed: 1)
        let token = stack.load(.image(), terms: terms)
        let queries = stack.theirs.compactMap(\.work.query)
        #expect(queries.count == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.answers[7] != nil && stack.isAtRest)
    }

    /// Only a cache that was asked for steps may answer with one.
    @Test mutating func ourOwnCacheRemovesAtOnce() {
        var command = CacheCommand(number: 7, action: .removeSelected, key: "")
        command.selection = EntrySelection(cache: "", tag: "red")
        stack.ask(command)
        let own = stack.worker(.cache)
        stack.finish(stack.ours[0], .entries(EntryPage(next: 5)))
        #expect(stack.workers[own] == nil, "its session ended")
    }
}

/// When the circuit breaker of an external cache opens (SEMANTICS §5.26).
@Suite struct CacheCircuitTests {
    private var circuit = CacheCircuit()
    private var now = Instant(nanoseconds: 1)

    private mutating func fail(_ count: Int = 1) {
        for _ in 0..<count { circuit.failed(at: now) }
    }

    private mutating func isAsked(after milliseconds: Int) -> Bool {
        now = now.adding(milliseconds: milliseconds)
        return circuit.admits(at: now)
    }

    @Test mutating func itIsAskedUntilItFailedFiveTimesInARow() {
        fail(4)
        #expect(isAsked(after: 0) && !circuit.isOpen)
        circuit.answered()
        fail(4)
        #expect(isAsked(after: 0))
        fail()
        #expect(!isAsked(after: 0) && circuit.isOpen)
    }

    @Test mutating func afterAPauseOneIsAskedAndOthersAreNot() {
        fail(5)
        #expect(!isAsked(after: 999))
        #expect(isAsked(after: 1))
        #expect(!isAsked(after: 0) && !isAsked(after: 999))
        circuit.answered()
        #expect(isAsked(after: 0) && isAsked(after: 0) && !circuit.isOpen)
    }

    @Test mutating func eachPauseIsTwiceAsLongUpToAHalfMinute() {
        fail(5)
        for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(!isAsked(after: pause - 1), "after \(pause)")
            #expect(isAsked(after: 1), "after \(pause)")
            fail()
        }
        // Failures of earlier queries have no effect.
        fail(3)
        #expect(isAsked(after: 30_000))
    }

    /// Queries sent before the pause that fail during it change neither the end of this pause nor
    /// the length of the next.
    @Test mutating func aLateFailureDoesNotRestartThePause() {
        fail(5)
        #expect(!isAsked(after: 600))
        fail(5)
        #expect(!isAsked(after: 399))
        #expect(isAsked(after: 1), "a second after it was left alone")
        fail()
        #expect(!isAsked(after: 1_000))
        fail()
        #expect(!isAsked(after: 999))
        #expect(isAsked(after: 1), "two seconds after the trial failed")
    }

    /// A query sent before the pause and answered during it shows that the pool works again.
    @Test mutating func aLateAnswerEndsThePause() {
        fail(5)
        circuit.answered()
        #expect(isAsked(after: 0) && isAsked(after: 0) && !circuit.isOpen)
    }

    /// An answer resets everything: five more errors open the circuit, with the shortest pause.
    @Test mutating func anAnswerForgetsFaultsAndPauses() {
        fail(5)
        #expect(isAsked(after: 1_000))
        fail()
        #expect(isAsked(after: 2_000))
        circuit.answered()
        fail(4)
        #expect(isAsked(after: 0) && !circuit.isOpen)
        fail()
        #expect(!isAsked(after: 999) && isAsked(after: 1))
    }

    @Test mutating func aTrialThatIsNeverAnsweredIsFollowedByAnother() {
        fail(5)
        #expect(isAsked(after: 1_000))
        #expect(!isAsked(after: 500) && isAsked(after: 500))
    }
}

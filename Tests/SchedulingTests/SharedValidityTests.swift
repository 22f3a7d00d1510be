import Model
import Testing

@testable import Coordinator

/// Confirmations by an origin are shared with other machines through an external cache
/// (SEMANTICS §6.7).
@Suite struct SharedValidityTests {
    private static let image = ImageRequest.image(size: 100, .respectCacheControl)
    private static let control = "max-age=60, stale-while-revalidate=30"
    private var stack: Stack
    private let client: ClientID
    private var terms = LoadTerms()

    init() {
        (stack, client) = Stack.staffed {
            $0.dispatch.pools = WorkerPools([ExternalCacheTests.pool("team")])
        }
        stack.scheduler.calendarOffsetMilliseconds = 1_700_000_000_000
        stack.age = 0
        let external = ExternalCache(pool: "team", timeout: 200)
        let both = CompositeCache(of: ["theirs", "low"], policies: [.store: .serial])
        stack.send(.caches(CacheLayout(["both": both], external: ["theirs": external])))
        (terms.cache, terms.originalCache) = ("both", "both")
        let pools = stack.scheduler.limits.dispatch.pools
        stack.hire(.cache, credit: 4, pool: ExternalCacheTests.id("team", in: pools))
    }

    private var theirs: [Stack.Held] {
        stack.allHeld.filter { stack.workers[$0.worker]?.isExternal == true && !$0.isCancelled }
    }

    /// Keys queried at external caches.
    private var questions: [String] {
        theirs.compactMap { held in
            guard case .entry(let work) = held.job.work, work.wantsValidity else { return nil }
            return work.key
        }
    }

    private func caching(age: Int64, _ control: String = SharedValidityTests.control)
        -> OriginCaching
    {
        let born = stack.scheduler.calendarNow - age * 1_000
        return OriginCaching(CacheControl(control), ResponseAge(bornMilliseconds: born))
    }

    /// Our own cache has the image with that age in seconds.
    private mutating func load(age: Int64) -> Token {
        let token = stack.load(Self.image, by: client, terms: terms)
        if let query = stack.held(.query).first(where: { held in
            if case .query = held.job.work { true } else { false }
        }) {
            stack.finish(query, stack.hit(query, etag: "\"1\"", caching: caching(age: age)))
        }
        return token
    }

    private mutating func confirm(_ age: Int64, etag: String = "\"1\"") {
        guard let held = theirs.first else {
            Issue.record("nothing is asked")
            return
        }
        stack.finish(held, .validity(Validity(caching: caching(age: age), etag: etag)))
    }

    @Test mutating func whatAnotherMachineHadConfirmedIsNotAskedForAgain() throws {
        let token = load(age: 200)
        #expect(questions.count == 1 && questions[0].hasPrefix("theirs\u{1F}"))
        #expect(stack.held(.fetch).isEmpty && stack.image(token) == nil)
        confirm(10)
        #expect(stack.image(token)?.cacheType == .disk && stack.held(.fetch).isEmpty)
        #expect(stack.image(token)?.validity?.caching == caching(age: 10))
        #expect(theirs.isEmpty, "it isn't sent its own confirmation")
        let renewed = stack.finishRenewals()
        #expect(renewed.count == 2 && renewed.allSatisfy { $0.key.hasPrefix("low\u{1F}") })
        let second = load(age: 200)
        #expect(stack.image(second) != nil && theirs.isEmpty && stack.held(.fetch).isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest && stack.gets.isEmpty, "\(stack)")
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
        while let held = theirs.first {
            if case .entry(let work) = held.job.work { renewals.append(work) }
            stack.finish(held)
        }
        #expect(
            renewals.count == 2 && renewals.allSatisfy { $0.action == .renew && $0.tiers == .disk })
        #expect(renewals.allSatisfy { $0.renewal?.caching?.cacheControl.maxAge == 5 })
        #expect(renewals.allSatisfy { $0.renewal?.etag == "\"1\"" && $0.renewal?.expiry != nil })
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
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
        stack.finishAll()
        #expect(stack.isAtRest && stack.gets.isEmpty, "\(stack)")
    }

    /// A worker of an earlier version only reports whether it has the entry.
    @Test mutating func anEarlierWorkerCostsAQuestion() {
        let token = load(age: 200)
        while let held = theirs.first { stack.finish(held) }
        #expect(stack.held(.fetch).count == 1)
        stack.finish(.fetch, .failed(stack.notModified(nil)))
        while let held = theirs.first {
            stack.finish(held, .failed(ImageError(.notSupported, "it does not")))
        }
        #expect(stack.image(token) != nil)
        let counters = stack.scheduler.report.counters
        #expect(counters.first { $0.name == "foreignCacheErrors.team" }?.value ?? 0 == 0)
        // A request that it didn't support isn't counted as a removal: it stays trusted.
        stack.finishAll()
        let second = stack.load(.image("b"), by: client, terms: terms)
        stack.finishAll()
        #expect(stack.image(second) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func aSlowCacheIsNotWaitedFor() {
        _ = load(age: 200)
        stack.pass(milliseconds: 200)
        #expect(stack.held(.fetch).isEmpty && questions.count == 1, "the original is next")
        stack.pass(milliseconds: 200)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func anExplicitRefreshAsksTheOrigin() {
        let image = ImageRequest.image(size: 100, .refreshCached)
        stack.load(image, by: client, terms: terms)
        stack.finish(stack.held(.query)[0], stack.hit(stack.held(.query)[0], etag: "\"1\""))
        #expect(questions.isEmpty && stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// After a removal by an operator, only the origin can confirm the entry.
    @Test mutating func afterARemovalItsAnswerDoesNotCount() {
        let token = load(age: 200)
        stack.questions[1] = client
        var command = CacheCommand(number: 1, action: .removeSelected, key: "")
        command.selection.url = "http://example.org/a.jpg"
        stack.send(.cache(client, command))
        confirm(10)
        stack.finishAll()
        #expect(stack.gets["http://example.org/a.jpg"] == 1)
        #expect(stack.image(token) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoLeavesStopsAsking() {
        let token = load(age: 200)
        stack.send(.cancel(client, token))
        #expect(theirs.isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }
}

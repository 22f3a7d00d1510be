import Model
import Testing

@testable import Coordinator

/// Terms that a configuration sets for requests (`LoadTerms`), and work that is shared
/// nevertheless.
struct TermsTests {
    private static let url = "http://example.org/a.jpg"

    private static func terms(_ change: (inout LoadTerms) -> Void) -> LoadTerms {
        var terms = LoadTerms()
        change(&terms)
        return terms
    }

    private static func kept(_ cache: String) -> LoadTerms {
        terms { ($0.cache, $0.originalCache) = (cache, cache) }
    }

    private static let image = ImageRequest.image(size: 5, .fromLoaderOnly).with {
        $0.originalStoreCacheTypes = .disk
    }

    /// Runs to the end. Returns the keys of all stores.
    private static func storedKeys(_ stack: inout Stack) -> [String] {
        var keys: [String] = []
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key { keys.append(key) }
            stack.finish(held)
        }
        return keys
    }

    // MARK: - Keys

    @Test func oneTransferIsKeptUnderEveryText() {
        var (stack, client) = Stack.staffed()
        stack.load(Self.image, by: client)
        stack.load(Self.image, by: client, terms: Self.kept("x"))
        stack.load(Self.image, by: client, terms: Self.terms { $0.base = .own("k") })
        let keys = Self.storedKeys(&stack)
        #expect(stack.gets == [Self.url: 1])
        let originals = [Self.url, "x\u{1F}\(Self.url)", "k\u{1E}="]
        #expect(Set(originals).isSubset(of: keys))
        #expect(keys.count == 6 && Set(keys).count == 6)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatWasStoredUnderOneTextIsNotStoredUnderIt() {
        var (stack, client) = Stack.staffed()
        let waiting = Self.image.with { $0.options.insert(.waitStoreCache) }
        let one = stack.load(waiting, by: client, terms: Self.kept("x"))
        let other = stack.load(waiting, by: client, terms: Self.kept("y"))
        _ = Self.storedKeys(&stack)
        #expect(stack.image(one)?.key == stack.image(other)?.key, "a cache is in no key")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aVarianceHoldsForEveryTextOfItsTransfer() {
        var (stack, client) = Stack.staffed()
        stack.vary = "Accept"
        let image = Self.image.with { $0.headers = [HTTPHeader(name: "Accept", value: "i/w")] }
        stack.load(image, by: client)
        stack.load(image, by: client, terms: Self.kept("x"))
        stack.run(.fetch)
        // A load that arrives after the bytes is affected as well.
        stack.load(image, by: client, terms: Self.kept("y"))
        let keys = Self.storedKeys(&stack)
        #expect(stack.gets == [Self.url: 1])
        #expect(keys.count == 6 && keys.allSatisfy { $0.contains("-Vary(vary=accept;accept=i/w)") })
        for cache in ["", "x", "y"] {
            let again = image.with { $0.options = [] }
            stack.load(again, by: client, terms: Self.kept(cache))
            guard case .query(let query) = stack.held(.query).first?.job.work else {
                Issue.record("the cache is asked")
                return
            }
            #expect(query.key.contains("-Vary("), "\(query.key)")
            stack.finishAll()
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func anIdentityMovesNobodyElsesEntries() {
        var (stack, client) = Stack.staffed()
        stack.vary = "Accept"
        stack.load(Self.image, by: client, terms: LoadTerms(identity: "one"))
        _ = Self.storedKeys(&stack)
        stack.load(.image(size: 5), by: client, terms: LoadTerms(identity: "two"))
        guard case .query(let query) = stack.held(.query).first?.job.work else {
            Issue.record("the cache is asked")
            return
        }
        #expect(!query.key.contains("-Vary("))
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aRefreshReplacesWhatIsBeingStoredUnderOtherTexts() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image(size: 5, .refreshCached), by: client)
        stack.finish(stack.held(.query)[0], stack.hit(stack.held(.query)[0], etag: "\"1\""))
        let older = stack.load(Self.image, by: client, terms: Self.kept("x"))
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.image(older) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - The loader

    @Test func whoMayNotDownloadGetsWhatCachesHave() {
        var (stack, client) = Stack.staffed()
        let mayNot = Self.terms { $0.mayDownload = false }
        let missing = stack.load(.image(size: 5), by: client, terms: mayNot)
        stack.finishAll()
        #expect(stack.isMiss(missing))
        let cached = stack.load(.image(size: 5, .refreshCached), by: client, terms: mayNot)
        stack.finish(stack.held(.query)[0], stack.hit(stack.held(.query)[0]))
        #expect(stack.image(cached) != nil)
        #expect(stack.gets.isEmpty && stack.isAtRest, "\(stack)")
    }

    @Test func patternsOfSourcesGoAlongWithEachFetch() {
        var (stack, client) = Stack.staffed()
        let terms = Self.terms { $0.sources = ["http://example.org/*"] }
        stack.load(.image("a", .fromLoaderOnly), by: client, terms: terms)
        guard case .fetch(let work) = stack.held(.fetch).first?.job.work else {
            Issue.record("it is fetched")
            return
        }
        #expect(work.sources == terms.sources)
        stack.finishAll()
    }

    @Test func whoMayFollowFewerRedirectsSharesNoTransferWithOneThatFollowsMore() {
        var (stack, client) = Stack.staffed()
        let narrow = Self.terms { $0.sources = ["http://example.org/*"] }
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly)
        let free = stack.load(image, by: client)
        let bound = stack.load(image, by: client, terms: narrow)
        let same = stack.load(image, by: client, terms: narrow)
        #expect(
            stack.held(.fetch).map { held -> [String] in
                guard case .fetch(let work) = held.job.work else { return [] }
                return work.sources
            } == [[], narrow.sources])
        // Nor does it use the bytes that were fetched that way.
        stack.finish(stack.held(.fetch)[0])
        let late = stack.load(image, by: client, terms: narrow)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        for token in [free, bound, same, late] { #expect(stack.image(token) != nil) }
        #expect(stack.gets == [Self.url: 2])
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatTheConfigurationRefusesEndsAtOnce() {
        var (stack, client) = Stack.staffed()
        let refused = Self.terms { $0.refusal = ImageError(.addressForbidden, "no") }
        let token = stack.load(.image(), by: client, terms: refused)
        #expect(stack.error(token) == .addressForbidden)
        #expect(stack.isAtRest && stack.allHeld.isEmpty)
    }

    // MARK: - Failure caches

    @Test func profilesHaveBlacklistsOfTheirOwn() {
        var (stack, client) = Stack.staffed()
        let other = Self.terms { $0.scope = "other" }
        stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.run(.fetch)
        stack.fail(.decode, .badImageData)
        let same = stack.load(.image("a", .fromLoaderOnly), by: client)
        #expect(stack.error(same) == .blacklisted)
        let free = stack.load(.image("a", .fromLoaderOnly), by: client, terms: other)
        #expect(stack.reply(free) == nil)
        stack.run(.fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.scheduler.report["blacklisted"] == 2)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aSharedFailureBlocksForThoseWhoSaySo() {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let strict = Self.terms {
            ($0.scope, $0.blocks) = ("strict", [.httpStatus(404): true])
        }
        let lax = Self.terms { ($0.scope, $0.blocks) = ("lax", [.error(.tooManyRedirects): false]) }
        let image = ImageRequest.image("a", .fromLoaderOnly)
        for terms in [strict, lax] { stack.load(image, by: client, terms: terms) }
        let error = ImageError(.invalidDownloadStatusCode, "no", details: ["httpStatus": "404"])
        stack.finish(.fetch, .failed(error))
        let first = stack.load(image, by: client, terms: strict)
        #expect(stack.error(first) == .blacklisted)
        let second = stack.load(image, by: client, terms: lax)
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(second) == .tooManyRedirects)
        #expect(stack.scheduler.report["blacklisted"] == 1, "its own rule forbids it")
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Prefetches

    @Test func eachURLOfAPrefetchIsLoadedOnItsOwnTerms() {
        var (stack, client) = Stack.staffed()
        let (own, refused) = (ImageRequest.image("b", size: 9), ImageRequest.image("c"))
        let all = PrefetchTerms(members: [
            own.url: Resolution(own, Self.kept("x")),
            refused.url: Resolution(
                refused, Self.terms { $0.refusal = ImageError(.addressForbidden, "no") }),
        ])
        let batch = stack.prefetch(["a", "b", "c"], by: client, terms: all)
        var keys: [String] = []
        while let held = stack.held(.query).first, keys.count < 2 {
            if case .query(let query) = held.job.work { keys.append(query.key) }
            stack.finish(held)
        }
        #expect(keys.count == 2 && keys.count { $0.hasPrefix("x\u{1F}") } == 1)
        #expect(keys.contains { $0.contains("9.0") && $0.hasPrefix("x") })
        stack.finishEverything()
        #expect(stack.report(batch)?.skipped == 1)
        #expect(stack.report(batch)?.finished == 3)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatIsWrongWithTheTemplateRefusesThePrefetch() {
        var (stack, client) = Stack.staffed()
        let refused = PrefetchTerms(
            terms: Self.terms { $0.refusal = ImageError(.invalidRequest, "no such profile") })
        let batch = stack.prefetch(["a"], by: client, terms: refused)
        #expect(stack.refusals[batch]?.code == .invalidRequest)
        #expect(stack.isAtRest && stack.allHeld.isEmpty)
    }
}

import Model
import Testing

@testable import Coordinator

/// Terms that a configuration sets for requests (`LoadTerms`), and work that is shared
/// nevertheless.
struct TermsTests {
    private var stack = Stack.staffed()
    private static let url = "http://example.org/a.jpg"

    private static func terms(_ change: (inout LoadTerms) -> Void) -> LoadTerms {
        var terms = LoadTerms()
        change(&terms)
        return terms
    }

    private static func kept(_ cache: String) -> LoadTerms {
        terms { ($0.cache, $0.originalCache) = (cache, cache) }
    }

    private static let image = ImageRequest.loader(size: 5).with {
        $0.originalStoreCacheTypes = .disk
    }

    /// Runs to the end. Returns the keys of all stores.
    private mutating func storedKeys() -> [String] {
        let keys = stack.finishJobs().compactMap(\.storedKey)
        return keys
    }

    // MARK: - Keys

    @Test mutating func oneTransferIsKeptUnderEveryText() {
        stack.load(Self.image)
        stack.load(Self.image, terms: Self.kept("x"))
        stack.load(Self.image, terms: Self.terms { $0.base = .own("k") })
        let keys = storedKeys()
        #expect(stack.gets == [Self.url: 1])
        let originals = [Self.url, "x\u{1F}\(Self.url)", "k\u{1E}="]
        #expect(Set(originals).isSubset(of: keys))
        #expect(keys.count == 6 && Set(keys).count == 6)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatWasStoredUnderOneTextIsNotStoredUnderIt() {
        let waiting = Self.image.with { $0.options.insert(.waitStoreCache) }
        let one = stack.load(waiting, terms: Self.kept("x"))
        let other = stack.load(waiting, terms: Self.kept("y"))
        _ = storedKeys()
        #expect(stack.image(one)?.key == stack.image(other)?.key, "a cache is in no key")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aVarianceHoldsForEveryTextOfItsTransfer() throws {
        stack.vary = "Accept"
        let image = Self.image.with { $0.headers = [HTTPHeader(name: "Accept", value: "i/w")] }
        stack.load(image)
        stack.load(image, terms: Self.kept("x"))
        stack.run(.fetch)
        // A load that arrives after the bytes is affected as well.
        stack.load(image, terms: Self.kept("y"))
        let keys = storedKeys()
        #expect(stack.gets == [Self.url: 1])
        #expect(keys.count == 6 && keys.allSatisfy { $0.contains("-Vary(vary=accept;accept=i/w)") })
        for cache in ["", "x", "y"] {
            let again = image.with { $0.options = [] }
            stack.load(again, terms: Self.kept(cache))
            let query = try #require(stack.held(.query).first?.job.work.query)
            #expect(query.key.contains("-Vary("), "\(query.key)")
            stack.finishAll()
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func anIdentityMovesNobodyElsesEntries() throws {
        stack.vary = "Accept"
        stack.load(Self.image, terms: LoadTerms(identity: "one"))
        _ = storedKeys()
        stack.load(.image(size: 5), terms: LoadTerms(identity: "two"))
        let query = try #require(stack.held(.query).first?.job.work.query)
        #expect(!query.key.contains("-Vary("))
        stack.end()
    }

    @Test mutating func aRefreshReplacesWhatIsBeingStoredUnderOtherTexts() {
        let token = stack.load(.image(size: 5, .refreshCached))
        stack.find(etag: "\"1\"")
        let older = stack.load(Self.image, terms: Self.kept("x"))
        stack.end(token, older)
    }

    // MARK: - The loader

    @Test mutating func whoMayNotDownloadGetsWhatCachesHave() {
        let mayNot = Self.terms { $0.mayDownload = false }
        let missing = stack.load(.image(size: 5), terms: mayNot)
        stack.finishAll()
        #expect(stack.isMiss(missing))
        let cached = stack.load(.image(size: 5, .refreshCached), terms: mayNot)
        stack.find()
        #expect(stack.image(cached) != nil)
        #expect(stack.gets.isEmpty && stack.isAtRest, "\(stack)")
    }

    @Test mutating func patternsOfSourcesGoAlongWithEachFetch() throws {
        let terms = Self.terms { $0.sources = ["http://example.org/*"] }
        stack.load(.loader(), terms: terms)
        let work = try #require(stack.fetches.first)
        #expect(work.sources == terms.sources)
        stack.finishAll()
    }

    @Test mutating func whoMayFollowFewerRedirectsSharesNoTransferWithOneThatFollowsMore() {
        let narrow = Self.terms { $0.sources = ["http://example.org/*"] }
        let image = ImageRequest.loader(size: 5)
        let free = stack.load(image)
        let bound = stack.load(image, terms: narrow)
        let same = stack.load(image, terms: narrow)
        #expect(stack.fetches.map(\.sources) == [[], narrow.sources])
        // Nor does it use the bytes that were fetched that way.
        stack.finishFirst(.fetch)
        let late = stack.load(image, terms: narrow)
        #expect(stack.held(.fetch).count == 1)
        stack.end(free, bound, same, late)
        #expect(stack.gets == [Self.url: 2])
    }

    @Test mutating func whatTheConfigurationRefusesEndsAtOnce() {
        let refused = Self.terms { $0.refusal = ImageError(.addressForbidden, "no") }
        #expect(stack.refusal(of: .image(), terms: refused) == .addressForbidden)
        #expect(stack.isAtRest && stack.allHeld.isEmpty)
    }

    // MARK: - Failure caches

    @Test mutating func profilesHaveBlacklistsOfTheirOwn() {
        let other = Self.terms { $0.scope = "other" }
        stack.load(.loader())
        stack.run(.fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.refusal(of: .loader()) == .blacklisted)
        #expect(stack.outcome(of: .loader(), terms: other) == nil)
        stack.run(.fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.scheduler.report["blacklisted"] == 2)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aSharedFailureBlocksForThoseWhoSaySo() {
        stack = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let strict = Self.terms {
            ($0.scope, $0.blocks) = ("strict", [.httpStatus(404): true])
        }
        let lax = Self.terms { ($0.scope, $0.blocks) = ("lax", [.error(.tooManyRedirects): false]) }
        let image = ImageRequest.loader()
        for terms in [strict, lax] { stack.load(image, terms: terms) }
        let error = ImageError(.invalidDownloadStatusCode, "no", details: ["httpStatus": "404"])
        stack.finish(.fetch, .failed(error))
        #expect(stack.refusal(of: image, terms: strict) == .blacklisted)
        let second = stack.load(image, terms: lax)
        stack.fail(.fetch, .tooManyRedirects)
        #expect(stack.error(second) == .tooManyRedirects)
        #expect(stack.scheduler.report["blacklisted"] == 1, "its own rule forbids it")
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Prefetches

    @Test mutating func eachURLOfAPrefetchIsLoadedOnItsOwnTerms() {
        let (own, refused) = (ImageRequest.image("b", size: 9), ImageRequest.image("c"))
        let all = PrefetchTerms(members: [
            own.url: Resolution(own, Self.kept("x")),
            refused.url: Resolution(
                refused, Self.terms { $0.refusal = ImageError(.addressForbidden, "no") }),
        ])
        let batch = stack.prefetch(["a", "b", "c"], terms: all)
        var keys: [String] = []
        while let held = stack.held(.query).first, keys.count < 2 {
            if case .query(let query) = held.job.work { keys.append(query.key) }
            stack.finish(held)
        }
        #expect(keys.count == 2 && keys.count { $0.hasPrefix("x\u{1F}") } == 1)
        #expect(keys.contains { $0.contains("9.0") && $0.hasPrefix("x") })
        stack.endBatches()
        #expect(stack.report(batch)?.skipped == 1)
        #expect(stack.report(batch)?.finished == 3)
    }

    @Test mutating func whatIsWrongWithTheTemplateRefusesThePrefetch() {
        let refused = PrefetchTerms(
            terms: Self.terms { $0.refusal = ImageError(.invalidRequest, "no such profile") })
        let batch = stack.prefetch(["a"], terms: refused)
        #expect(stack.refusals[batch]?.code == .invalidRequest)
        #expect(stack.isAtRest && stack.allHeld.isEmpty)
    }
}

import Model
import Testing

@testable import Coordinator

/// Cache names that stand for several caches (SEMANTICS §5.16).
@Suite struct CompositeCacheTests {
    private let url = "http://example.org/a.jpg"
    private static let properties = StoredMetadata(
        info: ImageInfo(format: .png, size: PixelSize(width: 20, height: 20)))
    private let client: ClientID
    private var stack: Stack
    private var terms = LoadTerms()

    init() {
        (stack, client) = Stack.staffed()
        stack.send(
            .caches(
                CacheLayout([
                    "both": CompositeCache(of: ["low", "high"]),
                    "any": CompositeCache(of: ["low", "high"], policies: [.query: .concurrent]),
                    "store": CompositeCache(of: ["", "high"], policies: [.store: .serial]),
                ])))
        (terms.cache, terms.originalCache) = ("both", "both")
    }

    private func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

    private func queries() -> [QueryWork] {
        stack.held(.query).compactMap { held in
            if case .query(let work) = held.job.work { work } else { nil }
        }
    }

    @Test func everyOperationHasUpstreamsPolicy() {
        let composite = CompositeCache(of: ["a", "b", "c"])
        #expect(composite.caches(for: .query) == ["c", "b", "a"])
        #expect(composite.caches(for: .store) == ["c"])
        #expect(composite.caches(for: .remove) == ["c", "b", "a"])
        #expect(composite.policy(.query) == .serial && composite.policy(.contains) == .serial)
        #expect(composite.policy(.remove) == .concurrent && composite.policy(.clear) == .concurrent)
        let low = CompositeCache(of: ["a", "b"], policies: [.query: .lowestOnly])
        #expect(low.caches(for: .query) == ["a"])
    }

    @Test mutating func aQueryNamesAllCachesTheHighestFirst() {
        stack.load(.image(), by: client, terms: terms)
        let query = queries().first
        #expect(query?.key == text("high") && query?.caches == ["low"])
        #expect(query?.memoryFirst == false)
        terms.cache = "any"
        stack.load(.image("b"), by: client, terms: terms)
        #expect(queries().contains { $0.memoryFirst && $0.caches == ["low"] })
    }

    @Test mutating func whatIsMadeIsStoredWhereThePolicySays() {
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(.query)
        stack.run(.fetch, .decode)
        guard case .store(let work)? = stack.held(.store).first?.job.work else {
            Issue.record("stored")
            return
        }
        #expect(work.key == text("high") && work.caches.isEmpty && work.delivers)
        stack.finish(.store)
        #expect(stack.image(token)?.key == url)
        terms = LoadTerms()
        (terms.cache, terms.originalCache) = ("store", "store")
        stack.load(.image("b"), by: client, terms: terms)
        stack.finish(.query)
        stack.run(.fetch, .decode)
        guard case .store(let both)? = stack.held(.store).first?.job.work else {
            Issue.record("stored")
            return
        }
        #expect(both.key == "high\u{1F}http://example.org/b.jpg" && both.caches == [""])
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func loadsOfOneNameShareOneLookUpAndOneTransfer() {
        let tokens = (0..<8).map { _ in stack.load(.image(), by: client, terms: terms) }
        #expect(stack.held(.query).count == 1)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.gets.values.allSatisfy { $0 == 1 })
        #expect(stack.isAtRest)
    }

    // MARK: - Hits

    @Test mutating func whatTheHighestHasInMemoryIsAnsweredWithoutTheCache() throws {
        let reference = stack.publish(text("high"))
        let token = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(token)?.reference?.block == reference.block)
        let load = LoadRequest(token: Token(Identifier128(high: 5, low: 5)), image: .image())
        let granted = stack.scheduler.hitTicket(for: load, terms)
        let ticket = try #require(granted)
        #expect(ticket.image.reference?.block == reference.block)
    }

    @Test mutating func whatALowerOneHasIsAnsweredAfterTheHigherWasAsked() {
        let reference = stack.publish(text("low"))
        let hit = CacheHit(reference: reference, tier: .memory, metadata: Self.properties)
        let first = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(first) == nil, "the disk of the higher one may have it")
        stack.finish(.query, .hit(hit))
        #expect(stack.image(first)?.reference?.block == reference.block)
        let second = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(second)?.reference?.block == reference.block)
        let load = LoadRequest(token: Token(Identifier128(high: 5, low: 5)), image: .image())
        let ticket = stack.scheduler.hitTicket(for: load, terms)
        #expect(ticket == nil, "another image may replace it as the answer")
        // From now on the higher one has another image.
        let newer = stack.publish(text("high"))
        let third = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(third)?.reference?.block == newer.block)
        stack.evict(newer.block)
        let fourth = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(fourth) == nil, "its disk may still have that")
        stack.finish(.query, .hit(hit))
        #expect(stack.isAtRest)
    }

    @Test mutating func aStoreOnTheDiskOfTheHigherOneEndsWhatWasFoundLower() {
        let reference = stack.publish(text("low"))
        stack.load(.image(), by: client, terms: terms)
        stack.finish(
            .query, .hit(CacheHit(reference: reference, tier: .memory, metadata: Self.properties)))
        var high = LoadTerms()
        (high.cache, high.originalCache) = ("high", "high")
        stack.load(
            .image().with { ($0.storeCacheTypes, $0.originalStoreCacheTypes) = (.disk, .disk) },
            by: client, terms: high)
        stack.finishAll()
        let token = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(token) == nil)
        #expect(queries().first?.key == text("high"))
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func anyMemoryIsAnswerEnoughWhereAllAreAskedAtOnce() {
        let reference = stack.publish(text("low"))
        terms.cache = "any"
        let token = stack.load(.image(), by: client, terms: terms)
        #expect(stack.image(token)?.reference?.block == reference.block)
    }

    @Test mutating func otherCachesAreAsBefore() {
        stack.publish(text("high"))
        let token = stack.load(.image(), by: client)
        #expect(stack.image(token) == nil)
        #expect(queries().first?.key == url && queries().first?.caches == [])
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    // MARK: - Removal

    /// Removing an entry from any of the caches restarts loads that use the composite name.
    @Test(arguments: ["both", "low", "high"])
    mutating func aRemovalBeginsWhatIsUnderWayAnew(cache: String) {
        let token = stack.load(.image(), by: client, terms: terms)
        stack.finish(.query)
        stack.finish(.fetch)
        #expect(stack.held(.decode).count == 1)
        stack.questions[1] = client
        stack.send(
            .cache(client, CacheCommand(number: 1, action: .remove, cache: cache, key: url)))
        stack.finishAll()
        #expect(stack.gets[url] == 2, "the bytes of before are not kept")
        #expect(stack.image(token) != nil)
        #expect(stack.answers[1] == .tiers(.all))
        #expect(stack.isAtRest)
    }

    @Test mutating func aRemovalOfAnotherCacheLeavesItAlone() {
        stack.load(.image(), by: client, terms: terms)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.questions[1] = client
        stack.send(
            .cache(client, CacheCommand(number: 1, action: .remove, cache: "x", key: url)))
        stack.finishAll()
        #expect(stack.gets[url] == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func clearingANameIsAboutItsCaches() {
        let selection = EntrySelection(cache: "both")
        stack.questions[1] = client
        stack.send(
            .cache(
                client,
                CacheCommand(number: 1, action: .removeSelected, key: "", selection: selection)))
        guard case .entry(let work)? = stack.held(.query).first?.job.work else {
            Issue.record("asked")
            return
        }
        #expect(work.selection.cache == "high" && work.selection.furtherCaches == ["low"])
        #expect(work.selection.matches(text("low"), tags: []))
        #expect(!work.selection.matches(url, tags: []))
        stack.finish(.query, .entries(EntryPage()))
        #expect(stack.isAtRest)
    }

    /// Removing by tag doesn't clear the cache, so it follows the policy for removals.
    @Test func aTagIsRemovedAndNotCleared() {
        let composite = CompositeCache(of: ["low", "high"], policies: [.clear: .lowestOnly])
        let work = EntryWork(
            action: .removeSelected, key: "", tiers: .all,
            selection: EntrySelection(cache: "both", tag: "a"))
        let selection = CacheLayout(["both": composite]).expanded(work).selection
        #expect(selection.cache == "high" && selection.furtherCaches == ["low"])
        #expect(selection.matches(text("low"), tags: ["b", "a"]))
        #expect(!selection.matches(text("low"), tags: ["b"]))
    }

    /// Regardless of the policies, an entry is equally fresh in every cache.
    @Test func whatIsConfirmedIsSoInEachOfThem() {
        let policies = Dictionary(
            uniqueKeysWithValues: CompositeOperation.allCases.map {
                ($0, CompositePolicy.lowestOnly)
            })
        let layout = CacheLayout(["both": CompositeCache(of: ["low", "high"], policies: policies)])
        let work = layout.expanded(EntryWork(action: .renew, key: text("both"), tiers: .all))
        #expect(work.keys == [text("high"), text("low")])
    }

    /// A refresh with different bytes stores them in the highest cache; the entry of a lower one
    /// must not reappear.
    @Test mutating func whatARefreshFindsOutdatedGoesFromAllOfThem() {
        let reference = stack.publish(text("low"))
        let token = stack.load(.image("a", size: nil, .refreshCached), by: client, terms: terms)
        stack.finish(
            .query, .hit(CacheHit(reference: reference, tier: .memory, metadata: Self.properties)))
        stack.finish(.fetch)
        var removed: [String] = []
        for _ in 0..<20 {
            guard let held = stack.allHeld.first else { break }
            if case .entry(let work) = held.job.work, work.action == .remove {
                removed += work.keys
                stack.finish(held, .entry(.all))
            } else {
                stack.finish(held)
            }
        }
        #expect(removed.contains(text("low")), "\(removed)")
        #expect(!removed.contains(text("high")), "a store replaces that")
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test mutating func aKeyTooLongForOneOfTheCachesIsRefused() {
        let long = String(repeating: "n", count: RequestLimits.nameBytesMax)
        stack.send(.caches(CacheLayout(["b": CompositeCache(of: [long])])))
        stack.questions[1] = client
        let key = String(repeating: "k", count: MessageLimits.keyBytesMax - 20)
        stack.send(.cache(client, CacheCommand(number: 1, action: .remove, cache: "b", key: key)))
        guard case .failure(let error)? = stack.answers[1] else {
            Issue.record("refused")
            return
        }
        #expect(error.code == .invalidRequest)
    }
}

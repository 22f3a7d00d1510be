import Model
import Testing

@testable import Coordinator

/// Cache names that stand for several caches (SEMANTICS §5.16).
@Suite struct CompositeCacheTests {
    private let url = "http://example.org/a.jpg"
    private static let properties = StoredMetadata(
        info: ImageInfo(format: .png, size: PixelSize(width: 20, height: 20)))
    private var stack = Stack.staffed()
    private var terms = LoadTerms.kept(in: "both")

    init() {
        stack.send(
            .caches(
                CacheLayout([
                    "both": CompositeCache(of: ["low", "high"]),
                    "any": CompositeCache(of: ["low", "high"], policies: [.query: .concurrent]),
                    "store": CompositeCache(of: ["", "high"], policies: [.store: .serial]),
                ])))
    }

    private func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

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
        stack.load(.image(), terms: terms)
        let query = stack.queries.first
        #expect(query?.key == text("high") && query?.caches == ["low"])
        #expect(query?.memoryFirst == false)
        terms.cache = "any"
        stack.load(.image("b"), terms: terms)
        #expect(stack.queries.contains { $0.memoryFirst && $0.caches == ["low"] })
    }

    @Test mutating func whatIsMadeIsStoredWhereThePolicySays() throws {
        let token = stack.load(.image(), terms: terms)
        stack.run(.query, .fetch, .decode)
        let work = try #require(stack.stores.first)
        #expect(work.key == text("high") && work.caches.isEmpty && work.delivers)
        stack.finish(.store)
        #expect(stack.image(token)?.key == url)
        terms = .kept(in: "store")
        stack.load(.image("b"), terms: terms)
        stack.run(.query, .fetch, .decode)
        let both = try #require(stack.stores.first)
        #expect(both.key == "high\u{1F}http://example.org/b.jpg" && both.caches == [""])
        stack.end()
    }

    @Test mutating func loadsOfOneNameShareOneLookUpAndOneTransfer() {
        let tokens = (0..<8).map { _ in stack.load(.image(), terms: terms) }
        #expect(stack.held(.query).count == 1)
        stack.end(tokens)
        #expect(stack.gets.values.allSatisfy { $0 == 1 })
    }

    // MARK: - Hits

    @Test mutating func whatTheHighestHasInMemoryIsAnsweredWithoutTheCache() throws {
        let reference = stack.publish(text("high"))
        let token = stack.load(.image(), terms: terms)
        #expect(stack.image(token)?.reference?.block == reference.block)
        let ticket = try #require(stack.ticket(.image(), terms))
        #expect(ticket.image.reference?.block == reference.block)
    }

    @Test mutating func whatALowerOneHasIsAnsweredAfterTheHigherWasAsked() {
        let reference = stack.publish(text("low"))
        let hit = CacheHit(reference: reference, tier: .memory, metadata: Self.properties)
        let first = stack.load(.image(), terms: terms)
        #expect(stack.image(first) == nil, "the disk of the higher one may have it")
        stack.finish(.query, .hit(hit))
        #expect(stack.image(first)?.reference?.block == reference.block)
        let second = stack.load(.image(), terms: terms)
        #expect(stack.image(second)?.reference?.block == reference.block)
        let ticket = stack.ticket(.image(), terms)
        #expect(ticket == nil, "another image may replace it as the answer")
        // From now on the higher one has another image.
        let newer = stack.publish(text("high"))
        let third = stack.load(.image(), terms: terms)
        #expect(stack.image(third)?.reference?.block == newer.block)
        stack.evict(newer.block)
        let fourth = stack.load(.image(), terms: terms)
        #expect(stack.image(fourth) == nil, "its disk may still have that")
        stack.finish(.query, .hit(hit))
        #expect(stack.isAtRest)
    }

    @Test mutating func aStoreOnTheDiskOfTheHigherOneEndsWhatWasFoundLower() {
        let reference = stack.publish(text("low"))
        stack.load(.image(), terms: terms)
        stack.finish(
            .query, .hit(CacheHit(reference: reference, tier: .memory, metadata: Self.properties)))
        stack.load(
            .image().with { ($0.storeCacheTypes, $0.originalStoreCacheTypes) = (.disk, .disk) },
            terms: .kept(in: "high"))
        stack.finishAll()
        let token = stack.load(.image(), terms: terms)
        #expect(stack.image(token) == nil)
        #expect(stack.queries.first?.key == text("high"))
        stack.end()
    }

    @Test mutating func anyMemoryIsAnswerEnoughWhereAllAreAskedAtOnce() {
        let reference = stack.publish(text("low"))
        terms.cache = "any"
        let token = stack.load(.image(), terms: terms)
        #expect(stack.image(token)?.reference?.block == reference.block)
    }

    @Test mutating func otherCachesAreAsBefore() {
        stack.publish(text("high"))
        let token = stack.load(.image())
        #expect(stack.image(token) == nil)
        #expect(stack.queries.first?.key == url && stack.queries.first?.caches == [])
        stack.end()
    }

    // MARK: - Removal

    /// Removing an entry from any of the caches restarts loads that use the composite name.
    @Test(arguments: ["both", "low", "high"])
    mutating func aRemovalBeginsWhatIsUnderWayAnew(cache: String) {
        let token = stack.load(.image(), terms: terms)
        stack.run(.query, .fetch)
        #expect(stack.held(.decode).count == 1)
        stack.ask(1, .remove, url, in: cache)
        stack.end(token)
        #expect(stack.gets[url] == 2, "the bytes of before are not kept")
        #expect(stack.answers[1] == .tiers(.all))
    }

    @Test mutating func aRemovalOfAnotherCacheLeavesItAlone() {
        stack.load(.image(), terms: terms)
        stack.run(.query, .fetch)
        stack.ask(1, .remove, url, in: "x")
        stack.end()
        #expect(stack.gets[url] == 1)
    }

    @Test mutating func clearingANameIsAboutItsCaches() throws {
        stack.ask(1, .removeSelected, EntrySelection(cache: "both"))
        let work = try #require(stack.held(.query).first?.job.work.entry)
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
        let token = stack.load(.image("a", size: nil, .refreshCached), terms: terms)
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
        stack.expectRest([token])
    }

    @Test mutating func aKeyTooLongForOneOfTheCachesIsRefused() throws {
        let long = String(repeating: "n", count: RequestLimits.nameBytesMax)
        stack.send(.caches(CacheLayout(["b": CompositeCache(of: [long])])))
        let key = String(repeating: "k", count: MessageLimits.keyBytesMax - 20)
        stack.ask(1, .remove, key, in: "b")
        let error = try #require(stack.refusal(1))
        #expect(error.code == .invalidRequest)
    }
}

/// For which caches memory answers under each query policy, and which ones the cache process is
/// queried for (SEMANTICS §5.16).
@Suite struct CompositePolicyTests {
    private static let url = "http://example.org/a.jpg"
    private static let members = ["low", "middle", "high"]
    private var stack = Stack.staffed()
    private let terms = LoadTerms.kept(in: "all")

    private static func text(_ cache: String) -> String { "\(cache)\u{1F}\(url)" }

    private mutating func stand(by policy: CompositePolicy) {
        stack.send(
            .caches(
                CacheLayout(["all": CompositeCache(of: Self.members, policies: [.query: policy])])))
    }

    /// The query to the cache process on a memory miss.
    @Test(arguments: [
        (CompositePolicy.serial, ["high", "middle", "low"], false),
        (.concurrent, ["high", "middle", "low"], true), (.highestOnly, ["high"], false),
        (.lowestOnly, ["low"], false),
    ]) mutating func aLookUpIsOfTheCachesOfItsPolicy(
        policy: CompositePolicy, caches: [String], memoryFirst: Bool
    ) throws {
        stand(by: policy)
        stack.load(.image(), terms: terms)
        let work = try #require(stack.queries.first)
        #expect(work.key == Self.text(caches[0]) && work.caches == Array(caches.dropFirst()))
        #expect(work.memoryFirst == memoryFirst)
    }

    /// The answering cache for each policy and every set of caches that have an image in memory.
    /// `nil`: the cache process is queried.
    private static func answering(_ policy: CompositePolicy, _ present: Set<String>) -> String? {
        switch policy {
        case .serial, .highestOnly: present.contains("high") ? "high" : nil
        case .lowestOnly: present.contains("low") ? "low" : nil
        case .concurrent: members.last { present.contains($0) }
        }
    }

    @Test(arguments: CompositePolicy.allCases, 0..<8)
    mutating func memoryAnswersForTheCachesOfItsPolicy(
        policy: CompositePolicy, set: Int
    ) throws {
        stand(by: policy)
        var blocks: [String: BlockID] = [:]
        for (index, name) in Self.members.enumerated() where set >> index & 1 == 1 {
            blocks[name] = stack.publish(Self.text(name)).block
        }
        let answering = Self.answering(policy, Set(blocks.keys))
        let token = stack.load(.image(), terms: terms)
        #expect(stack.image(token)?.reference?.block == answering.flatMap { blocks[$0] })
        #expect(stack.queries.isEmpty == (answering != nil))
        // A ticket is granted only if its image remains the answer as long as it is present.
        let ticket = stack.ticket(.image(), terms)
        let lasts = answering != nil && (policy != .concurrent || answering == "high")
        #expect((ticket != nil) == lasts)
    }

    /// Entries known to be in memory are selected by the current policy.
    @Test mutating func anotherPolicyAnswersFromOtherCaches() {
        for name in ["low", "high"] { stack.publish(Self.text(name)) }
        let answers = [CompositePolicy.highestOnly, .lowestOnly, .serial, .lowestOnly].map {
            stand(by: $0)
            let token = stack.load(.image(), terms: terms)
            return stack.image(token)?.reference.flatMap { stack.publishedTexts[$0.block] }
        }
        #expect(answers == ["high", "low", "high", "low"].map(Self.text))
    }
}

import Model
import Testing

@testable import Coordinator

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
                    tier.stack.finish(held, .failed(ImageError(.cancelled, "stopped")))
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
        _ = tier.load(.image("a", .fromLoaderOnly))
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
        tier.stack.send(.cancel(tier.client, token))
        #expect(tier.stores.isEmpty)
        tier.stack.finishAll()
        #expect(tier.promoted == 0 && tier.isAtRest)
    }
}

import Model
import Testing

@testable import Coordinator

/// Responses whose origins restrict who may store them.
struct CacheControlTests {
    private static let url = "http://example.org/a.jpg"
    private static let image = ImageRequest.image(size: 5)

    private static func terms(
        identity: String? = nil, ignores: Bool = false
    ) -> LoadTerms {
        var terms = LoadTerms(identity: identity)
        terms.ignoresCacheControl = ignores
        return terms
    }

    /// Completes a load of an image and returns the keys of its stores.
    private static func stored(
        _ stack: inout Stack, _ terms: LoadTerms = LoadTerms(), by client: ClientID,
        _ image: ImageRequest = image
    ) -> Int {
        let token = stack.load(image, by: client, terms: terms)
        var count = 0
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, work.key != nil { count += 1 }
            stack.finish(held)
        }
        #expect(stack.image(token) != nil)
        return count
    }

    @Test(arguments: [
        (nil, 2, 2), ("max-age=3600, public", 2, 2), ("no-cache, must-revalidate", 2, 2),
        ("no-store", 0, 0), ("No-Store", 0, 0), ("no-cache,\tno-store , must-revalidate", 0, 0),
        ("private", 0, 2), ("max-age=60, PRIVATE", 0, 2), ("private=\"set-cookie\"", 0, 2),
        ("private, no-store", 0, 0), ("x-private, xno-store", 2, 2), ("", 2, 2),
    ]) func nothingIsKeptForWhomItIsNot(control: String?, forAll: Int, forOne: Int) {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = control
        #expect(Self.stored(&stack, by: client) == forAll)
        #expect(Self.stored(&stack, Self.terms(identity: "me"), by: client) == forOne)
        for identity in [nil, "me"] {
            let terms = Self.terms(identity: identity, ignores: true)
            #expect(Self.stored(&stack, terms, by: client) == 2, "the operator overrides it")
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theOriginalAloneIsNotKeptEither() {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = "no-store"
        #expect(Self.stored(&stack, by: client, .image(size: nil)) == 0)
        let transcoded = Self.image.with { $0.context.serializer = .transcode(.webp, quality: 70) }
        #expect(Self.stored(&stack, by: client, transcoded) == 0)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whoeverAsksAtTheSameTimeSharesIt() {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = "no-store"
        let tokens = (0..<3).map { _ in stack.load(Self.image, by: client) }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.gets == [Self.url: 1])
        let later = stack.load(Self.image, by: client)
        stack.finishAll()
        #expect(stack.image(later)?.cacheType == CacheTypes.none)
        #expect(stack.gets == [Self.url: 2], "nothing was left of it")
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Otherwise the first load would decide for both.
    @Test func whoIgnoresItSharesNoTransferWithWhoDoesNot() {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = "no-store"
        let loader = Self.image.with { $0.options = .fromLoaderOnly }
        stack.load(loader, by: client)
        stack.load(loader, by: client, terms: Self.terms(ignores: true))
        #expect(stack.held(.fetch).count == 2)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatIsMadeWithAnOverlayThatNobodyKeepsIsNotKept() {
        var (stack, client) = Stack.staffed()
        let overlay = Overlay(url: "http://marks.example.org/m.png")
        let image = Self.image.with { $0.steps.append(.overlay(overlay)) }
        let token = stack.load(image, by: client)
        var keys: [String] = []
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key { keys.append(key) }
            if case .fetch(let work) = held.job.work {
                stack.cacheControl = work.url == overlay.url ? "no-store" : nil
            }
            stack.finish(held)
        }
        #expect(stack.image(token) != nil)
        #expect(keys == [Self.url], "the original of the image alone")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aRefreshThatMayNotBeKeptLeavesNothingOfWhatItReplaces() {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = "no-store"
        let token = stack.load(Self.image.with { $0.options = .refreshCached }, by: client)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query, etag: "\"0\""))
        var (removed, stored): (Set<String>, Int) = ([], 0)
        while let held = stack.allHeld.first {
            switch held.job.work {
            case .entry(let work) where work.action == .remove && work.tiers == .all:
                removed.insert(work.key)
            case .store(let work) where work.key != nil: stored += 1
            default: break
            }
            stack.finish(held)
        }
        #expect(stack.replies[token]?.count == 2)
        #expect(removed.contains(Self.url) && removed.count == 2)
        #expect(stored == 0)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Refreshes that find the same bytes

    /// How the origin confirms an image and changes who may store it: with a 304, or with the same
    /// bytes.
    private enum Unchanged: CaseIterable {
        case notModified, sameBytes
    }

    /// Refreshes a cached image that the origin confirms. Returns the keys that are removed from
    /// all tiers.
    private static func removed(
        _ stack: inout Stack, _ terms: LoadTerms, by client: ClientID, _ unchanged: Unchanged,
        _ control: String?
    ) -> Set<String> {
        let wish = image.with { $0.options = .refreshCached }
        let token = stack.load(wish, by: client, terms: terms)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        var removed: Set<String> = []
        while let held = stack.allHeld.first {
            let fails = unchanged == .notModified
            switch held.job.work {
            case .entry(let work) where work.action == .remove && work.tiers == .all:
                removed.insert(work.key)
                stack.finish(held)
            case .fetch where fails: stack.finish(held, .failed(stack.notModified(control)))
            case .query: stack.finish(held, stack.hit(held, etag: "\"1\""))
            case .store(let work) where work.comparedWith != nil:
                stack.finish(
                    held, .stored(StoreReport(delivered: nil, tiers: .none, isSame: true)))
            default: stack.finish(held)
            }
        }
        #expect(stack.replies[token]?.map(\.outcome).last == .notModified, "the reply is given")
        #expect(stack.replies[token]?.count == 2)
        return removed
    }

    @Test(arguments: [
        (nil, 0, 0), ("max-age=60", 0, 0), ("no-store", 2, 2), ("max-age=0, No-Store", 2, 2),
        ("private", 2, 0), ("private=\"x\", max-age=5", 2, 0),
    ]) func whatMayNoLongerBeKeptIsRemoved(control: String?, forAll: Int, forOne: Int) {
        for unchanged in Unchanged.allCases {
            var (stack, client) = Stack.staffed()
            stack.cacheControl = control
            for (terms, count) in [
                (Self.terms(), forAll), (Self.terms(identity: "me"), forOne),
                (Self.terms(ignores: true), 0), (Self.terms(identity: "me", ignores: true), 0),
            ] {
                let removed = Self.removed(&stack, terms, by: client, unchanged, control)
                #expect(removed.count == count, "\(unchanged) \(terms) \(removed)")
                #expect(stack.isAtRest, "\(stack)")
            }
        }
    }

    /// A result in progress isn't stored after the original it was made from is removed.
    @Test func whatIsBeingMadeOfWhatIsRemovedBeginsAgain() {
        var (stack, client) = Stack.staffed()
        let other = stack.load(.image(size: 9), by: client)
        stack.finish(.query)
        stack.finish(.query, stack.hit(stack.held(.query)[0]))
        #expect(stack.held(.decode).count == 1)
        let token = stack.load(Self.image.with { $0.options = .refreshCached }, by: client)
        stack.finish(.query, stack.hit(stack.held(.query)[0], etag: "\"1\""))
        stack.finish(.fetch, .failed(stack.notModified("no-store")))
        stack.cacheControl = "no-store"
        var stored = 0
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, work.key != nil { stored += 1 }
            stack.finish(
                held, held.isCancelled ? .failed(ImageError(.cancelled, "")) : stack.success(held))
        }
        #expect(stack.replies[token]?.last?.outcome == .notModified)
        #expect(stack.image(other)?.cacheType == CacheTypes.none, "it was fetched")
        #expect(stored == 0)
        #expect(stack.isAtRest, "\(stack)")
    }
}

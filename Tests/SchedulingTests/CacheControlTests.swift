import ImageModel
import Messages
import Testing

@testable import Scheduling

/// Answers of which their origins say who may keep them.
struct CacheControlTests {
    private static let url = "http://example.org/a.jpg"
    private static let image = ImageRequest.picture(size: 5)

    private static func terms(
        identity: String? = nil, ignores: Bool = false
    ) -> LoadTerms {
        var terms = LoadTerms(identity: identity)
        terms.ignoresCacheControl = ignores
        return terms
    }

    /// Loads an image to the end and returns what is stored under keys.
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
            #expect(Self.stored(&stack, terms, by: client) == 2, "the operator says otherwise")
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theOriginalAloneIsNotKeptEither() {
        var (stack, client) = Stack.staffed()
        stack.cacheControl = "no-store"
        #expect(Self.stored(&stack, by: client, .picture(size: nil)) == 0)
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

    /// Else the one who was first would decide for both.
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
        let picture = Self.image.with { $0.steps.append(.overlay(overlay)) }
        let token = stack.load(picture, by: client)
        var keys: [String] = []
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key { keys.append(key) }
            if case .fetch(let work) = held.job.work {
                stack.cacheControl = work.url == overlay.url ? "no-store" : nil
            }
            stack.finish(held)
        }
        #expect(stack.image(token) != nil)
        #expect(keys == [Self.url], "the original of the picture alone")
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
}

import Model
import Testing

@testable import Coordinator

/// How a refresh affects overlays, and results that use an outdated overlay.
struct OverlayRefreshTests {
    private static let mark = "http://marks.example/mark.png"

    private func image(_ name: String = "a", _ options: RequestOptions = []) -> ImageRequest {
        ImageRequest.image(name, size: 8, options).with { request in
            request.steps.append(.overlay(Overlay(url: Self.mark)))
        }
    }

    private func fetches(_ stack: Stack) -> [(held: Stack.Held, work: FetchWork)] {
        stack.held(.fetch).compactMap { held in
            guard case .fetch(let work) = held.job.work else { return nil }
            return (held, work)
        }
    }

    private func stores(_ stack: Stack, of key: String) -> [StoreWork] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work, work.key == key else { return nil }
            return work
        }
    }

    private func body(_ stack: inout Stack, _ held: Stack.Held, etag: String) -> JobResult {
        .fetched(
            FetchedBody(
                reference: stack.block(of: held.worker), httpStatus: 200, etag: etag,
                effectiveURL: ""))
    }

    /// A transfer needed only by an overlay returns the old bytes; a refresh of the same URL
    /// returns new ones in the meantime.
    @Test(arguments: [false, true])
    func whatOnlyAnOverlayNeedsIsNotStoredAfterWhatReplacedIt(isThereFirst: Bool) throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image("a", .fromLoaderOnly), by: client)
        let old = try #require(fetches(stack).first).held
        if isThereFirst { stack.finish(old, body(&stack, old, etag: "\"1\"")) }
        let refresh = stack.load(
            ImageRequest(url: Self.mark).with { $0.options = .refreshCached }, by: client)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        let new = try #require(fetches(stack).first { $0.work.validators != nil }).held
        stack.finish(new, body(&stack, new, etag: "\"2\""))
        let weighing = try #require(stack.held(.query).first)
        stack.finish(weighing, stack.hit(weighing, length: 900, etag: "\"1\""))
        stack.finish(try #require(stack.held(.decode).last))
        let kept = stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work, work.key == Self.mark else { return nil }
            return work.metadata.etag
        }
        #expect(kept == ["\"2\""])
        #expect(!fetches(stack).contains { $0.work.url == Self.mark }, "it has the new bytes")
        for late in stack.allHeld where late.isCancelled { stack.finish(late) }
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, work.key == Self.mark {
                #expect(work.metadata.etag == "\"2\"")
            }
            stack.finish(held)
        }
        #expect(stack.image(refresh) != nil && stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A request that has its cached image and is about to reload its overlay.
    private func refreshing(
        _ stack: inout Stack, _ client: ClientID, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        let token = stack.load(image("a", .refreshCached).with(change), by: client)
        if let query = stack.held(.query).first {
            stack.finish(query, stack.hit(query, etag: "\"1\""))
        }
        return token
    }

    @Test func aRefreshIsNotAnsweredWithPixelsThatWereThereBefore() {
        var (stack, client) = Stack.staffed()
        let first = stack.load(
            image("b", .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }, by: client)
        stack.run(.fetch, .decode)
        let token = refreshing(&stack, client)
        #expect(fetches(stack).map(\.work.url).contains(Self.mark))
        stack.finishAll()
        #expect(stack.gets[Self.mark] == 2)
        #expect(stack.image(first) != nil && stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theOldOriginalOfARefreshedOverlayIsReplacedWhereverItIs() throws {
        var (stack, client) = Stack.staffed()
        let token = refreshing(&stack, client) { $0.originalStoreCacheTypes = .none }
        let fetch = try #require(fetches(stack).first)
        stack.finish(fetch.held, body(&stack, fetch.held, etag: "\"2\""))
        let weighing = try #require(stack.held(.query).first)
        stack.finish(weighing, stack.hit(weighing, length: 900, etag: "\"1\""))
        stack.run(.decode)
        #expect(stores(stack, of: Self.mark).map(\.metadata.etag) == ["\"2\""])
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Neither the overlay nor the image has changed: no other load restarts.
    @Test(arguments: ["http://marks.example/mark.png", "http://example.org/a.jpg"])
    func whatTurnsOutToBeTheSameDisturbsNobody(url: String) throws {
        var (stack, client) = Stack.staffed()
        let other = stack.load(
            ImageRequest(url: url).with {
                $0.options = .fromLoaderOnly
                $0.steps = [.resize(PixelSize(width: 5, height: 5), .fit)]
            }, by: client)
        stack.run(.fetch)
        let decode = try #require(stack.held(.decode).first).job.id
        let token = refreshing(&stack, client)
        while let held = stack.allHeld.first(where: { $0.job.id != decode }) {
            switch held.job.work {
            case .fetch: stack.finish(held, body(&stack, held, etag: "\"1\""))
            case .query(let work) where work.destination == .staging:
                stack.finish(held, stack.hit(held, etag: "\"1\""))
            case .store(let work) where work.comparedWith != nil:
                stack.finish(
                    held, .stored(StoreReport(delivered: nil, tiers: .none, isSame: true)))
            default: stack.finish(held)
            }
        }
        #expect(stack.image(token) != nil)
        #expect(stack.held(.decode).map(\.job.id) == [decode], "it continues")
        stack.finishAll()
        #expect(stack.image(other) != nil)
        #expect(stack.gets[url] == 2)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// The image of the first refresh has not arrived yet.
    @Test func aRefreshIsNotAnsweredWithWhatAnEarlierOneBrought() {
        var (stack, client) = Stack.staffed()
        let first = refreshing(&stack, client)
        stack.run(.fetch, .query, .decode)
        while !stack.held(.store).isEmpty { stack.finish(stack.held(.store)[0]) }
        let second = refreshing(&stack, client) { $0.url = "http://example.org/b.jpg" }
        #expect(fetches(stack).map(\.work.url).contains(Self.mark))
        stack.finishAll()
        #expect(stack.gets[Self.mark] == 2)
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func pixelsThatARefreshFoundOutdatedAreForThoseWhoHaveThem() throws {
        var (stack, client) = Stack.staffed()
        let first = stack.load(image("a", .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode)
        while !stack.held(.store).isEmpty { stack.finish(stack.held(.store)[0]) }
        let slow = try #require(fetches(stack).first).held.job.id
        stack.load(ImageRequest(url: Self.mark).with { $0.options = .refreshCached }, by: client)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        while let held = stack.allHeld.first(where: { $0.job.id != slow }) {
            switch held.job.work {
            case .fetch: stack.finish(held, body(&stack, held, etag: "\"2\""))
            default: stack.finish(held)
            }
        }
        let second = stack.load(image("b", .fromLoaderOnly), by: client)
        #expect(fetches(stack).map(\.work.url).contains(Self.mark))
        stack.finishAll()
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A refresh depends on the origin of the image only, whatever else is needed.
    @Test func anOverlayThatMayNotBeFetchedIsTakenFromTheCache() throws {
        var (stack, client) = Stack.staffed()
        let image = image("a", .refreshCached)
        var terms = LoadTerms()
        terms.overlays = image.preparedOverlays
        terms.overlays[0].terms.mayDownload = false
        let token = stack.load(image, by: client, terms: terms)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        let original = try #require(stack.held(.query).first)
        stack.finish(original, stack.hit(original, etag: "\"1\""))
        stack.finishAll()
        #expect(stack.gets[Self.mark] == nil)
        #expect(stack.image(token)?.cacheType == CacheTypes.none)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// An origin that sends 304 to an unconditional request.
    @Test func anOverlayThatIsNotModifiedWithoutBeingAskedIsNone() {
        var (stack, client) = Stack.staffed()
        let token = refreshing(&stack, client)
        stack.fail(.fetch, .cacheNotModified)
        #expect(stack.error(token) != nil)
        #expect(stack.gets[Self.mark] == 1)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }
}

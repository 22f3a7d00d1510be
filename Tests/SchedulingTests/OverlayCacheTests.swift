import Model
import Testing

@testable import Coordinator

/// Which overlays are stored, which results made with them, and how a refresh affects them.
struct OverlayCacheTests {
    private let mark = ImageRequest.mark
    private var stack = Stack.staffed()

    /// Completes all jobs; only the response of the overlay's origin varies. Returns the keys of
    /// all stores.
    private mutating func finish(vary: String? = nil) -> [String] {
        stack.finishJobs { stack, held in
            guard let fetch = held.work.fetch else { return nil }
            return .fetched(
                FetchedBody(
                    reference: stack.block(of: held.worker), httpStatus: 200, etag: "\"1\"",
                    vary: fetch.url == ImageRequest.mark ? vary : nil, effectiveURL: fetch.url))
        }.compactMap(\.storedKey)
    }

    // MARK: - Vary

    @Test(arguments: ["Accept", "*"])
    mutating func whatDependsOnHeadersOfTheOverlayIsKeptUnderNoName(vary: String) {
        let token = stack.load(.marked())
        let keys = finish(vary: vary)
        #expect(stack.image(token) != nil)
        #expect(!keys.contains { $0.contains("Overlay") })
        #expect(keys.contains("http://example.org/a.jpg"), "the image itself depends on nothing")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func norIsWhatIsMadeOfItsCachedOriginal() throws {
        stack.load(.marked())
        #expect(finish(vary: "Accept").contains { $0.hasPrefix("http://marks") })
        let token = stack.load(.marked("b"))
        stack.run(.query)
        let work = try #require(stack.held(.query).first?.work.query)
        #expect(work.key.contains("-Vary(vary=accept)"))
        stack.find()
        #expect(!finish().contains { $0.contains("Overlay") })
        stack.expectRest([token])
    }

    @Test mutating func whatDependsOnNothingIsKept() {
        stack.load(.marked())
        #expect(finish(vary: "Accept-Encoding").contains { $0.contains("Overlay") })
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Space

    @Test mutating func aResultThatIsMadeHoldsNoOverlaysWhileItIsStored() {
        let image = ImageRequest.marked("a", .fromLoaderOnly).discardingOriginal
        let token = stack.load(image)
        stack.run(.fetch, .decode, .fetch, .decode)
        #expect(stack.scheduler.workGraph.overlayBytes.count > 0)
        stack.run(.transform)
        #expect(stack.reply(token) == nil)
        #expect(stack.scheduler.workGraph.overlayBytes.count == 0)
        stack.replace(.transform)
        #expect(stack.held(.fetch).count == 1, "it is made again, from the start")
        stack.end(token)
    }

    /// A client whose images arrive slowly holds their overlays for that time.
    @Test mutating func oneClientLeavesRoomForTheOverlaysOfOthers() {
        let size = UInt64(4_000)
        stack = Stack.staffed(credit: 64) { $0.workGraph.overlayBytesMax = 8 * size }
        let busy = stack.connect()
        func load(_ number: Int, by client: ClientID) -> Token {
            let mark = Overlay(url: "http://marks.example.org/\(number).png")
            let image = ImageRequest.loader("p\(number)", size: 9).with {
                $0.steps.append(.overlay(mark))
                $0.originalStoreCacheTypes = .none
            }
            let token = stack.load(image, by: client)
            for held in stack.held(.fetch) {
                guard case .fetch(let work) = held.job.work, work.url == mark.url else { continue }
                stack.finish(held)
            }
            stack.finishEach(.decode)
            return token
        }
        let tokens = (0..<10).map { load($0, by: busy) }
        let held = stack.scheduler.workGraph.overlayBytes.count(of: FlowID.session(busy).owner)
        #expect(held > 0 && held <= 6 * size)
        #expect(tokens.contains { stack.error($0) == .busy })
        let other = load(99, by: stack.connect())
        #expect(stack.reply(other) == nil)
        stack.end(other)
    }

    @Test mutating func whatIsKeptForSomebodyWhoLeavesIsKeptForAnother() {
        let first = stack.client
        let second = stack.connect()
        let image = ImageRequest.marked("a", .fromLoaderOnly).discardingOriginal
        let token = stack.load(image, by: first)
        stack.load(.marked("b", .fromLoaderOnly), by: second)
        stack.run(.fetch, .decode)
        let kept = stack.scheduler.workGraph.overlayBytes
        let bytes = kept.count
        #expect(bytes > 0 && kept.count(of: FlowID.session(first).owner) == bytes)
        stack.send(.cancel(first, token))
        let left = stack.scheduler.workGraph.overlayBytes
        #expect(left.count(of: FlowID.session(second).owner) == bytes)
        stack.end()
    }

    @Test func fourOverlaysOfOneRequestAreAboutHalfOfWhatThereIsRoomFor() {
        let limits = SchedulerLimits()
        let bytes = UInt64(4 * RequestLimits.overlaysMax * limits.workGraph.overlayPixelsMax)
        #expect(bytes < limits.workGraph.overlayBytesMax * 5 / 8)
        #expect(limits.workGraph.overlay.pixelsMax == 3840 * 2160)
    }

    // MARK: - Refreshes

    private func fetches() -> [(held: Stack.Held, work: FetchWork)] {
        stack.held(.fetch).compactMap { held in
            guard case .fetch(let work) = held.job.work else { return nil }
            return (held, work)
        }
    }

    private func stores(of key: String) -> [StoreWork] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work, work.key == key else { return nil }
            return work
        }
    }

    private mutating func body(_ held: Stack.Held, etag: String) -> JobResult {
        .fetched(
            FetchedBody(
                reference: stack.block(of: held.worker), httpStatus: 200, etag: etag,
                effectiveURL: ""))
    }

    /// A transfer needed only by an overlay returns the old bytes; a refresh of the same URL
    /// returns new ones in the meantime.
    @Test(arguments: [false, true])
    mutating func whatOnlyAnOverlayNeedsIsNotStoredAfterWhatReplacedIt(isThereFirst: Bool) throws {
        let token = stack.load(.marked("a", .fromLoaderOnly))
        let old = try #require(fetches().first).held
        if isThereFirst { stack.finish(old, body(old, etag: "\"1\"")) }
        let refresh = stack.load(ImageRequest(url: mark).with { $0.options = .refreshCached })
        stack.find(etag: "\"1\"")
        let new = try #require(fetches().first { $0.work.validators != nil }).held
        stack.finish(new, body(new, etag: "\"2\""))
        stack.find(length: 900, etag: "\"1\"")
        stack.finish(try #require(stack.held(.decode).last))
        let kept = stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work, work.key == mark else { return nil }
            return work.metadata.etag
        }
        #expect(kept == ["\"2\""])
        #expect(!fetches().contains { $0.work.url == mark }, "it has the new bytes")
        for late in stack.allHeld where late.isCancelled { stack.finish(late) }
        let late = stack.finishJobs().compactMap(\.store).filter { $0.key == mark }
        #expect(late.allSatisfy { $0.metadata.etag == "\"2\"" })
        stack.expectRest([refresh, token])
    }

    /// A request that has its cached image and is about to reload its overlay.
    private mutating func refreshing(_ change: (inout ImageRequest) -> Void = { _ in }) -> Token {
        let token = stack.load(.marked("a", .refreshCached).with(change))
        stack.find(etag: "\"1\"")
        return token
    }

    @Test mutating func aRefreshIsNotAnsweredWithPixelsThatWereThereBefore() {
        let first = stack.load(.marked("b", .fromLoaderOnly).discardingOriginal)
        stack.run(.fetch, .decode)
        let token = refreshing()
        #expect(fetches().map(\.work.url).contains(mark))
        stack.end(first, token)
        #expect(stack.gets[mark] == 2)
    }

    @Test mutating func theOldOriginalOfARefreshedOverlayIsReplacedWhereverItIs() throws {
        let token = refreshing() { $0.originalStoreCacheTypes = .none }
        let fetch = try #require(fetches().first)
        stack.finish(fetch.held, body(fetch.held, etag: "\"2\""))
        stack.find(length: 900, etag: "\"1\"")
        stack.run(.decode)
        #expect(stores(of: mark).map(\.metadata.etag) == ["\"2\""])
        stack.end(token)
    }

    /// Neither the overlay nor the image has changed: no other load restarts.
    @Test(arguments: ["http://marks.example/mark.png", "http://example.org/a.jpg"])
    mutating func whatTurnsOutToBeTheSameDisturbsNobody(url: String) throws {
        let other = stack.load(
            ImageRequest(url: url).with {
                $0.options = .fromLoaderOnly
                $0.steps = [.resize(PixelSize(width: 5, height: 5), .fit)]
            })
        stack.run(.fetch)
        let decode = try #require(stack.held(.decode).first).job.id
        let token = refreshing()
        while let held = stack.allHeld.first(where: { $0.job.id != decode }) {
            switch held.job.work {
            case .fetch: stack.finish(held, body(held, etag: "\"1\""))
            case .query(let work) where work.destination == .staging:
                stack.finish(held, stack.hit(held, etag: "\"1\""))
            case .store(let work) where work.comparedWith != nil:
                stack.finish(held, .stored(StoreReport(delivered: nil, tiers: .none, isSame: true)))
            default: stack.finish(held)
            }
        }
        #expect(stack.image(token) != nil)
        #expect(stack.held(.decode).map(\.job.id) == [decode], "it continues")
        stack.end(other)
        #expect(stack.gets[url] == 2)
    }

    /// The image of the first refresh has not arrived yet.
    @Test mutating func aRefreshIsNotAnsweredWithWhatAnEarlierOneBrought() {
        let first = refreshing()
        stack.run(.fetch, .query, .decode)
        while !stack.held(.store).isEmpty { stack.finishFirst(.store) }
        let second = refreshing() { $0.url = "http://example.org/b.jpg" }
        #expect(fetches().map(\.work.url).contains(mark))
        stack.end(first, second)
        #expect(stack.gets[mark] == 2)
    }

    @Test mutating func pixelsThatARefreshFoundOutdatedAreForThoseWhoHaveThem() throws {
        let first = stack.load(.marked("a", .fromLoaderOnly))
        stack.run(.fetch, .decode)
        while !stack.held(.store).isEmpty { stack.finishFirst(.store) }
        let slow = try #require(fetches().first).held.job.id
        stack.load(ImageRequest(url: mark).with { $0.options = .refreshCached })
        stack.find(etag: "\"1\"")
        while let held = stack.allHeld.first(where: { $0.job.id != slow }) {
            switch held.job.work {
            case .fetch: stack.finish(held, body(held, etag: "\"2\""))
            default: stack.finish(held)
            }
        }
        let second = stack.load(.marked("b", .fromLoaderOnly))
        #expect(fetches().map(\.work.url).contains(mark))
        stack.end(first, second)
    }

    /// A refresh depends on the origin of the image only, whatever else is needed.
    @Test mutating func anOverlayThatMayNotBeFetchedIsTakenFromTheCache() throws {
        let image = ImageRequest.marked("a", .refreshCached)
        var terms = LoadTerms(laying: image)
        terms.overlays[0].terms.mayDownload = false
        let token = stack.load(image, terms: terms)
        stack.find(etag: "\"1\"")
        stack.find(etag: "\"1\"")
        stack.end(token, from: CacheTypes.none)
        #expect(stack.gets[mark] == nil)
    }

    /// An origin that sends 304 to an unconditional request.
    @Test mutating func anOverlayThatIsNotModifiedWithoutBeingAskedIsNone() {
        let token = refreshing()
        stack.fail(.fetch, .cacheNotModified)
        #expect(stack.error(token) != nil)
        #expect(stack.gets[mark] == 1)
        stack.end()
    }
}

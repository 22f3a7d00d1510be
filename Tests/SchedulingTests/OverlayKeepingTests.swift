import Model
import Testing

@testable import Coordinator

/// Which overlays are stored, and which results made with them.
struct OverlayKeepingTests {
    private static let mark = "http://marks.example/mark.png"

    private func image(_ name: String = "a", _ options: RequestOptions = []) -> ImageRequest {
        ImageRequest.image(name, size: 8, options).with { request in
            request.steps.append(.overlay(Overlay(url: Self.mark)))
        }
    }

    /// Completes all jobs; only the response of the overlay's origin varies. Returns the keys of
    /// all stores.
    private func finish(_ stack: inout Stack, vary: String? = nil) -> [String] {
        var keys: [String] = []
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key { keys.append(key) }
            guard case .fetch(let work) = held.job.work else {
                stack.finish(held)
                continue
            }
            let body = FetchedBody(
                reference: stack.block(of: held.worker), httpStatus: 200, etag: "\"1\"",
                vary: work.url == Self.mark ? vary : nil, effectiveURL: work.url)
            stack.finish(held, .fetched(body))
        }
        return keys
    }

    // MARK: - Vary

    @Test(arguments: ["Accept", "*"])
    func whatDependsOnHeadersOfTheOverlayIsKeptUnderNoName(vary: String) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(), by: client)
        let keys = finish(&stack, vary: vary)
        #expect(stack.image(token) != nil)
        #expect(!keys.contains { $0.contains("Overlay") })
        #expect(keys.contains("http://example.org/a.jpg"), "the image itself depends on nothing")
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func norIsWhatIsMadeOfItsCachedOriginal() {
        var (stack, client) = Stack.staffed()
        stack.load(image("a"), by: client)
        #expect(finish(&stack, vary: "Accept").contains { $0.hasPrefix("http://marks") })
        let token = stack.load(image("b"), by: client)
        stack.run(.query)
        guard let query = stack.held(.query).first, case .query(let work) = query.job.work else {
            Issue.record("the cache is not asked for the original")
            return
        }
        #expect(work.key.contains("-Vary(vary=accept)"))
        stack.finish(query, stack.hit(query))
        #expect(!finish(&stack).contains { $0.contains("Overlay") })
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatDependsOnNothingIsKept() {
        var (stack, client) = Stack.staffed()
        stack.load(image(), by: client)
        #expect(finish(&stack, vary: "Accept-Encoding").contains { $0.contains("Overlay") })
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func namesAreDerivedOnceHoweverTheOverlayIsWishedFor() {
        var (stack, client) = Stack.staffed()
        stack.load(image(), by: client)
        stack.run(.query)
        let count = stack.scheduler.namesMemo.count
        for timeout in [1_000, 2_000] {
            stack.load(image().with { $0.timeoutMilliseconds = timeout }, by: client)
        }
        stack.load(image().with { $0.priority = .high }, by: client)
        #expect(stack.scheduler.namesMemo.count == count)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Space

    @Test func aResultThatIsMadeHoldsNoOverlaysWhileItIsStored() {
        var (stack, client) = Stack.staffed()
        let image = image("a", .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }
        let token = stack.load(image, by: client)
        stack.run(.fetch, .decode, .fetch, .decode)
        #expect(stack.scheduler.workGraph.overlayBytes.count > 0)
        stack.run(.transform)
        #expect(stack.reply(token) == nil)
        #expect(stack.scheduler.workGraph.overlayBytes.count == 0)
        stack.kill(stack.worker(.transform))
        stack.hire(.transform)
        #expect(stack.held(.fetch).count == 1, "it is made again, from the start")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A client whose images arrive slowly holds their overlays for that time.
    @Test func oneClientLeavesRoomForTheOverlaysOfOthers() {
        let size = UInt64(4_000)
        var stack = Stack { $0.workGraph.overlayBytesMax = 8 * size }
        stack.hireAll(credit: 64)
        let busy = stack.connect()
        func load(_ number: Int, by client: ClientID) -> Token {
            let mark = Overlay(url: "http://marks.example.org/\(number).png")
            let image = ImageRequest.image("p\(number)", size: 9, .fromLoaderOnly).with {
                $0.steps.append(.overlay(mark))
                $0.originalStoreCacheTypes = .none
            }
            let token = stack.load(image, by: client)
            for held in stack.held(.fetch) {
                guard case .fetch(let work) = held.job.work, work.url == mark.url else { continue }
                stack.finish(held)
            }
            for held in stack.held(.decode) { stack.finish(held) }
            return token
        }
        let tokens = (0..<10).map { load($0, by: busy) }
        let held = stack.scheduler.workGraph.overlayBytes.count(of: FlowID.session(busy).owner)
        #expect(held > 0 && held <= 6 * size)
        #expect(tokens.contains { stack.error($0) == .busy })
        let other = load(99, by: stack.connect())
        #expect(stack.reply(other) == nil)
        stack.finishAll()
        #expect(stack.image(other) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatIsKeptForSomebodyWhoLeavesIsKeptForAnother() {
        var (stack, first) = Stack.staffed()
        let second = stack.connect()
        let image = image("a", .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }
        let token = stack.load(image, by: first)
        stack.load(self.image("b", .fromLoaderOnly), by: second)
        stack.run(.fetch, .decode)
        let kept = stack.scheduler.workGraph.overlayBytes
        let bytes = kept.count
        #expect(bytes > 0 && kept.count(of: FlowID.session(first).owner) == bytes)
        stack.send(.cancel(first, token))
        let left = stack.scheduler.workGraph.overlayBytes
        #expect(left.count(of: FlowID.session(second).owner) == bytes)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func fourOverlaysOfOneRequestAreAboutHalfOfWhatThereIsRoomFor() {
        let limits = SchedulerLimits()
        let bytes = UInt64(4 * RequestLimits.overlaysMax * limits.workGraph.overlayPixelsMax)
        #expect(bytes < limits.workGraph.overlayBytesMax * 5 / 8)
        #expect(limits.workGraph.overlay.pixelsMax == 3840 * 2160)
    }
}

import Model
import Testing

@testable import Coordinator

/// When an overlay is refused, and when it is not loaded.
struct OverlayAdmissionTests {
    private static let mark = "http://marks.example/mark.png"

    private func image(
        _ name: String = "a", over url: String = mark, _ options: RequestOptions = []
    ) -> ImageRequest {
        ImageRequest.image(name, size: 8, options).with { request in
            request.steps.append(.overlay(Overlay(url: url)))
        }
    }

    private func overlayError(_ stack: Stack, _ token: Token) -> String? {
        guard case .failure(let error) = stack.reply(token)?.outcome else { return nil }
        return error.details["overlay"]
    }

    /// The cache has all originals and no result.
    private func finishFromCache(_ stack: inout Stack) {
        while let held = stack.allHeld.first {
            if case .query(let work) = held.job.work, work.destination == .staging {
                stack.finish(held, stack.hit(held))
            } else {
                stack.finish(held)
            }
        }
    }

    // MARK: - Queues

    /// A stack with a full queue of transfers.
    private func crowded() -> (Stack, ClientID) {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        for kind in [WorkerKind.cache, .decode, .transform] { stack.hire(kind, credit: 4) }
        let client = stack.connect()
        stack.load(.image("z", .fromLoaderOnly), by: client)
        return (stack, client)
    }

    @Test(arguments: [[], .fromCacheOnly] as [RequestOptions])
    func aCachedOverlayIsLaidOverThoughNoTransferMayBegin(options: RequestOptions) {
        var (stack, client) = crowded()
        let token = stack.load(image("a", options), by: client)
        finishFromCache(&stack)
        #expect(stack.image(token) != nil)
        #expect(stack.counters.refused.isEmpty)
        stack.hire(.download)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func anOverlayThatHasToBeFetchedIsRefusedThen() {
        var (stack, client) = crowded()
        let token = stack.load(image(), by: client)
        stack.run(.query)
        #expect(stack.reply(token) == nil, "its original may be cached")
        stack.run(.query)
        #expect(stack.error(token) == .busy)
        #expect(stack.counters.refused == [.fetch: 1])
        stack.hire(.download)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func anOverlayThatIsOnItsWayIsJoinedThoughDecodersAreBehind() {
        var (stack, client) = Stack.staffed { $0.dispatch.queuedCostMax.decode = 500 }
        stack.kill(stack.worker(.decode))
        let first = stack.load(image("a"), by: client)
        stack.run(.query, .query, .fetch)
        let second = stack.load(image("b", .fromLoaderOnly), by: client)
        #expect(stack.reply(second) == nil)
        let other = stack.load(
            image("c", over: Self.mark + "x", .fromLoaderOnly), by: client)
        #expect(stack.error(other) == .busy)
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(first) != nil && stack.image(second) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Quarantine

    @Test func aTransferThatKillsWorkersIsNoReasonToRefuseACachedOverlay() {
        var (stack, client) = Stack.staffed()
        stack.load(ImageRequest(url: Self.mark).with { $0.options = .fromLoaderOnly }, by: client)
        for _ in 0..<2 {
            stack.crash(stack.held(.fetch)[0])
            stack.hire(.download)
        }
        let cached = stack.load(image("a"), by: client)
        finishFromCache(&stack)
        #expect(stack.image(cached) != nil)
        let fetched = stack.load(image("b", .fromLoaderOnly), by: client)
        #expect(overlayError(stack, fetched) == ErrorCode.poisoned.rule.name)
        #expect(stack.isAtRest, "\(stack)")
    }
}

import ImageModel
import Messages
import Testing

@testable import Admission
@testable import Derivation
@testable import Dispatching

/// Images of what has arrived so far (SEMANTICS §2.11).
struct PartialTests {
    /// A transfer runs for a load that wants to see what has arrived.
    private func fetching(
        _ options: RequestOptions = [.progressiveLoad, .fromLoaderOnly], wantsInfo: Bool = false
    ) -> (stack: Stack, client: ClientID, token: Token) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image("a", size: 5, options), by: client, wantsInfo: wantsInfo)
        return (stack, client, token)
    }

    /// So many bytes have arrived; the block that names them.
    @discardableResult
    private func arrive(
        _ bytes: UInt64, _ stack: inout Stack, as format: ImageFormat = .jpeg
    ) -> BlockID {
        let held = stack.held(.fetch)[0]
        let block = stack.block(of: held.worker, length: bytes)
        stack.send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: bytes, expected: 1_000,
                    arrived: block, format: format)))
        return block.block
    }

    private func partials(_ stack: Stack, _ token: Token) -> [UInt64] {
        (stack.replies[token] ?? []).compactMap(\.arrivedBytes)
    }

    private func isReleased(_ block: BlockID, _ stack: Stack) -> Bool {
        stack.workers.values.allSatisfy { $0.kind != .download || !$0.live.contains(block) }
    }

    @Test func whatHasArrivedIsDecodedEncodedAndShown() throws {
        var (stack, _, token) = fetching(wantsInfo: true)
        #expect(stack.held(.fetch)[0].job.wantsArrived)
        let block = arrive(100, &stack)
        let decode = try #require(stack.held(.decode).first)
        guard case .decode(let work) = decode.job.work else { return }
        #expect(work.isPartial && work.source.length == 100 && decode.priority == .low)
        #expect(!isReleased(block, stack))
        stack.finish(.decode)
        #expect(isReleased(block, stack), "the next bytes may be handed out")
        #expect(stack.progress[token]?.last?.info?.size == PixelSize(width: 40, height: 30))
        stack.run(.transform, .store)
        #expect(partials(stack, token) == [100])
        #expect(stack.waiting[token] != nil, "the load goes on")
        arrive(300, &stack)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(stack, token) == [100, 300])
        #expect(stack.image(token) != nil && stack.reply(token)?.isTerminal == true)
        #expect(stack.faults == [])
    }

    /// No more than one is under way: bytes that come meanwhile are given back at once.
    @Test func oneIsUnderWayAtATime() {
        var (stack, _, token) = fetching()
        arrive(100, &stack)
        let second = arrive(200, &stack)
        #expect(isReleased(second, stack) && stack.held(.decode).count == 1)
        stack.run(.decode, .transform, .store)
        #expect(partials(stack, token) == [100])
    }

    @Test func theWholeBodyOvertakesWhatIsMadeOfAPart() {
        var (stack, _, token) = fetching()
        arrive(100, &stack)
        let partial = stack.held(.decode)[0]
        stack.finish(.fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        stack.finish(stack.held(.decode).first { $0.isCancelled } ?? partial)
        stack.finishAll()
        #expect(partials(stack, token) == [] && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    /// It costs nobody a turn: with no decoder free none is begun, and one that is under way ends
    /// where other work comes.
    @Test func otherWorkComesFirst() throws {
        var (stack, client) = Stack.staffed { $0.dispatch.creditMax.decode = 1 }
        let token = stack.load(
            .image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        arrive(100, &stack)
        let partial = stack.held(.decode)[0]
        let other = stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        let fetch = try #require(
            stack.held(.fetch).first { held in
                guard case .fetch(let work) = held.job.work else { return false }
                return work.url.hasSuffix("b.jpg")
            })
        stack.finish(fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        #expect(stack.held(.decode).isEmpty, "it keeps its place until it answers")
        stack.finish(partial, .failed(ImageError(.cancelled, "stopped")))
        let whole = try #require(stack.held(.decode).first)
        guard case .decode(let work) = whole.job.work else { return }
        #expect(!work.isPartial)
        let busy = arrive(200, &stack)
        #expect(isReleased(busy, stack) && stack.held(.decode).count == 1)
        stack.finishAll()
        #expect(stack.image(other) != nil && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    @Test func itIsNotDoneAgainWhereItsWorkerIsLost() {
        var (stack, _, token) = fetching()
        arrive(100, &stack)
        stack.kill(stack.held(.decode)[0].worker)
        stack.hire(.decode)
        #expect(stack.held(.decode).isEmpty)
        arrive(200, &stack)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(stack, token) == [200] && stack.image(token) != nil)
    }

    /// Without partial images the header is read once, of any format; nothing is shown of formats
    /// that cannot be.
    @Test func whoWantsTheHeaderGetsThatOnce() throws {
        var (stack, _, token) = fetching(.fromLoaderOnly, wantsInfo: true)
        arrive(50, &stack, as: .avif)
        guard case .decode(let work) = try #require(stack.held(.decode).first).job.work else {
            return
        }
        #expect(work.isPartial && work.need == .header)
        stack.finish(.decode)
        #expect(stack.progress[token]?.last?.info != nil)
        let next = arrive(100, &stack, as: .avif)
        #expect(isReleased(next, stack) && stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(partials(stack, token) == [])
    }

    @Test func whoAsksForNothingEarlyCostsNothing() {
        var (stack, client) = Stack.staffed()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client, wantsProgress: true)
        #expect(!stack.held(.fetch)[0].job.wantsArrived)
        let block = arrive(100, &stack)
        #expect(isReleased(block, stack) && stack.held(.decode).isEmpty)
        stack.load(.image("a", size: 9, [.fromLoaderOnly, .progressiveLoad]), by: client)
        #expect(stack.held(.fetch)[0].wantsArrived, "who joins may want it")
        stack.finishAll()
        #expect(stack.faults == [])
    }

    @Test func aForgedReferenceEndsTheSession() {
        var (stack, _, _) = fetching()
        let held = stack.held(.fetch)[0]
        var block = stack.block(of: held.worker, length: 10)
        block.offset = 1 << 40
        stack.send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: 10, expected: 0,
                    arrived: block)))
        #expect(stack.expelled.map(\.0) == [held.worker])
    }
}

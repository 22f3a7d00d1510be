import Model
import Testing

@testable import Coordinator

/// Images of the data that has arrived so far (SEMANTICS §2.11).
struct PartialTests {
    /// A transfer for a load that requests partial images.
    private func fetching(
        _ options: RequestOptions = [.progressiveLoad, .fromLoaderOnly], wantsInfo: Bool = false
    ) -> (stack: Stack, client: ClientID, token: Token) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image("a", size: 5, options), by: client, wantsInfo: wantsInfo)
        return (stack, client, token)
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
        let block = stack.arrive(10_000)
        let decode = try #require(stack.held(.decode).first)
        guard case .decode(let work) = decode.job.work else { return }
        #expect(work.isPartial && work.source.length == 10_000 && decode.priority == .low)
        #expect(!isReleased(block, stack))
        stack.finish(.decode)
        #expect(isReleased(block, stack), "the next bytes may be handed out")
        #expect(stack.progress[token]?.last?.info?.size == PixelSize(width: 40, height: 30))
        stack.run(.transform, .store)
        #expect(partials(stack, token) == [10_000])
        #expect(stack.waiting[token] != nil, "the load continues")
        stack.arrive(30_000)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(stack, token) == [10_000, 30_000])
        #expect(stack.image(token) != nil && stack.reply(token)?.isTerminal == true)
        #expect(stack.faults == [])
    }

    /// At most one is in flight: bytes that arrive meanwhile are released at once.
    @Test func oneIsUnderWayAtATime() {
        var (stack, _, token) = fetching()
        stack.arrive(10_000)
        let second = stack.arrive(20_000)
        #expect(isReleased(second, stack) && stack.held(.decode).count == 1)
        stack.run(.decode, .transform, .store)
        #expect(partials(stack, token) == [10_000])
    }

    @Test func theWholeBodyOvertakesWhatIsMadeOfAPart() {
        var (stack, _, token) = fetching()
        stack.arrive(10_000)
        let partial = stack.held(.decode)[0]
        stack.finish(.fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        stack.finish(stack.held(.decode).first { $0.isCancelled } ?? partial)
        stack.finishAll()
        #expect(partials(stack, token) == [] && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    /// It delays no other work: without a free decoder none is started, and one in flight is
    /// canceled when other work arrives.
    @Test func otherWorkComesFirst() throws {
        var (stack, client) = Stack.staffed { $0.dispatch.creditMax.decode = 1 }
        let token = stack.load(
            .image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        stack.arrive(10_000)
        let partial = stack.held(.decode)[0]
        let other = stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        let fetch = try #require(
            stack.held(.fetch).first { held in
                guard case .fetch(let work) = held.job.work else { return false }
                return work.url.hasSuffix("b.jpg")
            })
        stack.finish(fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        #expect(stack.held(.decode).isEmpty, "it keeps its slot until it answers")
        stack.finish(partial, .failed(ImageError(.cancelled, "stopped")))
        let whole = try #require(stack.held(.decode).first)
        guard case .decode(let work) = whole.job.work else { return }
        #expect(!work.isPartial)
        let busy = stack.arrive(20_000)
        #expect(isReleased(busy, stack) && stack.held(.decode).count == 1)
        stack.finishAll()
        #expect(stack.image(other) != nil && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    @Test func itIsNotDoneAgainWhereItsWorkerIsLost() {
        var (stack, _, token) = fetching()
        stack.arrive(10_000)
        stack.kill(stack.held(.decode)[0].worker)
        stack.hire(.decode)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 200)
        stack.arrive(20_000)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(stack, token) == [20_000] && stack.image(token) != nil)
    }

    /// Without partial images, the header is read once for any format; formats that can't be shown
    /// partially are not.
    @Test func whoWantsTheHeaderGetsThatOnce() throws {
        var (stack, _, token) = fetching(.fromLoaderOnly, wantsInfo: true)
        stack.arrive(5_000, as: .avif)
        guard case .decode(let work) = try #require(stack.held(.decode).first).job.work else {
            return
        }
        #expect(work.isPartial && work.need == .header)
        stack.finish(.decode)
        #expect(stack.progress[token]?.last?.info != nil)
        let next = stack.arrive(10_000, as: .avif)
        #expect(isReleased(next, stack) && stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(partials(stack, token) == [])
    }

    @Test func whoAsksForNothingEarlyCostsNothing() {
        var (stack, client) = Stack.staffed()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client, wantsProgress: true)
        #expect(!stack.held(.fetch)[0].job.wantsArrived)
        let block = stack.arrive(10_000)
        #expect(isReleased(block, stack) && stack.held(.decode).isEmpty)
        stack.load(.image("a", size: 9, [.fromLoaderOnly, .progressiveLoad]), by: client)
        #expect(stack.held(.fetch)[0].wantsArrived, "a joining load may want it")
        stack.finishAll()
        #expect(stack.faults == [])
    }

    /// The worker published them before it knew of the cancel.
    @Test func bytesOfACancelledTransferAreReleased() {
        var (stack, client, token) = fetching()
        let held = stack.held(.fetch)[0]
        stack.send(.cancel(client, token))
        let block = stack.block(of: held.worker, length: 10_000)
        stack.send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: 10_000, expected: 0,
                    arrived: block, format: .jpeg)))
        #expect(isReleased(block.block, stack) && stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
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

    /// A worker may hand out no more than it received, and no more than the job permits.
    @Test func moreThanCanHaveComeEndsTheSession() {
        var (stack, _, _) = fetching()
        let held = stack.held(.fetch)[0]
        stack.arrive(10_000, received: 9_999)
        #expect(stack.expelled.map(\.0) == [held.worker] && stack.held(.decode).isEmpty)
        for (bytes, isBelieved) in [(5_000, true), (5_001, false)] as [(UInt64, Bool)] {
            var (stack, client) = Stack.staffed { $0.workGraph.bodyBytesMax = 5_000 }
            stack.load(
                .image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
            stack.arrive(bytes)
            #expect(stack.expelled.isEmpty == isBelieved)
            #expect(stack.held(.decode).count == (isBelieved ? 1 : 0))
        }
    }

    /// Only a transfer has arriving bytes.
    @Test func whoHandsOutOfOtherJobsLosesItsSession() {
        var (stack, _, _) = fetching()
        stack.finish(.fetch)
        let held = stack.held(.decode)[0]
        let block = stack.block(of: held.worker, length: 10)
        stack.send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: 10, expected: 0,
                    arrived: block)))
        #expect(stack.expelled.map(\.0) == [held.worker])
    }
}

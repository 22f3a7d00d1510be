import Model
import Testing

@testable import Coordinator

/// Partial images delay no other work, not even of class low (SEMANTICS §2.11).
struct PartialShareTests {
    /// A stack with that many decoders, one of which decodes the only partial image.
    private func showing(decoders: Int) -> (stack: Stack, client: ClientID, partial: Stack.Held) {
        var stack = Stack { $0.dispatch.creditMax.decode = 1 }
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 16) }
        for _ in 0..<decoders { stack.hire(.decode) }
        let client = stack.connect()
        stack.load(.image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        stack.arrive(10_000)
        return (stack, client, stack.held(.decode)[0])
    }

    /// A load of class low whose bytes have arrived.
    private func loadLow(_ name: String, _ stack: inout Stack, by client: ClientID) {
        stack.load(.image(name, size: 5, [.fromLoaderOnly, .lowPriority]), by: client)
        guard let fetch = stack.held(.fetch).last else { return stack.fault("nothing is fetched") }
        stack.finish(fetch)
    }

    private func wholes(_ stack: Stack) -> Int {
        stack.held(.decode).count { held in
            guard case .decode(let work) = held.job.work else { return false }
            return !work.isPartial
        }
    }

    @Test func theShareOfClassLowIsForWholeImages() {
        var (stack, client, partial) = showing(decoders: 4)
        #expect(stack.scheduler.dispatcher.credit(of: .decode).heldLow == 0)
        loadLow("b", &stack, by: client)
        #expect(wholes(stack) == 1 && stack.held(.decode).count == 2, "each has a decoder")
        #expect(!stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        loadLow("c", &stack, by: client)
        #expect(wholes(stack) == 1, "class low has its share")
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func itMakesWayForClassLow() {
        var (stack, client, partial) = showing(decoders: 1)
        loadLow("b", &stack, by: client)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        stack.finish(partial, .failed(ImageError(.cancelled, "stopped")))
        #expect(wholes(stack) == 1)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// So that others find a free decoder, and arrived data is released at once.
    @Test func itTakesNoMoreThanClassLowMay() {
        var (stack, client, _) = showing(decoders: 8)
        for name in ["b", "c", "d"] {
            stack.load(.image(name, size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        }
        for fetch in stack.held(.fetch).dropFirst() {
            let block = stack.block(of: fetch.worker, length: 10_000)
            stack.send(
                .progress(
                    fetch.worker,
                    JobProgress(
                        id: fetch.job.id, attempt: 1, received: 10_000, expected: 0,
                        arrived: block, format: .jpeg)))
        }
        #expect(stack.held(.decode).count == 2, "a quarter of eight")
        let downloader = stack.worker(.download)
        #expect(stack.workers[downloader]?.live.count == 2)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func noneBeginsWhereClassLowHasItsShare() {
        var (stack, client) = Stack.staffed()
        loadLow("b", &stack, by: client)
        stack.load(.image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        stack.arrive(10_000)
        let downloader = stack.worker(.download)
        #expect(stack.held(.decode).count == 1 && wholes(stack) == 1)
        #expect(stack.workers[downloader]?.live.count == 1, "the body of the whole one")
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// In a pool without workers, partial data would be held until some connect.
    @Test func itWaitsForNoDecoder() throws {
        let name = try #require(PoolName("photographs"))
        var pool = WorkerPool(name: name, kind: .decode)
        pool.grant = WorkerCapabilities(formatsIn: ["jpeg"])
        let pools = WorkerPools([pool])
        var (stack, client) = Stack.staffed { $0.dispatch.pools = pools }
        let token = stack.load(
            .image("a", size: 5, [.progressiveLoad, .fromLoaderOnly]), by: client)
        stack.arrive(10_000)
        let downloader = stack.worker(.download)
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.workers[downloader]?.live.isEmpty == true)
        #expect(stack.waiting[token] != nil && stack.scheduler.audit() == [])
    }
}

import Model
import Testing

@testable import Coordinator

struct BlockTests {
    private var stack = Stack.staffed()

    /// A false claim in a block reference.
    struct Lie: CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout BlockReference) -> Void

        init(_ what: String, _ change: @escaping @Sendable (inout BlockReference) -> Void) {
            testDescription = what
            self.change = change
        }
    }

    static let lies: [Lie] = [
        Lie("a segment that was never announced") { $0.segment = 4 },
        Lie("a range beyond its segment") { $0.length = 1 << 31 },
        Lie("a range that begins beyond it") { $0.offset = 1 << 30 },
        Lie("a range that overflows") { $0.offset = .max },
        Lie("block 0") { $0.block = BlockID(0) },
        Lie("the arena of the cache") { $0.arena = .results },
    ]

    @Test(arguments: lies) mutating func aForgedReferenceEndsTheSessionAndTheJobIsDoneByAnother(
        lie: Lie
    ) {
        let liar = stack.worker(.download)
        let token = stack.load(.loader())
        let fetch = stack.held(.fetch)[0]
        var reference = stack.block(of: liar)
        lie.change(&reference)
        stack.finish(
            fetch,
            .fetched(FetchedBody(reference: reference, httpStatus: 200, effectiveURL: "")))
        #expect(stack.gone == [liar])
        #expect(stack.expelled.first?.1.code == .protocolViolation)
        stack.hire(.download)
        #expect(stack.held(.fetch).map(\.job.attempt) == [2])
        stack.end(token)
    }

    @Test mutating func aBlockThatIsInUseCannotBeHandedOverAgain() {
        let liar = stack.worker(.download)
        for name in ["a", "b"] { stack.load(.loader(name)) }
        let body = stack.success(stack.held(.fetch)[0])
        stack.finish(stack.held(.fetch)[0], body)
        stack.finish(stack.held(.fetch)[0], body)
        #expect(stack.gone == [liar])
        stack.hire(.download)
        stack.end()
    }

    @Test mutating func theProducerIsFilledInWhateverTheWorkerClaims() {
        stack.load(.loader())
        let fetch = stack.held(.fetch)[0]
        var reference = stack.block(of: fetch.worker)
        reference.producer = BlockReference.Producer(
            kind: .cache, incarnation: Incarnation(Identifier128(high: 0, low: 0)))
        stack.finish(
            fetch,
            .fetched(FetchedBody(reference: reference, httpStatus: 200, effectiveURL: "")))
        let producer = stack.held(.decode).first?.job.work.input?.producer
        #expect(producer?.kind == .download)
        #expect(producer?.incarnation == stack.workers[fetch.worker]?.incarnation)
        stack.end()
    }

    @Test mutating func anotherJobsOutcomeEndsTheSession() {
        stack.load(.loader())
        let liar = stack.worker(.download)
        stack.finish(.fetch, .miss)
        #expect(stack.gone == [liar])
    }

    @Test mutating func pixelsThatDoNotFitTheirBlockEndTheSession() {
        stack.load(.loader(size: 5))
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        stack.decode { $0.frames[0].layout.planes[0].stride = 121 }
        #expect(stack.gone == [decoder])
    }

    @Test mutating func pixelsThatNobodyWantedEndTheSession() {
        stack.load(.loader())
        stack.finish(.fetch)
        let decode = stack.held(.decode)[0]
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        let frame = DecodedImage.Frame(
            reference: stack.block(of: decode.worker),
            layout: PixelLayout(bands: .rgb, size: info.size, stride: 3))
        stack.finish(decode, .decoded(DecodedImage(info: info, frames: [frame])))
        #expect(stack.gone == [decode.worker])
    }

    @Test mutating func aBodyOverTheLimitEndsTheSession() {
        stack = Stack.staffed { $0.workGraph.bodyBytesMax = 999 }
        stack.load(.loader())
        let liar = stack.worker(.download)
        stack.finish(.fetch)
        #expect(stack.gone == [liar])
    }

    @Test mutating func anOutcomeThatIsNotAcceptedIsReleasedAtOnce() {
        let worker = stack.worker(.download)
        for (job, attempt) in [(JobID(77), UInt32(1)), (JobID(1), 5)] {
            let body = FetchedBody(
                reference: stack.block(of: worker), httpStatus: 200, effectiveURL: "")
            stack.send(.fetched(body), of: job, attempt: attempt, from: worker)
            #expect(stack.actions == [.release(worker, [body.reference.block], isPrompt: false)])
        }
        #expect(stack.isAtRest)
    }

    @Test mutating func aRepeatedOutcomeDoesNotFreeABlockThatIsRead() {
        let token = stack.load(.loader())
        let fetch = stack.held(.fetch)[0]
        let body = stack.success(fetch)
        stack.finish(fetch, body)
        stack.finish(fetch, body)
        #expect(stack.actions == [])
        stack.end(token)
    }

    @Test mutating func aSegmentInUseCannotBeClosed() {
        let worker = stack.worker(.download)
        stack.load(.loader())
        stack.finish(.fetch)
        let segment = SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 30)
        stack.send(.segmentsClosed(worker, [segment]))
        #expect(stack.gone == [worker])
    }

    @Test func segmentsOpenAndCloseAndAreBounded() throws {
        var ledger = BlockLedger(segmentsMax: 2, pools: WorkerKind.allCases.count)
        let (worker, cache) = (WorkerID(1), WorkerID(2))
        let life = Incarnation(Identifier128(high: 1, low: 1))
        ledger.join(
            worker, BlockReference.Producer(kind: .decode, incarnation: life), PoolID(.decode))
        ledger.join(cache, BlockReference.Producer(kind: .cache, incarnation: life), PoolID(.cache))
        func segment(_ number: UInt32, _ arena: ArenaName = .stage, size: UInt64 = 64)
            -> SegmentAnnouncement
        {
            SegmentAnnouncement(arena: arena, number: number, size: size)
        }
        func expectViolation(_ change: (inout BlockLedger) throws(ImageError) -> Void) {
            #expect(throws: ImageError.self) {
                var copy = ledger
                try change(&copy)
            }
        }
        try ledger.open([segment(0), segment(1)], of: worker)
        expectViolation { ledger throws(ImageError) in try ledger.open([segment(2)], of: worker) }
        try ledger.close([segment(0)], of: worker)
        expectViolation { ledger throws(ImageError) in try ledger.close([segment(0)], of: worker) }
        try ledger.open([segment(1)], of: worker)
        expectViolation { ledger throws(ImageError) in
            try ledger.open([segment(1, size: 128)], of: worker)
        }
        expectViolation { ledger throws(ImageError) in
            try ledger.open([segment(5, size: 0)], of: worker)
        }
        expectViolation { ledger throws(ImageError) in
            try ledger.open([segment(5, size: .max)], of: worker)
        }
        expectViolation { ledger throws(ImageError) in
            try ledger.open([segment(5, .results)], of: worker)
        }
        try ledger.open([segment(0, .results), segment(0)], of: cache)
    }

    @Test func theLastHoldAndOnlyTheLastFreesABlock() throws {
        var ledger = BlockLedger(segmentsMax: 2, pools: WorkerKind.allCases.count)
        let worker = WorkerID(1)
        let life = Incarnation(Identifier128(high: 1, low: 1))
        ledger.join(
            worker, BlockReference.Producer(kind: .decode, incarnation: life), PoolID(.decode))
        try ledger.open([SegmentAnnouncement(arena: .stage, number: 0, size: 64)], of: worker)
        let reference = BlockReference(segment: 0, offset: 0, length: 64, block: BlockID(1))
        let checked = try ledger.check(reference, from: worker, in: .stage)
        #expect(checked.producer?.kind == .decode)
        let block = ledger.register(checked, from: worker, as: nil)
        ledger.hold(block)
        #expect(ledger.hasLiveBlocks(of: PoolID(.decode)))
        let drops = [ledger.drop(block), ledger.drop(block), ledger.drop(block)]
        #expect(drops == [nil, 64, nil], "a second release is ignored")
        #expect(ledger.liveBlocks == 0)
        let again = ledger.register(checked, from: worker, as: nil)
        ledger.leave(worker)
        #expect(ledger.drop(again) == nil, "lost blocks have no owner")
        #expect(ledger.liveBlocks == 0)
    }
}

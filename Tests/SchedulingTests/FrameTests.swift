import Model
import Testing

@testable import Coordinator

/// Several blocks in one outcome: frames of an image, of which the first is used.
struct FrameTests {
    /// A decoder has a job for three frames; all other workers are present.
    private func asked(
        _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> (stack: Stack, client: ClientID, token: Token) {
        var (stack, client) = Stack.staffed {
            $0.workGraph.framesMax = 3
            change(&$0)
        }
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        return (stack, client, token)
    }

    /// The decoder returns that many frames. Returns their blocks.
    private func handOver(_ stack: inout Stack, frames: Int = 3) -> [BlockID] {
        let held = stack.held(.decode)[0]
        let image = stack.decoded(by: held.worker, frames: frames)
        stack.finish(held, .decoded(image))
        return image.frames.map(\.reference.block)
    }

    /// Blocks released to the decoder by the last event, including repetitions.
    private func released(_ stack: Stack, of worker: WorkerID) -> [BlockID] {
        stack.actions.flatMap { action -> [BlockID] in
            guard case .release(worker, let blocks, _) = action else { return [] }
            return blocks
        }
    }

    private func outcome(_ frames: [DecodedImage.Frame], ofJob id: UInt64 = 77) -> JobOutcome {
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 40, height: 30))
        return JobOutcome(
            id: JobID(id), attempt: 1, result: .decoded(DecodedImage(info: info, frames: frames)),
            workMicroseconds: 1)
    }

    // MARK: - References

    @Test func eachBlockIsReleasedOnceWhenTheResultIsMade() {
        var (stack, _, token) = asked()
        let decoder = stack.worker(.decode)
        let blocks = handOver(&stack)
        #expect(released(stack, of: decoder) == [])
        #expect(stack.held(.transform)[0].job.work.inputs.map(\.block) == [blocks[0]])
        stack.finish(.transform)
        #expect(released(stack, of: decoder) == blocks)
        #expect(
            stack.actions.contains(.release(decoder, blocks, isPrompt: false)), "in one message")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theyStayForAsLongAsAResultIsMadeOfOneOfThem() {
        var (stack, client, _) = asked()
        let decoder = stack.worker(.decode)
        let other = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
            $0.output.format = .webp
        }
        stack.load(other, by: client)
        let blocks = handOver(&stack)
        stack.finish(stack.held(.transform)[0])
        #expect(released(stack, of: decoder) == [])
        stack.finish(stack.held(.transform)[0])
        #expect(released(stack, of: decoder) == blocks)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func framesOfADecodeThatWasCancelledAreReleasedAsTheyCome() {
        var (stack, client, token) = asked()
        let decode = stack.held(.decode)[0]
        stack.send(.cancel(client, token))
        let image = stack.decoded(by: decode.worker, frames: 3)
        stack.finish(decode, .decoded(image))
        #expect(released(stack, of: decode.worker) == image.frames.map(\.reference.block))
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aCancelReleasesAtOnceWhatNobodyReads() {
        var (stack, client, token) = asked()
        let decoder = stack.worker(.decode)
        let blocks = handOver(&stack)
        let transform = stack.held(.transform)[0]
        stack.send(.cancel(client, token))
        #expect(released(stack, of: decoder) == Array(blocks.dropFirst()))
        stack.finish(transform, .failed(ImageError(.cancelled, "stopped")))
        #expect(released(stack, of: decoder) == [blocks[0]])
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theyAreLostWithTheirWorkerAndMadeAgain() {
        var (stack, _, token) = asked()
        let decoder = stack.worker(.decode)
        _ = handOver(&stack)
        stack.kill(decoder)
        #expect(stack.scheduler.workGraph.dispatcher.ledger.liveBytes(of: PoolID(.decode)) == 0)
        #expect(released(stack, of: decoder) == [])
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func framesThatComeLateAreReleasedAtOnce() {
        var (stack, _, _) = asked()
        let worker = stack.worker(.decode)
        let late = stack.decoded(by: worker, frames: 3).frames
        stack.send(.outcome(worker, outcome(late)))
        let all = late.map(\.reference.block)
        #expect(stack.actions == [.release(worker, all, isPrompt: false)], "in one message")
        let blocks = handOver(&stack)
        let used = DecodedImage.Frame(
            reference: BlockReference(
                segment: 0, offset: 0, length: 3_600, block: blocks[1]), layout: late[0].layout)
        let more = stack.decoded(by: worker).frames
        stack.send(.outcome(worker, outcome([used] + more)))
        #expect(
            released(stack, of: worker) == more.map(\.reference.block),
            "blocks in use are not released")
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// `references` returns all references of a result, and `with` replaces them in order.
    @Test func theReferencesOfAResultAreReplacedInTheirOrder() {
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 40, height: 30))
        func references(from first: UInt64, _ count: Int) -> [BlockReference] {
            (0..<UInt64(count)).map {
                BlockReference(segment: 0, offset: 0, length: 1, block: BlockID(first + $0))
            }
        }
        let old = references(from: 1, 3)
        let layout = PixelLayout(bands: .rgb, size: info.size, stride: 120)
        let results: [JobResult] = [
            .fetched(FetchedBody(reference: old[0], httpStatus: 200, effectiveURL: "")),
            .hit(CacheHit(reference: old[0], tier: .disk, metadata: StoredMetadata(info: info))),
            .stored(StoreReport(delivered: old[0], tiers: .all)),
            .transformed(EncodedImage(reference: old[0], info: info)),
            .decoded(
                DecodedImage(info: info, frames: old.map { .init(reference: $0, layout: layout) })),
            .stored(StoreReport(delivered: nil, tiers: .all)), .miss, .entry(.all),
            .failed(ImageError(.badImageData, "as told")),
        ]
        let counts = results.map(\.references.count)
        #expect(counts == [1, 1, 1, 1, 3, 0, 0, 0, 0])
        for (result, count) in zip(results, counts) {
            #expect(Array(result.references) == Array(old.prefix(count)))
            let new = ShortList(contentsOf: references(from: 7, count))
            let changed = result.with(new)
            #expect(Array(changed.references) == Array(new))
            #expect(changed.with(result.references) == result)
        }
    }

    // MARK: - Lies

    /// A false claim about three frames.
    struct Lie: CustomTestStringConvertible {
        let testDescription: String
        /// Whether it is false regardless of the request.
        let isForged: Bool
        let change: @Sendable (inout [DecodedImage.Frame]) -> Void

        init(
            _ what: String, isForged: Bool = true,
            _ change: @escaping @Sendable (inout [DecodedImage.Frame]) -> Void
        ) {
            (testDescription, self.isForged, self.change) = (what, isForged, change)
        }
    }

    static let lies: [Lie] = [
        Lie("the first block twice") { $0[2].reference.block = $0[0].reference.block },
        Lie("the last block twice") { $0[1].reference.block = $0[2].reference.block },
        Lie("a first one beyond its segment") { $0[0].reference.offset = 1 << 30 },
        Lie("one in between beyond its segment") { $0[1].reference.offset = 1 << 30 },
        Lie("a last one in a segment that is not there") { $0[2].reference.segment = 9 },
        Lie("a last one in the arena of the cache") { $0[2].reference.arena = .results },
        Lie("one too many", isForged: false) { frames in
            var other = frames[0]
            other.reference.block = BlockID(1_000)
            frames.append(other)
        },
        Lie("none", isForged: false) { $0 = [] },
        Lie("a last one that is larger than its block", isForged: false) {
            $0[2].layout.planes[0].stride = 121
        },
    ]

    @Test(arguments: lies) func aLieAboutOneOfThemEndsTheSessionAndNoneIsUsed(lie: Lie) {
        var (stack, _, token) = asked()
        let decode = stack.held(.decode)[0]
        var image = stack.decoded(by: decode.worker, frames: 3)
        lie.change(&image.frames)
        stack.finish(decode, .decoded(image))
        #expect(stack.expelled.map(\.0) == [decode.worker])
        #expect(stack.expelled.first?.1.code == .protocolViolation)
        #expect(released(stack, of: decode.worker) == [], "its session ended")
        #expect(stack.scheduler.workGraph.dispatcher.ledger.liveBytes(of: PoolID(.decode)) == 0)
        stack.hire(.decode)
        #expect(stack.held(.decode).map(\.job.attempt) == [2])
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: lies.filter(\.isForged))
    func aLieThatComesLateEndsTheSessionToo(lie: Lie) {
        var (stack, _, _) = asked()
        let worker = stack.worker(.decode)
        var late = stack.decoded(by: worker, frames: 3).frames
        lie.change(&late)
        stack.send(.outcome(worker, outcome(late)))
        #expect(stack.expelled.map(\.0) == [worker])
        #expect(released(stack, of: worker) == [], "its session ended")
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whoWasAskedForOneFrameHandsOverOne() {
        var (stack, client) = Stack.staffed()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        _ = handOver(&stack, frames: 2)
        #expect(stack.expelled.map(\.0) == [decoder])
    }

    // MARK: - Space

    @Test(arguments: [2, 3]) func allOfThemAreWithinTheLimitOfTheJob(count: Int) {
        var (stack, _, _) = asked { $0.workGraph.image.pixelBytesMax = 2 * 3_600 }
        let decoder = stack.worker(.decode)
        _ = handOver(&stack, frames: count)
        #expect(stack.expelled.map(\.0) == (count == 2 ? [] : [decoder]))
    }

    @Test(arguments: [1, 2]) func allOfThemCountAsOutputOfDecoders(count: Int) {
        var (stack, client, _) = asked { $0.dispatch.outputBytesMax.decode = 3_601 }
        _ = handOver(&stack, frames: count)
        stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        #expect(stack.held(.decode).count == (count == 1 ? 1 : 0))
        stack.finish(.transform)
        #expect(stack.held(.decode).count == 1, "space came")
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// For an overlay, and for re-encoding by a serializer, one frame is enough.
    @Test func onlyTheImageItselfIsAskedForSeveral() {
        var (stack, client) = Stack.staffed { $0.workGraph.framesMax = 3 }
        let overlay = Overlay(url: ImageRequest.image("b").url)
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
            $0.steps.append(.overlay(overlay))
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.load(image, by: client)
        var asked: [String: Int] = [:]
        while let held = stack.allHeld.first {
            if case .decode(let work) = held.job.work {
                asked[purpose(of: held.job.id, stack)] = work.framesMax
            }
            stack.finish(held)
        }
        #expect(asked == ["overlay": 1, "image": 3, "serializer": 1])
        #expect(stack.isAtRest, "\(stack)")
    }

    private func purpose(of decode: JobID, _ stack: Stack) -> String {
        let workGraph = stack.scheduler.workGraph
        guard case .decode(let node) = workGraph.purposes[decode] else { return "serializer" }
        return workGraph.decodes[node].name.key.isOverlay ? "overlay" : "image"
    }
}

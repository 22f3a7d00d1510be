import Model
import Testing

@testable import Coordinator

/// Several blocks in one outcome: frames of an image, of which the first is used.
struct FrameTests {
    private var stack = Stack.staffed()

    /// A decoder has a job for three frames; all other workers are present.
    @discardableResult
    private mutating func asked(_ change: (inout SchedulerLimits) -> Void = { _ in }) -> Token {
        stack = Stack.staffed {
            $0.workGraph.framesMax = 3
            change(&$0)
        }
        let token = stack.load(.loader(size: 5))
        stack.finish(.fetch)
        return token
    }

    /// The decoder returns that many frames. Returns their blocks.
    private mutating func handOver(frames: Int = 3) -> [BlockID] {
        let held = stack.held(.decode)[0]
        let image = stack.decoded(by: held.worker, frames: frames)
        stack.finish(held, .decoded(image))
        return image.frames.map(\.reference.block)
    }

    /// Blocks released to the decoder by the last event, including repetitions.
    private func released(of worker: WorkerID) -> [BlockID] {
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

    @Test mutating func eachBlockIsReleasedOnceWhenTheResultIsMade() {
        let token = asked()
        let decoder = stack.worker(.decode)
        let blocks = handOver()
        #expect(released(of: decoder) == [])
        #expect(stack.held(.transform)[0].job.work.inputs.map(\.block) == [blocks[0]])
        stack.finish(.transform)
        #expect(released(of: decoder) == blocks)
        #expect(
            stack.actions.contains(.release(decoder, blocks, isPrompt: false)), "in one message")
        stack.end(token)
    }

    @Test mutating func theyStayForAsLongAsAResultIsMadeOfOneOfThem() {
        asked()
        let decoder = stack.worker(.decode)
        let other = ImageRequest.loader(size: 5).with {
            $0.output.format = .webp
        }
        stack.load(other)
        let blocks = handOver()
        stack.finishFirst(.transform)
        #expect(released(of: decoder) == [])
        stack.finishFirst(.transform)
        #expect(released(of: decoder) == blocks)
        stack.end()
    }

    @Test mutating func framesOfADecodeThatWasCancelledAreReleasedAsTheyCome() {
        let token = asked()
        let decode = stack.held(.decode)[0]
        stack.cancel(token)
        let image = stack.decoded(by: decode.worker, frames: 3)
        stack.finish(decode, .decoded(image))
        #expect(released(of: decode.worker) == image.frames.map(\.reference.block))
        stack.end()
    }

    @Test mutating func aCancelReleasesAtOnceWhatNobodyReads() {
        let token = asked()
        let decoder = stack.worker(.decode)
        let blocks = handOver()
        let transform = stack.held(.transform)[0]
        stack.cancel(token)
        #expect(released(of: decoder) == Array(blocks.dropFirst()))
        stack.fail(transform, .cancelled)
        #expect(released(of: decoder) == [blocks[0]])
        stack.end()
    }

    @Test mutating func theyAreLostWithTheirWorkerAndMadeAgain() {
        let token = asked()
        let decoder = stack.worker(.decode)
        _ = handOver()
        stack.kill(decoder)
        #expect(stack.scheduler.workGraph.dispatcher.ledger.liveBytes(of: PoolID(.decode)) == 0)
        #expect(released(of: decoder) == [])
        stack.hire(.decode)
        stack.end(token)
    }

    @Test mutating func framesThatComeLateAreReleasedAtOnce() {
        asked()
        let worker = stack.worker(.decode)
        let late = stack.decoded(by: worker, frames: 3).frames
        stack.send(.outcome(worker, outcome(late)))
        let all = late.map(\.reference.block)
        #expect(stack.actions == [.release(worker, all, isPrompt: false)], "in one message")
        let blocks = handOver()
        let used = DecodedImage.Frame(
            reference: BlockReference(
                segment: 0, offset: 0, length: 3_600, block: blocks[1]), layout: late[0].layout)
        let more = stack.decoded(by: worker).frames
        stack.send(.outcome(worker, outcome([used] + more)))
        #expect(
            released(of: worker) == more.map(\.reference.block),
            "blocks in use are not released")
        stack.end()
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

    @Test(arguments: lies) mutating func aLieAboutOneOfThemEndsTheSessionAndNoneIsUsed(lie: Lie) {
        let token = asked()
        let decode = stack.held(.decode)[0]
        var image = stack.decoded(by: decode.worker, frames: 3)
        lie.change(&image.frames)
        stack.finish(decode, .decoded(image))
        #expect(stack.gone == [decode.worker])
        #expect(stack.expelled.first?.1.code == .protocolViolation)
        #expect(released(of: decode.worker) == [], "its session ended")
        #expect(stack.scheduler.workGraph.dispatcher.ledger.liveBytes(of: PoolID(.decode)) == 0)
        stack.hire(.decode)
        #expect(stack.held(.decode).map(\.job.attempt) == [2])
        stack.end(token)
    }

    @Test(arguments: lies.filter(\.isForged))
    mutating func aLieThatComesLateEndsTheSessionToo(lie: Lie) {
        asked()
        let worker = stack.worker(.decode)
        var late = stack.decoded(by: worker, frames: 3).frames
        lie.change(&late)
        stack.send(.outcome(worker, outcome(late)))
        #expect(stack.gone == [worker])
        #expect(released(of: worker) == [], "its session ended")
        stack.hire(.decode)
        stack.end()
    }

    @Test mutating func whoWasAskedForOneFrameHandsOverOne() {
        stack.load(.loader(size: 5))
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        _ = handOver(frames: 2)
        #expect(stack.gone == [decoder])
    }

    // MARK: - Space

    @Test(arguments: [2, 3]) mutating func allOfThemAreWithinTheLimitOfTheJob(count: Int) {
        asked { $0.workGraph.image.pixelBytesMax = 2 * 3_600 }
        let decoder = stack.worker(.decode)
        _ = handOver(frames: count)
        #expect(stack.expelled.map(\.0) == (count == 2 ? [] : [decoder]))
    }

    @Test(arguments: [1, 2]) mutating func allOfThemCountAsOutputOfDecoders(count: Int) {
        asked { $0.dispatch.outputBytesMax.decode = 3_601 }
        _ = handOver(frames: count)
        stack.load(.loader("b", size: 5))
        stack.finish(.fetch)
        #expect(stack.held(.decode).count == (count == 1 ? 1 : 0))
        stack.finish(.transform)
        #expect(stack.held(.decode).count == 1, "space came")
        stack.end()
    }

    /// For an overlay, and for re-encoding by a serializer, one frame is enough.
    @Test mutating func onlyTheImageItselfIsAskedForSeveral() {
        stack = Stack.staffed { $0.workGraph.framesMax = 3 }
        let overlay = Overlay(url: ImageRequest.image("b").url)
        let image = ImageRequest.loader(size: 5).with {
            $0.steps.append(.overlay(overlay))
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        stack.load(image)
        var asked: [String: Int] = [:]
        while let held = stack.allHeld.first {
            if let work = held.work.decode { asked[purpose(of: held.job.id)] = work.framesMax }
            stack.finish(held)
        }
        #expect(asked == ["overlay": 1, "image": 3, "serializer": 1])
        #expect(stack.isAtRest, "\(stack)")
    }

    private func purpose(of decode: JobID) -> String {
        let workGraph = stack.scheduler.workGraph
        guard case .decode(let node) = workGraph.purposes[decode] else { return "serializer" }
        return workGraph.decodes[node].name.key.isOverlay ? "overlay" : "image"
    }
}

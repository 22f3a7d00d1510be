import Model
import Testing

@testable import Coordinator

/// Which requests are refused under load, and how the load is measured.
struct BackPressureTests {
    private var stack = Stack.staffed()

    private func retryAfter(_ token: Token) -> String? {
        guard case .failure(let error) = stack.reply(token)?.outcome, error.code == .busy else {
            return nil
        }
        return error.details["retryAfter"]
    }

    private func loader(_ name: String, size: Int? = 3) -> ImageRequest {
        .loader(name, size: size)
    }

    @Test mutating func bytesThatWaitForDecodersRefuseNewWorkAndLetOthersJoin() {
        stack = Stack(.download, credit: 4) { $0.dispatch.queuedCostMax.decode = 1_500 }
        let first = stack.load(loader("a"))
        stack.finish(.fetch)
        let second = stack.load(loader("b"))
        stack.finish(.fetch)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).cost == 2_000)
        let refused = stack.load(loader("c"))
        #expect(retryAfter(refused) == "1.0", "nothing was measured yet")
        let joined = stack.load(loader("a"))
        #expect(stack.reply(joined) == nil)
        let sameDecode = stack.load(loader("a").with { $0.output.format = .webp })
        #expect(stack.reply(sameDecode) == nil, "its decode is in flight")
        #expect(stack.counters.refused == [.decode: 1])
        #expect(stack.counters.refusedBusy == 1)
        stack.hireAll()
        stack.end(first, second, joined, sameDecode)
    }

    @Test mutating func pixelsThatWaitForTransformersCountByTheirEncoder() {
        stack = Stack(.download, .decode) { $0.dispatch.queuedCostMax.transform = 4_000 }
        // 1,200 pixels each.
        stack.load(loader("a"))
        stack.run(.fetch, .decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .transform).cost == 1_200)
        stack.load(loader("b").with { $0.output.format = .png })
        stack.run(.fetch, .decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .transform).cost == 6_000)
        let refused = stack.load(loader("c"))
        #expect(stack.error(refused) == .busy)
        #expect(stack.outcome(of: loader("c", size: nil)) == nil, "no transform is needed")
        #expect(stack.counters.refused == [.transform: 1])
        stack.hireAll()
        stack.end()
    }

    @Test mutating func transfersAreRefusedByCount() {
        stack = Stack { $0.dispatch.queuedCostMax.fetch = 2 }
        for name in ["a", "b"] { stack.load(loader(name)) }
        let refused = stack.load(loader("c"))
        #expect(stack.error(refused) == .busy)
        #expect(stack.counters.refused == [.fetch: 1])
        stack.hireAll()
        stack.end()
    }

    @Test mutating func anUploadNeedsNoTransfer() {
        stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        stack.load(loader("a"))
        let token = stack.upload("x") { $0.options = .fromLoaderOnly }
        #expect(stack.reply(token) == nil)
    }

    @Test mutating func whatComesBackToAFullQueueIsNotDropped() {
        stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        let worker = stack.hire(.download, credit: 3)
        let tokens = ["a", "b", "c"].map { stack.load(loader($0)) }
        stack.kill(worker)
        #expect(stack.scheduler.dispatcher.waiting(in: .fetch).jobs == 3)
        #expect(stack.refusal(of: loader("d")) == .busy)
        stack.hireAll()
        stack.end(tokens)
    }

    @Test mutating func busySaysInSecondsWhenToComeAgain() {
        stack = Stack(.download) { $0.dispatch.queuedCostMax.fetch = 100 }
        for number in 0..<101 { stack.load(loader("\(number)")) }
        let first = stack.load(loader("x"))
        #expect(retryAfter(first) == "1.0")
        // From now on, two complete per second.
        for _ in 0..<4 {
            stack.wait(milliseconds: 500)
            stack.finishFirst(.fetch)
        }
        for number in 200..<204 { stack.load(loader("\(number)")) }
        let rate = stack.scheduler.dispatcher.waiting(in: .fetch).perSecond ?? 0
        #expect(abs(rate - 2) < 0.01)
        let second = stack.load(loader("x"))
        #expect(retryAfter(second) == "5.0")
        #expect(stack.faults == [])
    }

    @Test func theDrainRateFollowsAndIdleTimeDoesNotCount() {
        var load = StageLoad()
        var now = Instant(nanoseconds: 0)
        let spec = JobSpec(.fetch(FetchWork(url: "http://h/a", headers: [], bodyBytesMax: 1)))
        let job = ActiveJob(JobID(1), Submission(spec, .none), probe: nil, at: now)
        func run(seconds: Int, perSecond: Int) {
            for _ in 0..<(seconds * perSecond) {
                now = now.adding(milliseconds: 1_000 / perSecond)
                load.finished(1, at: now)
            }
        }
        run(seconds: 10, perSecond: 10)
        #expect(load.drainRate == nil, "nothing waited")
        load.enter(job)
        run(seconds: 10, perSecond: 10)
        #expect(abs((load.drainRate ?? 0) - 10) < 0.2)
        load.leave(job)
        now = now.adding(milliseconds: 3_600_000)
        run(seconds: 5, perSecond: 1)
        #expect(abs((load.drainRate ?? 0) - 10) < 0.2)
        load.enter(job)
        run(seconds: 60, perSecond: 50)
        #expect(abs((load.drainRate ?? 0) - 50) < 1)
    }

    @Test func retryAfterStaysWithinItsRange() {
        func text(_ seconds: Double) -> String? {
            ImageError.busy("full", seconds: seconds).details["retryAfter"]
        }
        #expect(text(0) == "0.1")
        #expect(text(0.31) == "0.4")
        #expect(text(12) == "12.0")
        #expect(text(1_000) == "30.0")
    }

    @Test func costsAreCountedInTheUnitOfTheStage() {
        let block = BlockReference(segment: 0, offset: 0, length: 8_193, block: BlockID(1))
        let info = ImageInfo(format: .png, size: PixelSize(width: 9, height: 9))
        func transform(
            _ format: ImageFormat?, lossless: Bool = false, _ steps: TransformStep...
        ) -> UInt64 {
            let layout = PixelLayout(
                bands: .rgb, size: PixelSize(width: 100, height: 50), stride: 300)
            return JobWork.transform(
                TransformWork(
                    source: block, layout: layout, sourceInfo: info, steps: steps,
                    output: OutputOptions(format: format, lossless: lossless),
                    limits: ImageLimits())
            ).cost
        }
        #expect(transform(.jpeg) == 5_000)
        #expect(transform(.webp) == 20_000)
        #expect(transform(.avif) == 50_000)
        #expect(transform(nil) == 20_000, "the format of the source")
        #expect(transform(.webp, lossless: true) == 200_000)
        #expect(transform(.jpeg, lossless: true) == 5_000)
        let larger = TransformStep.resize(PixelSize(width: 200, height: 100), .stretch)
        let smaller = TransformStep.resize(PixelSize(width: 10, height: 10), .stretch)
        #expect(transform(.jpeg, larger) == 20_000, "the output counts")
        #expect(transform(.jpeg, larger, smaller) == 20_000, "also on the way")
        #expect(transform(.jpeg, smaller) == 5_000, "the input counts")
        let decode = DecodeWork(source: block, need: .header, limits: ImageLimits())
        #expect(JobWork.decode(decode).cost == 8_193)
        let store = StoreWork(
            key: nil, source: block, tiers: .none, delivers: true, waitsForDisk: false,
            metadata: StoredMetadata(info: info))
        #expect(JobWork.store(store).cost == 3)
    }

    /// Ordinary results are not affected, and a lossy result hardly can be.
    @Test(arguments: [
        (4_900, true, true), (5_100, true, false), (9_999, true, false), (9_999, false, true),
    ]) mutating func whatWouldKeepATransformerIsRefused(side: Int, lossless: Bool, isProduced: Bool)
    {
        let image = ImageRequest.image().with {
            $0.steps = [.resize(PixelSize(width: side, height: side), .stretch)]
            $0.output = OutputOptions(format: .webp, lossless: lossless)
        }
        let token = stack.load(image)
        // If the size is known without the source, the load is refused before any work starts.
        if isProduced {
            stack.run(.query, .query, .fetch, .decode)
        } else {
            #expect(stack.isAtRest)
        }
        #expect(stack.held(.transform).count == (isProduced ? 1 : 0))
        stack.finishAll()
        #expect((stack.image(token) != nil) == isProduced)
        if case .failure(let error) = stack.replies[token]?.last?.outcome {
            #expect(error.code == .limitExceeded && error.details["limit"] == "25000000")
            #expect(error.message.hasSuffix("reduce the size, or use lossy compression"))
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whatTurnsOutToKeepATransformerIsRefusedBeforeItBegins() {
        let image = ImageRequest.image().with {
            $0.output = OutputOptions(format: .webp, lossless: true)
        }
        let token = stack.load(image)
        stack.run(.query, .query, .fetch)
        let held = stack.held(.decode)[0]
        let layout = PixelLayout(bands: .rgb, size: PixelSize(width: 40, height: 30), stride: 120)
        let frame = DecodedImage.Frame(
            reference: stack.block(of: held.worker, length: 3_600), layout: layout)
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 6_000, height: 5_000))
        stack.finish(held, .decoded(DecodedImage(info: info, frames: [frame])))
        #expect(stack.error(token) == .limitExceeded)
        #expect(stack.held(.transform).isEmpty)
        stack.end()
    }

    @Test mutating func whatExpiresInAQueueReachesNoWorkerAndIsCounted() {
        stack = Stack(.download)
        let atWork = stack.load(loader("a").within(milliseconds: 100))
        let waits = stack.load(loader("b").within(milliseconds: 100))
        let late = stack.held(.fetch)[0]
        stack.wait(milliseconds: 100)
        stack.finish(late)
        #expect(stack.error(waits) == .deadlineExceeded)
        #expect(stack.held(.fetch).isEmpty, "its transfer was not started")
        #expect(stack.error(atWork) == .deadlineExceeded)
        #expect(stack.counters.expired == 2, "one waited for a transfer, one for a decoder")
        #expect(stack.counters.fetches == 1)
        let again = stack.load(loader("a").within(milliseconds: 100))
        stack.pass(milliseconds: 100)
        #expect(stack.error(again) == .deadlineExceeded)
        #expect(stack.counters.expired == 2, "a worker had it")
        stack.end()
    }
}

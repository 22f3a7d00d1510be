import Model
import Testing

@testable import Coordinator

/// Which requests are refused under load, and how the load is measured.
struct BackPressureTests {
    private func retryAfter(_ stack: Stack, _ token: Token) -> String? {
        guard case .failure(let error) = stack.reply(token)?.outcome, error.code == .busy else {
            return nil
        }
        return error.details["retryAfter"]
    }

    private func loader(_ name: String, size: Int? = 3) -> ImageRequest {
        .image(name, size: size, .fromLoaderOnly)
    }

    @Test func bytesThatWaitForDecodersRefuseNewWorkAndLetOthersJoin() {
        var stack = Stack { $0.dispatch.queuedCostMax.decode = 1_500 }
        stack.hire(.download, credit: 4)
        let client = stack.connect()
        let first = stack.load(loader("a"), by: client)
        stack.finish(.fetch)
        let second = stack.load(loader("b"), by: client)
        stack.finish(.fetch)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).cost == 2_000)
        let refused = stack.load(loader("c"), by: client)
        #expect(retryAfter(stack, refused) == "1.0", "nothing was measured yet")
        let joined = stack.load(loader("a"), by: client)
        #expect(stack.reply(joined) == nil)
        let sameDecode = stack.load(
            loader("a").with { $0.output.format = .webp }, by: client)
        #expect(stack.reply(sameDecode) == nil, "its decode is in flight")
        #expect(stack.counters.refused == [.decode: 1])
        #expect(stack.counters.refusedBusy == 1)
        stack.hireAll()
        stack.finishAll()
        for token in [first, second, joined, sameDecode] { #expect(stack.image(token) != nil) }
        #expect(stack.isAtRest)
    }

    @Test func pixelsThatWaitForTransformersCountByTheirEncoder() {
        var stack = Stack { $0.dispatch.queuedCostMax.transform = 4_000 }
        stack.hire(.download)
        stack.hire(.decode)
        let client = stack.connect()
        // 1,200 pixels each.
        stack.load(loader("a"), by: client)
        stack.run(.fetch, .decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .transform).cost == 1_200)
        stack.load(loader("b").with { $0.output.format = .png }, by: client)
        stack.run(.fetch, .decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .transform).cost == 6_000)
        let refused = stack.load(loader("c"), by: client)
        #expect(stack.error(refused) == .busy)
        let original = stack.load(loader("c", size: nil), by: client)
        #expect(stack.reply(original) == nil, "no transform is needed")
        #expect(stack.counters.refused == [.transform: 1])
        stack.hireAll()
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func transfersAreRefusedByCount() {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 2 }
        let client = stack.connect()
        for name in ["a", "b"] { stack.load(loader(name), by: client) }
        let refused = stack.load(loader("c"), by: client)
        #expect(stack.error(refused) == .busy)
        #expect(stack.counters.refused == [.fetch: 1])
        stack.hireAll()
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func anUploadNeedsNoTransfer() {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        let client = stack.connect()
        stack.load(loader("a"), by: client)
        let token = stack.upload("x", by: client) { $0.options = .fromLoaderOnly }
        #expect(stack.reply(token) == nil)
    }

    @Test func whatComesBackToAFullQueueIsNotDropped() {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        let worker = stack.hire(.download, credit: 3)
        let client = stack.connect()
        let tokens = ["a", "b", "c"].map { stack.load(loader($0), by: client) }
        stack.kill(worker)
        #expect(stack.scheduler.dispatcher.waiting(in: .fetch).jobs == 3)
        let refused = stack.load(loader("d"), by: client)
        #expect(stack.error(refused) == .busy)
        stack.hireAll()
        stack.finishAll()
        for token in tokens { #expect(stack.image(token) != nil) }
        #expect(stack.isAtRest)
    }

    @Test func busySaysInSecondsWhenToComeAgain() {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 100 }
        stack.hire(.download)
        let client = stack.connect()
        for number in 0..<101 { stack.load(loader("\(number)"), by: client) }
        let first = stack.load(loader("x"), by: client)
        #expect(retryAfter(stack, first) == "1.0")
        // From now on, two complete per second.
        for _ in 0..<4 {
            stack.now = stack.now.adding(milliseconds: 500)
            stack.finish(stack.held(.fetch)[0])
        }
        for number in 200..<204 { stack.load(loader("\(number)"), by: client) }
        let rate = stack.scheduler.dispatcher.waiting(in: .fetch).perSecond ?? 0
        #expect(abs(rate - 2) < 0.01)
        let second = stack.load(loader("x"), by: client)
        #expect(retryAfter(stack, second) == "5.0")
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
    ]) func whatWouldKeepATransformerIsRefused(side: Int, lossless: Bool, isProduced: Bool) {
        var (stack, client) = Stack.staffed()
        let image = ImageRequest.image().with {
            $0.steps = [.resize(PixelSize(width: side, height: side), .stretch)]
            $0.output = OutputOptions(format: .webp, lossless: lossless)
        }
        let token = stack.load(image, by: client)
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

    @Test func whatTurnsOutToKeepATransformerIsRefusedBeforeItBegins() {
        var (stack, client) = Stack.staffed()
        let image = ImageRequest.image().with {
            $0.output = OutputOptions(format: .webp, lossless: true)
        }
        let token = stack.load(image, by: client)
        stack.run(.query, .query, .fetch)
        let held = stack.held(.decode)[0]
        let layout = PixelLayout(
            bands: .rgb, size: PixelSize(width: 40, height: 30), stride: 120)
        let frame = DecodedImage.Frame(
            reference: stack.block(of: held.worker, length: 3_600), layout: layout)
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 6_000, height: 5_000))
        stack.finish(held, .decoded(DecodedImage(info: info, frames: [frame])))
        #expect(stack.error(token) == .limitExceeded)
        #expect(stack.held(.transform).isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatExpiresInAQueueReachesNoWorkerAndIsCounted() {
        var stack = Stack()
        stack.hire(.download)
        let client = stack.connect()
        let atWork = stack.load(loader("a").with { $0.timeoutMilliseconds = 100 }, by: client)
        let waits = stack.load(loader("b").with { $0.timeoutMilliseconds = 100 }, by: client)
        let late = stack.held(.fetch)[0]
        stack.now = stack.now.adding(milliseconds: 100)
        stack.finish(late)
        #expect(stack.error(waits) == .deadlineExceeded)
        #expect(stack.held(.fetch).isEmpty, "its transfer was not started")
        #expect(stack.error(atWork) == .deadlineExceeded)
        #expect(stack.counters.expired == 2, "one waited for a transfer, one for a decoder")
        #expect(stack.counters.fetches == 1)
        let again = stack.load(loader("a").with { $0.timeoutMilliseconds = 100 }, by: client)
        stack.pass(milliseconds: 100)
        #expect(stack.error(again) == .deadlineExceeded)
        #expect(stack.counters.expired == 2, "a worker had it")
        stack.finishAll()
        #expect(stack.isAtRest)
    }
}

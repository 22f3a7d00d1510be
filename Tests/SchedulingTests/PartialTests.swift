import Model
import Testing

@testable import Coordinator

/// Images of the data that has arrived so far (SEMANTICS §2.11).
struct PartialTests {
    private var stack = Stack.staffed()

    /// A transfer for a load that requests partial images.
    @discardableResult
    private mutating func fetching(
        _ options: RequestOptions = [.progressiveLoad, .fromLoaderOnly], wantsInfo: Bool = false
    ) -> Token {
        stack = Stack.staffed()
        let token = stack.load(.image("a", size: 5, options), wantsInfo: wantsInfo)
        return token
    }

    private func partials(_ token: Token) -> [UInt64] {
        (stack.replies[token] ?? []).compactMap(\.arrivedBytes)
    }

    private func isReleased(_ block: BlockID) -> Bool {
        stack.workers.values.allSatisfy { $0.kind != .download || !$0.live.contains(block) }
    }

    @Test mutating func whatHasArrivedIsDecodedEncodedAndShown() throws {
        let token = fetching(wantsInfo: true)
        #expect(stack.held(.fetch)[0].job.wantsArrived)
        let block = stack.arrive(10_000)
        let decode = try #require(stack.held(.decode).first)
        guard case .decode(let work) = decode.job.work else { return }
        #expect(work.isPartial && work.source.length == 10_000 && decode.priority == .low)
        #expect(!isReleased(block))
        stack.finish(.decode)
        #expect(isReleased(block), "the next bytes may be handed out")
        #expect(stack.progress[token]?.last?.info?.size == PixelSize(width: 40, height: 30))
        stack.run(.transform, .store)
        #expect(partials(token) == [10_000])
        #expect(stack.waiting[token] != nil, "the load continues")
        stack.arrive(30_000)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(token) == [10_000, 30_000])
        #expect(stack.image(token) != nil && stack.reply(token)?.isTerminal == true)
        #expect(stack.faults == [])
    }

    /// At most one is in flight: bytes that arrive meanwhile are released at once.
    @Test mutating func oneIsUnderWayAtATime() {
        let token = fetching()
        stack.arrive(10_000)
        let second = stack.arrive(20_000)
        #expect(isReleased(second) && stack.held(.decode).count == 1)
        stack.run(.decode, .transform, .store)
        #expect(partials(token) == [10_000])
    }

    @Test mutating func theWholeBodyOvertakesWhatIsMadeOfAPart() {
        let token = fetching()
        stack.arrive(10_000)
        let partial = stack.held(.decode)[0]
        stack.finish(.fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        stack.finish(stack.held(.decode).first { $0.isCancelled } ?? partial)
        stack.finishAll()
        #expect(partials(token) == [] && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    /// It delays no other work: without a free decoder none is started, and one in flight is
    /// canceled when other work arrives.
    @Test mutating func otherWorkComesFirst() throws {
        stack = Stack.staffed { $0.dispatch.creditMax.decode = 1 }
        let token = stack.load(.loader(size: 5, .progressiveLoad))
        stack.arrive(10_000)
        let partial = stack.held(.decode)[0]
        let other = stack.load(.loader("b", size: 5))
        let fetch = try #require(
            stack.held(.fetch).first { held in
                guard case .fetch(let work) = held.job.work else { return false }
                return work.url.hasSuffix("b.jpg")
            })
        stack.finish(fetch)
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        #expect(stack.held(.decode).isEmpty, "it keeps its slot until it answers")
        stack.fail(partial, .cancelled)
        let whole = try #require(stack.held(.decode).first)
        guard case .decode(let work) = whole.job.work else { return }
        #expect(!work.isPartial)
        let busy = stack.arrive(20_000)
        #expect(isReleased(busy) && stack.held(.decode).count == 1)
        stack.finishAll()
        #expect(stack.image(other) != nil && stack.image(token) != nil)
        #expect(stack.faults == [])
    }

    @Test mutating func itIsNotDoneAgainWhereItsWorkerIsLost() {
        let token = fetching()
        stack.arrive(10_000)
        stack.kill(stack.held(.decode)[0].worker)
        stack.hire(.decode)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 200)
        stack.arrive(20_000)
        stack.run(.decode, .transform, .store)
        stack.finishAll()
        #expect(partials(token) == [20_000] && stack.image(token) != nil)
    }

    /// Without partial images, the header is read once for any format; formats that can't be shown
    /// partially are not.
    @Test mutating func whoWantsTheHeaderGetsThatOnce() throws {
        let token = fetching(.fromLoaderOnly, wantsInfo: true)
        stack.arrive(5_000, as: .avif)
        guard case .decode(let work) = try #require(stack.held(.decode).first).job.work else {
            return
        }
        #expect(work.isPartial && work.need == .header)
        stack.finish(.decode)
        #expect(stack.progress[token]?.last?.info != nil)
        let next = stack.arrive(10_000, as: .avif)
        #expect(isReleased(next) && stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(partials(token) == [])
    }

    @Test mutating func whoAsksForNothingEarlyCostsNothing() {
        stack.load(.loader(size: 5), wantsProgress: true)
        #expect(!stack.held(.fetch)[0].job.wantsArrived)
        let block = stack.arrive(10_000)
        #expect(isReleased(block) && stack.held(.decode).isEmpty)
        stack.load(.loader(size: 9, .progressiveLoad))
        #expect(stack.held(.fetch)[0].wantsArrived, "a joining load may want it")
        stack.finishAll()
        #expect(stack.faults == [])
    }

    /// The worker published them before it knew of the cancel.
    @Test mutating func bytesOfACancelledTransferAreReleased() {
        let token = fetching()
        let held = stack.held(.fetch)[0]
        stack.cancel(token)
        let block = stack.block(of: held.worker, length: 10_000)
        stack.progress(held, 10_000, block, .jpeg)
        #expect(isReleased(block.block) && stack.held(.decode).isEmpty)
        stack.end()
    }

    @Test mutating func aForgedReferenceEndsTheSession() {
        fetching()
        let held = stack.held(.fetch)[0]
        var block = stack.block(of: held.worker, length: 10)
        block.offset = 1 << 40
        stack.progress(held, 10, block)
        #expect(stack.gone == [held.worker])
    }

    /// A worker may hand out no more than it received, and no more than the job permits.
    @Test mutating func moreThanCanHaveComeEndsTheSession() {
        fetching()
        let held = stack.held(.fetch)[0]
        stack.arrive(10_000, received: 9_999)
        #expect(stack.expelled.map(\.0) == [held.worker] && stack.held(.decode).isEmpty)
        for (bytes, isBelieved) in [(5_000, true), (5_001, false)] as [(UInt64, Bool)] {
            stack = Stack.staffed { $0.workGraph.bodyBytesMax = 5_000 }
            stack.load(.loader(size: 5, .progressiveLoad))
            stack.arrive(bytes)
            #expect(stack.expelled.isEmpty == isBelieved)
            #expect(stack.held(.decode).count == (isBelieved ? 1 : 0))
        }
    }

    /// Only a transfer has arriving bytes.
    @Test mutating func whoHandsOutOfOtherJobsLosesItsSession() {
        fetching()
        stack.finish(.fetch)
        let held = stack.held(.decode)[0]
        let block = stack.block(of: held.worker, length: 10)
        stack.progress(held, 10, block)
        #expect(stack.gone == [held.worker])
    }
}

/// How often partial data is decoded (SEMANTICS §2.11).
struct PartialPaceTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> Instant {
        Self.start.adding(milliseconds: milliseconds)
    }

    /// The state after one decode of `bytes` that started at the start and took `milliseconds`.
    private func looked(
        at bytes: UInt64, taking milliseconds: Int = 0, _ end: PartialPace.End = .shown
    ) -> PartialPace {
        var pace = PartialPace()
        pace.begins(of: bytes)
        pace.ended(end, after: milliseconds, at: at(milliseconds))
        return pace
    }

    @Test func theFirstBytesAreLookedAtAtOnce() {
        #expect(PartialPace().permits(1, of: 0, at: Self.start))
        #expect(!PartialPace().permits(0, of: 0, at: Self.start))
    }

    @Test func theBytesHaveToGrow() {
        let large = looked(at: 160_000)
        #expect(!large.permits(169_999, of: 0, at: at(0)))
        #expect(large.permits(170_000, of: 0, at: at(0)))
        let small = looked(at: 2_000)
        #expect(!small.permits(3_023, of: 0, at: at(0)))
        #expect(small.permits(3_024, of: 0, at: at(0)))
        #expect(small.permits(2_200, of: 2_200, at: at(0)), "these are all")
        #expect(!small.permits(2_000, of: 2_000, at: at(0)), "they were seen")
    }

    @Test func threeTimesAsLongPassesAsTheLookTook() {
        let pace = looked(at: 2_000, taking: 400)
        #expect(!pace.permits(90_000, of: 0, at: at(400 + 1_199)))
        #expect(pace.permits(90_000, of: 0, at: at(400 + 1_200)))
    }

    /// All partial images of one round count, and the next round waits for all of them.
    @Test func whatSeveralTookIsAddedUp() {
        var pace = PartialPace()
        pace.begins(of: 2_000)
        pace.begins(of: 2_000)
        pace.ended(.shown, after: 100, at: at(100))
        #expect(!pace.permits(90_000, of: 0, at: at(9_000)))
        pace.ended(.shown, after: 200, at: at(200))
        #expect(!pace.permits(90_000, of: 0, at: at(200 + 899)))
        #expect(pace.permits(90_000, of: 0, at: at(200 + 900)))
    }

    @Test func withoutFruitThePauseDoublesUpToTenSeconds() {
        var pace = PartialPace()
        var (now, bytes, pauses) = (0, UInt64(2_000), [Int]())
        for _ in 0..<10 {
            pace.begins(of: bytes)
            pace.ended(.fruitless, after: 10, at: at(now))
            bytes *= 2
            let pause = (0...20_000).first { pace.permits(bytes, of: 0, at: at(now + $0)) } ?? -1
            pauses.append(pause)
            now += pause
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000])
        pace.begins(of: bytes)
        pace.ended(.left, after: 10, at: at(now))
        #expect(!pace.permits(2 * bytes, of: 0, at: at(now + 9_999)), "that has no effect")
        pace.begins(of: 2 * bytes)
        pace.ended(.shown, after: 10, at: at(now))
        #expect(pace.permits(4 * bytes, of: 0, at: at(now + 30)))
        let slow = looked(at: 2_000, taking: 5_000, .fruitless)
        #expect(!slow.permits(90_000, of: 0, at: at(5_000 + 14_999)), "never less than the rest")
        #expect(slow.permits(90_000, of: 0, at: at(5_000 + 15_000)))
    }

    // MARK: - Transfers

    /// Bytes of a transfer arrive every 100 ms, and each decode takes a given time. Returns when
    /// decodes started, and how many of them were shown.
    private func transfer(
        steps: Int, of bytes: UInt64, from first: UInt64? = nil, taking milliseconds: Int,
        isShown: Bool = true
    ) -> (starts: [Int], shown: Int) {
        var stack = Stack.staffed()
        stack.load(.loader(size: 5, .progressiveLoad))
        let (began, first) = (stack.now, first ?? bytes)
        var (starts, ends) = ([Int](), Instant?.none)
        for step in 0..<steps * 100 {
            if let end = ends, stack.now >= end {
                if isShown {
                    stack.run(.decode, .transform, .store)
                } else {
                    stack.fail(.decode, .badImageData)
                }
                ends = nil
            }
            // The previous block was released.
            let downloader = stack.worker(.download)
            if step.isMultiple(of: 100), stack.workers[downloader]?.live.isEmpty == true {
                stack.arrive(
                    first + bytes * UInt64(step / 100),
                    of: first + bytes * UInt64(steps), as: .jpeg)
                if ends == nil, !stack.held(.decode).isEmpty {
                    starts.append(stack.now.milliseconds(since: began))
                    ends = stack.now.adding(milliseconds: milliseconds)
                } else if ends == nil {
                    #expect(stack.workers[downloader]?.live.isEmpty == true, "given back")
                }
            }
            stack.wait(milliseconds: 1)
        }
        #expect(stack.faults == [])
        return (starts, stack.partialCount)
    }

    /// The guarantees for a transfer of six seconds.
    @Test func anOrdinaryTransferIsShownOften() {
        let (starts, shown) = transfer(steps: 60, of: 2_000, taking: 30)
        #expect(starts.first == 0 && shown >= 20, "\(starts)")
    }

    /// Ten bytes per second of a file whose decode takes half a second.
    @Test func bytesThatTrickleAreHardlyLookedAt() {
        let (starts, _) = transfer(steps: 250, of: 1, from: 50_000, taking: 500)
        #expect(starts == [0], "no growth is worth a look")
    }

    @Test func slowDecodesTakeAQuarterOfTheTime() {
        let (starts, _) = transfer(steps: 200, of: 5_000, taking: 500)
        #expect(starts.count >= 3 && starts.count <= 11, "\(starts)")
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 2_000 }, "\(starts)")
    }

    @Test func whatCannotBeShownIsTriedLessAndLess() {
        let (starts, shown) = transfer(steps: 200, of: 5_000, taking: 10, isShown: false)
        #expect(shown == 0 && (6...9).contains(starts.count), "\(starts)")
    }
}

/// Decodes of partial data that crash workers (SEMANTICS §2.11, §7.5).
struct PartialQuarantineTests {
    private var stack = Stack.staffed()
    private static let options: RequestOptions = [.progressiveLoad, .fromLoaderOnly]

    /// A transfer for loads of these sizes that request partial images.
    @discardableResult
    private mutating func fetching(_ sizes: Int...) -> [Token] {
        stack = Stack.staffed()
        for kind in [WorkerKind.decode, .transform] {
            for _ in 0..<7 { stack.hire(kind, credit: 4) }
        }
        let tokens = sizes.map { stack.load(.image("a", size: $0, Self.options)) }
        return tokens
    }

    private mutating func crash(_ stage: JobStage) {
        stack.crash(stack.held(stage)[0])
        stack.hire(stage.kind)
    }

    /// Completes the canceled jobs.
    private mutating func stopCancelled() {
        while let held = stack.allHeld.first(where: \.isCancelled) { stack.fail(held, .cancelled) }
    }

    @Test(arguments: [JobStage.decode, .transform])
    mutating func afterOneCrashNoneIsMadeOfTheTransfer(in stage: JobStage) {
        let tokens = fetching(5, 7)
        stack.arrive(2_000)
        if stage == .transform { stack.finishFirst(.decode) }
        crash(stage)
        stopCancelled()
        #expect(stack.held(.decode).isEmpty && stack.held(.transform).isEmpty)
        for bytes in [10_000, 20_000, 40_000] as [UInt64] {
            stack.pass(milliseconds: 5_000)
            stack.arrive(bytes)
            #expect(stack.held(.decode).isEmpty, "\(bytes)")
        }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil }, "the whole image may be sound")
        #expect(stack.counters.crashes == 1 && stack.isAtRest, "\(stack)")
    }

    /// A decode that ended only because its time was over is a hang.
    @Test mutating func afterOneHangNoneIsMadeOfTheTransfer() {
        let tokens = fetching(5)
        stack.arrive(2_000)
        stack.fail(.decode, .deadlineExceeded)
        stack.pass(milliseconds: 5_000)
        stack.arrive(40_000)
        #expect(stack.held(.decode).isEmpty)
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil && stack.isAtRest, "\(stack)")
    }

    /// A crash record for a job that the worker didn't hold is not evidence.
    @Test mutating func whatAnotherWorkerHoldsIsNotGivenUp() {
        fetching(5)
        stack.arrive(2_000)
        let partial = stack.held(.decode)[0]
        stack.load(.loader("b", size: 5))
        stack.finish(stack.held(.fetch)[1])
        let other = stack.held(.decode)[1]
        stack.kill(
            other.worker,
            crash: CrashRecord(job: partial.job.id, attempt: partial.job.attempt, signal: 11))
        #expect(stack.held(.decode).contains { $0.job.id == partial.job.id })
        stack.end()
    }

    /// Two crashes with partial data quarantine the source, like two with the whole file.
    @Test mutating func itIsEvidenceLikeAnyOther() {
        let tokens = fetching(5)
        stack.arrive(2_000)
        crash(.decode)
        stack.finishFirst(.fetch)
        crash(.decode)
        #expect(stack.error(tokens[0]) == .poisoned)
        let next = stack.load(.image("a", size: 9, Self.options))
        #expect(stack.error(next) == .poisoned && stack.scheduler.report["quarantined"] == 1)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A suspect isn't decoded partially, and a successful partial decode proves nothing about the
    /// whole.
    @Test mutating func aSuspectShowsNothingBeforeTheWholeWentWell() {
        let tokens = fetching(5)
        stack.arrive(2_000)
        crash(.decode)
        stack.cancel(tokens[0])
        stopCancelled()
        let next = stack.load(.image("a", size: 9, Self.options))
        stack.arrive(2_000)
        #expect(stack.held(.decode).isEmpty, "another transfer, the same suspect")
        stack.finishAll()
        #expect(stack.image(next) != nil)
        let third = stack.load(.image("a", size: 11, Self.options))
        stack.arrive(2_000)
        #expect(stack.held(.decode).count == 1, "the whole went well")
        stack.finishAll()
        #expect(stack.image(third) != nil && stack.isAtRest, "\(stack)")
    }

    @Test mutating func aPartThatGoesWellProvesNothingOfTheWhole() throws {
        let tokens = fetching(5)
        stack.arrive(2_000)
        let partial = stack.held(.decode)[0]
        let job = stack.scheduler.workGraph.dispatcher.jobs[partial.job.id]
        let suspect = try #require(job?.suspect)
        stack.scheduler.workGraph.dispatcher.accuse(suspect, .crash)
        stack.finish(partial)
        #expect(stack.scheduler.workGraph.dispatcher.isSuspected(suspect))
        stack.cancel(tokens[0])
        stopCancelled()
    }

    /// The cache finds that an encoded partial image doesn't match its declared properties: this is
    /// evidence, and ends the partial image.
    @Test mutating func whatIsNotTheImageThatWasSaidIsEvidence() {
        let tokens = fetching(5)
        stack.arrive(2_000)
        stack.run(.decode, .transform)
        let maker = stack.expelled.count
        stack.fail(.store, .badImageData)
        #expect(stack.expelled.count == maker + 1 && stack.faults == [])
        #expect(stack.scheduler.audit() == [])
        stack.pass(milliseconds: 5_000)
        stack.arrive(40_000)
        #expect(stack.held(.decode).isEmpty, "the result is suspected")
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil && stack.isAtRest, "\(stack)")
    }
}

/// Partial images delay no other work, not even of class low (SEMANTICS §2.11).
struct PartialShareTests {
    private var stack = Stack.staffed()

    /// A stack with that many decoders, one of which decodes the only partial image.
    @discardableResult
    private mutating func showing(decoders: Int) -> Stack.Held {
        stack = Stack { $0.dispatch.creditMax.decode = 1 }
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 16) }
        for _ in 0..<decoders { stack.hire(.decode) }
        stack.load(.loader(size: 5, .progressiveLoad))
        stack.arrive(10_000)
        return stack.held(.decode)[0]
    }

    /// A load of class low whose bytes have arrived.
    private mutating func loadLow(_ name: String) {
        stack.load(.loader(name, size: 5, .lowPriority))
        guard let fetch = stack.held(.fetch).last else { return stack.fault("nothing is fetched") }
        stack.finish(fetch)
    }

    private func wholes() -> Int {
        stack.held(.decode).count { held in
            guard case .decode(let work) = held.job.work else { return false }
            return !work.isPartial
        }
    }

    @Test mutating func theShareOfClassLowIsForWholeImages() {
        let partial = showing(decoders: 4)
        #expect(stack.scheduler.dispatcher.credit(of: .decode).heldLow == 0)
        loadLow("b")
        #expect(wholes() == 1 && stack.held(.decode).count == 2, "each has a decoder")
        #expect(!stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        loadLow("c")
        #expect(wholes() == 1, "class low has its share")
        stack.end()
    }

    @Test mutating func itMakesWayForClassLow() {
        let partial = showing(decoders: 1)
        loadLow("b")
        #expect(stack.actions.contains(.cancelJob(partial.worker, partial.job.id)))
        stack.fail(partial, .cancelled)
        #expect(wholes() == 1)
        stack.end()
    }

    /// So that others find a free decoder, and arrived data is released at once.
    @Test mutating func itTakesNoMoreThanClassLowMay() {
        showing(decoders: 8)
        for name in ["b", "c", "d"] { stack.load(.loader(name, size: 5, .progressiveLoad)) }
        for fetch in stack.held(.fetch).dropFirst() {
            let block = stack.block(of: fetch.worker, length: 10_000)
            stack.progress(fetch, 10_000, block, .jpeg)
        }
        #expect(stack.held(.decode).count == 2, "a quarter of eight")
        let downloader = stack.worker(.download)
        #expect(stack.workers[downloader]?.live.count == 2)
        stack.end()
    }

    @Test mutating func noneBeginsWhereClassLowHasItsShare() {
        loadLow("b")
        stack.load(.loader(size: 5, .progressiveLoad))
        stack.arrive(10_000)
        let downloader = stack.worker(.download)
        #expect(stack.held(.decode).count == 1 && wholes() == 1)
        #expect(stack.workers[downloader]?.live.count == 1, "the body of the whole one")
        stack.end()
    }

    /// In a pool without workers, partial data would be held until some connect.
    @Test mutating func itWaitsForNoDecoder() throws {
        let name = try #require(PoolName("photographs"))
        var pool = WorkerPool(name: name, kind: .decode)
        pool.grant = WorkerCapabilities(formatsIn: ["jpeg"])
        let pools = WorkerPools([pool])
        stack = Stack.staffed { $0.dispatch.pools = pools }
        let token = stack.load(.loader(size: 5, .progressiveLoad))
        stack.arrive(10_000)
        let downloader = stack.worker(.download)
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.workers[downloader]?.live.isEmpty == true)
        #expect(stack.waiting[token] != nil && stack.scheduler.audit() == [])
    }
}

/// Valid outcomes of decoding a partial file.
@Suite struct PartialAnswerTests {
    private static let size = PixelSize(width: 2, height: 2)
    private static let reference = BlockReference(
        segment: 1, offset: 0, length: 12, block: BlockID(1))

    private func answers(
        _ frames: Int, to need: DecodeNeed, isPartial: Bool, properties: ImageProperties? = nil
    ) -> Bool {
        let work = DecodeWork(
            source: Self.reference, need: need, limits: ImageLimits(), framesMax: 2,
            isPartial: isPartial)
        let layout = PixelLayout(bands: .rgb, size: Self.size, stride: 6)
        let frame = DecodedImage.Frame(reference: Self.reference, layout: layout)
        let image = DecodedImage(
            info: ImageInfo(format: .jpeg, size: Self.size),
            frames: (0..<frames).map { _ in frame }, properties: properties)
        return JobResult.decoded(image).answers(.decode(work))
    }

    @Test func ofABeginningThereNeedNotBeAFrame() {
        #expect(answers(0, to: .full, isPartial: true))
        #expect(answers(1, to: .full, isPartial: true))
        #expect(!answers(2, to: .full, isPartial: true))
        #expect(answers(0, to: .header, isPartial: true))
        #expect(!answers(1, to: .header, isPartial: true))
        #expect(!answers(0, to: .full, isPartial: true, properties: ImageProperties()))
    }

    @Test func ofAWholeFileThereIs() {
        #expect(!answers(0, to: .full, isPartial: false))
        #expect(answers(1, to: .full, isPartial: false))
        #expect(answers(2, to: .full, isPartial: false))
        #expect(!answers(3, to: .full, isPartial: false))
    }
}

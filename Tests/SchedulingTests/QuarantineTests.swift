import Model
import Testing

@testable import Coordinator

struct QuarantineTests {
    private var stack = Stack.staffed()

    private func loader(_ size: Int, _ name: String = "a") -> ImageRequest {
        .loader(name, size: size).discardingOriginal
    }

    /// A stack whose decoder has crashed `count` times with an image.
    @discardableResult
    private mutating func crashing(_ count: Int) -> Token {
        stack = Stack.staffed()
        let token = stack.load(loader(5))
        stack.finish(.fetch)
        for _ in 0..<count { stack.crash(.decode) }
        return token
    }

    @Test mutating func afterOneCrashItIsTriedAgain() {
        let token = crashing(1)
        #expect(stack.held(.decode).map(\.job.attempt) == [2])
        stack.end(token)
    }

    @Test mutating func afterTwoCrashesAllWhoWaitAndTheNextAreTold() {
        let token = crashing(2)
        #expect(stack.error(token) == .poisoned)
        #expect(stack.refusal(of: loader(5)) == .poisoned)
        #expect(stack.refusal(of: loader(7)) == .poisoned, "any decode of these bytes")
        #expect(stack.gets.values.reduce(0, +) == 1, "and nothing is fetched for it")
        #expect(stack.scheduler.report["quarantined"] == 1)
        #expect(stack.counters.crashes == 2)
        #expect(stack.isAtRest)
    }

    @Test mutating func otherImagesAreNotConcerned() {
        crashing(2)
        let other = stack.load(loader(5, "b"))
        stack.end(other)
    }

    @Test mutating func aSuccessBetweenMakesTheFirstCrashVoid() {
        let first = crashing(1)
        stack.finishAll()
        #expect(stack.image(first) != nil)
        let second = stack.load(loader(6))
        stack.finish(.fetch)
        stack.crash(.decode)
        stack.finishAll()
        #expect(stack.image(second) != nil)
    }

    /// The kernel kills a process that uses too much memory, without a crash record.
    @Test(arguments: [JobStage.decode, .transform])
    mutating func aWorkerThatIsLostTwiceWithAJobIsEvidence(_ stage: JobStage) {
        let token = stack.load(loader(5))
        if stage == .decode { stack.finish(.fetch) } else { stack.run(.fetch, .decode) }
        stack.pass(milliseconds: 250)
        stack.kill(stack.held(stage)[0].worker)
        #expect(stack.error(token) == nil)
        stack.hire(stage.kind)
        #expect(stack.held(stage).map(\.job.attempt) == [2])
        stack.pass(milliseconds: 250)
        stack.kill(stack.held(stage)[0].worker)
        #expect(stack.error(token) == .poisoned)
        #expect(stack.scheduler.report["quarantined"] == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func aSuccessAfterALossMakesItVoid() {
        for size in 5...8 {
            let token = stack.load(loader(size))
            stack.finish(.fetch)
            stack.pass(milliseconds: 250)
            stack.kill(stack.held(.decode)[0].worker)
            stack.hire(.decode)
            stack.finishAll()
            #expect(stack.image(token) != nil)
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    /// Decoders of an image are lost in ways that are no evidence against it.
    private mutating func expectInnocence(_ times: Int, _ lose: (inout Stack, Stack.Held) -> Void) {
        let token = stack.load(loader(5))
        stack.finish(.fetch)
        for _ in 0..<times {
            lose(&stack, stack.held(.decode)[0])
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    /// The worker may have exited because it was told to drain.
    @Test mutating func aLossOfAWorkerThatDrainsIsNoEvidence() {
        expectInnocence(4) { stack, held in
            stack.pass(milliseconds: 250)
            stack.send(.workerDraining(held.worker))
            stack.kill(held.worker)
        }
    }

    /// It can't have run out of memory that fast, so something else killed it.
    @Test mutating func aLossWithinAMomentIsNoEvidence() {
        expectInnocence(9) { stack, held in
            stack.pass(milliseconds: 249)
            stack.kill(held.worker)
        }
    }

    @Test(arguments: [(0, 9), (1, 0), (7, 7)] as [(UInt64, UInt32)])
    mutating func aRecordOfAnotherJobOrAttemptIsNoEvidence(job: UInt64, attempt: UInt32) {
        expectInnocence(3) { stack, held in
            stack.kill(
                held.worker,
                crash: CrashRecord(
                    job: JobID(held.job.id.value + job), attempt: held.job.attempt + attempt,
                    signal: 11))
        }
    }

    /// The producer may have truncated the file under the reader.
    @Test mutating func aBusErrorIsNoEvidence() {
        expectInnocence(4) { $0.crash($1, .signal(7)) }
    }

    /// The worker was told to stop the job, which may be why it exited.
    @Test mutating func aLossOfAWorkerThatWasToldToStopIsNoEvidence() {
        stack = Stack.staffed { $0.dispatch.jobMilliseconds.decode = 1_000 }
        let token = stack.load(loader(5))
        stack.finish(.fetch)
        for attempt in 1...4 as ClosedRange<UInt32> {
            #expect(stack.held(.decode).map(\.job.attempt) == [attempt])
            stack.pass(milliseconds: 1_500)
            let stopped = stack.allHeld.filter(\.isCancelled)
            #expect(stopped.count == 1)
            for held in stopped { stack.kill(held.worker) }
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test mutating func aJobThatLostItsWorkerGoesBehindAllThatWait() {
        stack = Stack(.download, credit: 3)
        stack.hire(.transform)
        let decoder = stack.hire(.decode)
        for name in ["a", "b", "c"] { stack.load(loader(5, name)) }
        for held in stack.held(.fetch) { stack.finish(held, stack.success(held)) }
        let first = stack.held(.decode)[0].job.id
        stack.pass(milliseconds: 250)
        stack.kill(decoder)
        var order: [JobID] = []
        for _ in 0..<3 {
            let worker = stack.hire(.decode)
            order += stack.held(.decode).filter { $0.worker == worker }.map(\.job.id)
        }
        #expect(order.count == 3)
        #expect(order.last == first)
    }

    @Test(arguments: [CrashRecord.Cause.stoodStill, .didNotStop])
    mutating func whatHangsItsWorkersIsHeldAgainstItLikeACrash(_ cause: CrashRecord.Cause) {
        let token = stack.load(loader(5))
        for _ in 0..<2 {
            let held = stack.held(.fetch)[0]
            stack.kill(
                held.worker,
                crash: CrashRecord(job: held.job.id, attempt: held.job.attempt, cause: cause))
            stack.hire(.download)
        }
        #expect(stack.error(token) == .poisoned)
        #expect(stack.scheduler.report["quarantined"] == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func aTransformIsSuspectedWithItsStepsOnly() {
        let token = stack.load(loader(5))
        stack.run(.fetch, .decode)
        for _ in 0..<2 { stack.crash(.transform) }
        #expect(stack.error(token) == .poisoned)
        let other = stack.load(loader(6))
        stack.end(other)
    }

    @Test mutating func itIsForgottenAfterAWhile() {
        crashing(2)
        stack.pass(milliseconds: 661_000)
        let token = stack.load(loader(5))
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test mutating func operatorsListItAndTakeItOff() {
        crashing(2)
        stack.ask(.list(after: 0))
        let entry = stack.reports.last?.entries.first
        #expect(entry?.url == "http://example.org/a.jpg")
        #expect(entry?.operation == "decode")
        #expect(entry?.reason == .poisoned)
        #expect((540_000...660_000).contains(entry?.expiresInMilliseconds ?? 0))
        stack.ask(.list(after: entry?.number ?? 0))
        #expect(stack.reports.last == FailureCacheReport())
        stack.ask(.remove(url: "http://example.org/b.jpg"))
        #expect(stack.reports.last?.removed == 0)
        stack.ask(.remove(url: "http://example.org/a.jpg"))
        #expect(stack.reports.last?.removed == 1)
        let token = stack.load(loader(5))
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    // MARK: - Drawings

    /// Loads a drawing in a size; its decoder crashes that many times.
    private mutating func crashDrawing(_ size: Int, times: Int) -> Token {
        let token = stack.load(loader(size))
        stack.fetch { $0.format = .svg }
        for _ in 0..<times { stack.crash(.decode) }
        return token
    }

    @Test mutating func twoPoisonedSizesPoisonTheDrawing() {
        let first = crashDrawing(5, times: 2)
        #expect(stack.error(first) == .poisoned)
        let otherSize = stack.load(loader(6))
        stack.fetch { $0.format = .svg }
        stack.finishAll()
        #expect(stack.image(otherSize) != nil, "one size proves nothing about the others")
        let second = crashDrawing(7, times: 2)
        #expect(stack.error(second) == .poisoned)
        #expect(
            stack.refusal(of: loader(8)) == .poisoned, "a success in another size doesn't void it")
        #expect(stack.counters.crashes == 4)
        #expect(stack.isAtRest)
    }

    /// A client that disconnects after the first crash must not evade the count.
    @Test mutating func sizesThatCrashOnceEachPoisonTheDrawing() {
        for size in 5..<9 {
            let token = crashDrawing(size, times: 1)
            if size == 8 { break }
            stack.cancel(token)
            stack.finishAll()
        }
        #expect(stack.refusal(of: loader(9)) == .poisoned)
    }

    @Test mutating func aSuccessMakesTheCrashesOfItsOwnSizeVoid() {
        for size in 5..<10 {
            let token = crashDrawing(size, times: 1)
            stack.finishAll()
            #expect(stack.image(token) != nil, "size \(size)")
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test mutating func operatorsForgiveADrawingWithAllItsSizes() {
        for size in [5, 7] { _ = crashDrawing(size, times: 2) }
        stack.ask(.remove(url: "http://example.org/a.jpg"))
        #expect(stack.reports.last?.removed == 3)
        let token = stack.load(loader(8))
        stack.fetch { $0.format = .svg }
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    // MARK: - Timeouts

    /// Loads an image whose decoder works until the load's timeout of `held` milliseconds, and,
    /// when canceled, exits with its process or stops by itself.
    private mutating func overrun(_ size: Int, after held: Int, endsProcess: Bool) -> Token {
        let load = loader(size).with { $0.timeoutMilliseconds = held }
        let token = stack.load(load)
        if !stack.held(.fetch).isEmpty { stack.finish(.fetch) }
        guard let job = stack.held(.decode).first else { return token }
        stack.pass(milliseconds: held)
        if endsProcess {
            stack.pass(milliseconds: 500)
            let record = CrashRecord(
                job: job.job.id, attempt: job.job.attempt, cause: .cancelledHard)
            stack.kill(job.worker, crash: record)
            stack.hire(.decode)
        } else {
            stack.fail(job, .cancelled)
        }
        return token
    }

    @Test(arguments: [true, false])
    mutating func whatTakesAllItsTimeFourTimesIsPoisoned(_ endsProcess: Bool) {
        for size in 5..<9 {
            let token = overrun(size, after: 1_000, endsProcess: endsProcess)
            #expect(stack.error(token) == .deadlineExceeded)
        }
        #expect(stack.refusal(of: loader(9)) == .poisoned)
        #expect(stack.counters.crashes == 0)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [true, false])
    mutating func aShortTimeIsNoEvidence(_ endsProcess: Bool) {
        for size in 5..<15 { _ = overrun(size, after: 400, endsProcess: endsProcess) }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    /// An early cancel is not evidence against the image, as long as its decoder stops.
    @Test mutating func aCancelThatIsHeededIsNoEvidence() {
        for size in 5..<15 {
            let token = stack.load(loader(size))
            stack.finish(.fetch)
            stack.pass(milliseconds: 5_000)
            let job = stack.held(.decode)[0]
            stack.cancel(token)
            stack.fail(job, .cancelled)
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test mutating func aHeaderSaysNothingOfThePixels() {
        let first = crashing(1)
        stack.cancel(first)
        stack.finishAll()
        var header = ImageRequest.loader()
        header.infoOnly = true
        let info = stack.load(header)
        stack.finishAll()
        #expect(stack.image(info) != nil)
        let second = stack.load(loader(6))
        stack.finish(.fetch)
        stack.crash(stack.held(.decode)[0])
        #expect(stack.error(second) == .poisoned)
    }

    @Test func theOldestSuspectMakesRoom() {
        var quarantine = Quarantine(entriesMax: 2, milliseconds: 1_000)
        let now = Instant(nanoseconds: 0)
        var numbers: UInt64 = 0
        let suspects = (1...3).map {
            Suspect.fetch(SourceKey(ImageRequest(url: "http://h/\($0)")))
        }
        for suspect in suspects {
            _ = quarantine.accuse(suspect, .crash, at: now, numbers: &numbers)
            _ = quarantine.accuse(suspect, .crash, at: now, numbers: &numbers)
        }
        #expect(!quarantine.holds(suspects[0], at: now))
        #expect(quarantine.holds(suspects[1], at: now) && quarantine.holds(suspects[2], at: now))
        #expect(quarantine.count(at: now) == 2)
    }

    @Test mutating func aReportHoldsAsManyEntriesAsAMessageMay() {
        stack = Stack()
        stack.connect()
        for number in 0..<20 {
            let path = String(repeating: "x", count: 7_990) + "\(10 + number)"
            let suspect = Suspect.fetch(SourceKey(ImageRequest(url: "http://h/\(path)")))
            let now = stack.now
            for _ in 0..<2 { stack.scheduler.accuse(suspect, at: now) }
        }
        var (listed, after): (Int, UInt64) = (0, 0)
        while listed < 20 {
            stack.ask(.list(after: after))
            guard let page = stack.reports.last, let last = page.entries.last else { break }
            #expect(page.entries.count == min(6, 20 - listed))
            #expect(page.hasMore == (listed + page.entries.count < 20))
            listed += page.entries.count
            after = last.number
        }
        #expect(listed == 20)
    }
}

extension Scheduler {
    fileprivate func accuse(_ suspect: Suspect, at now: Instant) {
        _ = workGraph.dispatcher.quarantine.accuse(
            suspect, .crash, at: now, numbers: &workGraph.dispatcher.lastDenial)
    }
}

/// How much evidence quarantines a suspect, and what voids it: an early success, time, or an
/// operator. After each of them the count restarts at zero.
@Suite struct EvidenceTests {
    private static let source = SourceKey(ImageRequest(url: "http://h/a.png"))
    private let suspect = Suspect.decode(EvidenceTests.source)
    private let start = Instant(nanoseconds: 1_000_000)

    /// A quarantine, and the numbers of its entries.
    private struct Court {
        var quarantine: Quarantine
        var numbers: UInt64 = 0

        init(entriesMax: Int = 64) {
            quarantine = Quarantine(entriesMax: entriesMax, milliseconds: 1_000)
        }

        /// Adds evidence. Returns whether the suspect is now quarantined.
        @discardableResult
        mutating func accuse(_ suspect: Suspect, _ evidence: Evidence, at now: Instant) -> Bool {
            quarantine.accuse(suspect, evidence, at: now, numbers: &numbers)
        }
    }

    private static let verdicts: [([Evidence], Bool)] = [
        ([.crash], false), ([.crash, .crash], true), ([.loss, .loss], true),
        ([.crash, .loss], true), ([.crash, .overrun], false),
        ([.overrun, .crash, .overrun], true),
        ([.overrun, .overrun, .overrun], false), ([.overrun, .overrun, .overrun, .overrun], true),
    ]

    @Test(arguments: verdicts.indices) func twoCrashesOrFourOverrunsAreEnough(index: Int) {
        let (evidence, isEnough) = Self.verdicts[index]
        var court = Court()
        for one in evidence.dropLast() {
            let isHeld = court.accuse(suspect, one, at: start)
            #expect(!isHeld)
        }
        for one in evidence.suffix(1) {
            let isHeld = court.accuse(suspect, one, at: start)
            #expect(isHeld == isEnough)
        }
        #expect(court.quarantine.holds(suspect, at: start) == isEnough)
        #expect(court.quarantine.count(at: start) == (isEnough ? 1 : 0))
    }

    @Test func aSuccessMakesWhatIsNotEnoughVoid() {
        var court = Court()
        court.accuse(suspect, .crash, at: start)
        court.accuse(suspect, .overrun, at: start)
        court.quarantine.acquit(suspect, at: start)
        #expect(court.quarantine.isEmpty)
        let isHeld = court.accuse(suspect, .crash, at: start)
        #expect(!isHeld, "it counts from nothing")
    }

    @Test func aSuccessMakesAQuarantineNotVoid() {
        var court = Court()
        for _ in 0..<2 { court.accuse(suspect, .crash, at: start) }
        court.quarantine.acquit(suspect, at: start)
        #expect(court.quarantine.holds(suspect, at: start))
    }

    /// Within ten percent, counted from the latest evidence.
    @Test func evidenceIsForgottenAfterItsTime() {
        var court = Court()
        court.accuse(suspect, .crash, at: start)
        let second = start.adding(milliseconds: 899)
        let isHeld = court.accuse(suspect, .crash, at: second)
        #expect(isHeld)
        #expect(court.quarantine.holds(suspect, at: second.adding(milliseconds: 899)))
        let late = second.adding(milliseconds: 1_101)
        #expect(!court.quarantine.holds(suspect, at: late))
        #expect(court.quarantine.count(at: late) == 0)
        let isHeldAgain = court.accuse(suspect, .crash, at: late)
        #expect(!isHeldAgain, "it counts from nothing")
    }

    @Test(arguments: [nil, "http://h/a.png"] as [String?])
    func anOperatorForgivesAllThatCounted(url: String?) {
        var court = Court()
        for _ in 0..<2 { court.accuse(suspect, .crash, at: start) }
        let count = court.quarantine.remove(url, at: start)
        #expect(count == 1)
        #expect(court.quarantine.isEmpty)
        let isHeld = court.accuse(suspect, .crash, at: start)
        #expect(!isHeld)
    }

    /// A drawing is quarantined by the evidence of four sizes; a success voids only the evidence of
    /// its own size.
    @Test func aSuccessTakesBackWhatItsSizeCountedAgainstTheDrawing() {
        func drawing(_ pixels: Int) -> Suspect { .drawing(Self.source, .area(pixels)) }
        var court = Court()
        for pixels in 1...3 { court.accuse(drawing(pixels), .crash, at: start) }
        court.quarantine.acquit(drawing(3), at: start)
        court.accuse(drawing(4), .crash, at: start)
        #expect(!court.quarantine.holds(drawing(9), at: start))
        court.accuse(drawing(5), .crash, at: start)
        #expect(court.quarantine.holds(drawing(9), at: start))
        #expect(court.quarantine.holds(.drawings(Self.source), at: start))
    }

    /// As many suspects as permitted are all remembered; one more evicts the oldest.
    @Test(arguments: [3, 4]) func theOldestSuspectMakesRoomBeyondTheLimit(count: Int) {
        func suspect(_ number: Int) -> Suspect {
            .decode(SourceKey(ImageRequest(url: "http://h/\(number).png")))
        }
        var court = Court(entriesMax: 3)
        for number in 1...count { court.accuse(suspect(number), .crash, at: start) }
        #expect(court.quarantine.suspects(suspect(1), at: start) == (count == 3))
        #expect(court.quarantine.suspects(suspect(2), at: start))
        let isHeld = court.accuse(suspect(count), .crash, at: start)
        #expect(isHeld)
    }
}

import Model
import Testing

@testable import Coordinator

struct QuarantineTests {
    private func loader(_ size: Int, _ name: String = "a") -> ImageRequest {
        .image(name, size: size, .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }
    }

    /// A stack whose decoder has crashed `count` times with an image.
    private func stack(decoderCrashes count: Int) -> (Stack, ClientID, Token) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader(5), by: client)
        stack.finish(.fetch)
        for _ in 0..<count {
            stack.crash(stack.held(.decode)[0])
            stack.hire(.decode)
        }
        return (stack, client, token)
    }

    @Test func afterOneCrashItIsTriedAgain() {
        var (stack, _, token) = stack(decoderCrashes: 1)
        #expect(stack.held(.decode).map(\.job.attempt) == [2])
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func afterTwoCrashesAllWhoWaitAndTheNextAreTold() {
        var (stack, client, token) = stack(decoderCrashes: 2)
        #expect(stack.error(token) == .poisoned)
        let next = stack.load(loader(5), by: client)
        #expect(stack.error(next) == .poisoned)
        let otherSize = stack.load(loader(7), by: client)
        #expect(stack.error(otherSize) == .poisoned, "any decode of these bytes")
        #expect(stack.gets.values.reduce(0, +) == 1, "and nothing is fetched for it")
        #expect(stack.scheduler.report["quarantined"] == 1)
        #expect(stack.counters.crashes == 2)
        #expect(stack.isAtRest)
    }

    @Test func otherImagesAreNotConcerned() {
        var (stack, client, _) = stack(decoderCrashes: 2)
        let other = stack.load(loader(5, "b"), by: client)
        stack.finishAll()
        #expect(stack.image(other) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aSuccessBetweenMakesTheFirstCrashVoid() {
        var (stack, client, first) = stack(decoderCrashes: 1)
        stack.finishAll()
        #expect(stack.image(first) != nil)
        let second = stack.load(loader(6), by: client)
        stack.finish(.fetch)
        stack.crash(stack.held(.decode)[0])
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(second) != nil)
    }

    /// The kernel kills a process that uses too much memory, without a crash record.
    @Test(arguments: [JobStage.decode, .transform])
    func aWorkerThatIsLostTwiceWithAJobIsEvidence(_ stage: JobStage) {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
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

    @Test func aSuccessAfterALossMakesItVoid() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        for size in 5...8 {
            let token = stack.load(loader(size), by: client)
            stack.finish(.fetch)
            stack.pass(milliseconds: 250)
            stack.kill(stack.held(.decode)[0].worker)
            stack.hire(.decode)
            stack.finishAll()
            #expect(stack.image(token) != nil)
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    /// The worker may have exited because it was told to drain.
    @Test func aLossOfAWorkerThatDrainsIsNoEvidence() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
        stack.finish(.fetch)
        for _ in 0..<4 {
            let worker = stack.held(.decode)[0].worker
            stack.pass(milliseconds: 250)
            stack.send(.workerDraining(worker))
            stack.kill(worker)
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    /// The worker was told to stop the job, which may be why it exited.
    @Test func aLossOfAWorkerThatWasToldToStopIsNoEvidence() {
        var stack = Stack { $0.dispatch.jobMilliseconds.decode = 1_000 }
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
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

    /// It can't have run out of memory that fast, so something else killed it.
    @Test func aLossWithinAMomentIsNoEvidence() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
        stack.finish(.fetch)
        for _ in 0..<9 {
            stack.pass(milliseconds: 249)
            stack.kill(stack.held(.decode)[0].worker)
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test func aJobThatLostItsWorkerGoesBehindAllThatWait() {
        var stack = Stack()
        stack.hire(.download, credit: 3)
        stack.hire(.transform)
        let decoder = stack.hire(.decode)
        let client = stack.connect()
        for name in ["a", "b", "c"] { stack.load(loader(5, name), by: client) }
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
    func whatHangsItsWorkersIsHeldAgainstItLikeACrash(_ cause: CrashRecord.Cause) {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
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

    @Test func aRecordOfAnotherJobOrAttemptIsNoEvidence() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
        stack.finish(.fetch)
        for lie in [(0, 9), (1, 0), (7, 7)] as [(UInt64, UInt32)] {
            let held = stack.held(.decode)[0]
            stack.kill(
                held.worker,
                crash: CrashRecord(
                    job: JobID(held.job.id.value + lie.0), attempt: held.job.attempt + lie.1,
                    signal: 11))
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    /// The producer may have truncated the file under the reader.
    @Test func aBusErrorIsNoEvidence() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
        stack.finish(.fetch)
        for _ in 0..<4 {
            stack.crash(stack.held(.decode)[0], signal: 7)
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    @Test func aTransformIsSuspectedWithItsStepsOnly() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader(5), by: client)
        stack.run(.fetch, .decode)
        for _ in 0..<2 {
            stack.crash(stack.held(.transform)[0])
            stack.hire(.transform)
        }
        #expect(stack.error(token) == .poisoned)
        let other = stack.load(loader(6), by: client)
        stack.finishAll()
        #expect(stack.image(other) != nil)
        #expect(stack.isAtRest)
    }

    @Test func itIsForgottenAfterAWhile() {
        var (stack, client, _) = stack(decoderCrashes: 2)
        stack.pass(milliseconds: 661_000)
        let token = stack.load(loader(5), by: client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test func operatorsListItAndTakeItOff() {
        var (stack, client, _) = stack(decoderCrashes: 2)
        stack.send(.failureCache(client, .list(after: 0)))
        let entry = stack.reports.last?.entries.first
        #expect(entry?.url == "http://example.org/a.jpg")
        #expect(entry?.operation == "decode")
        #expect(entry?.reason == .poisoned)
        #expect((540_000...660_000).contains(entry?.expiresInMilliseconds ?? 0))
        stack.send(.failureCache(client, .list(after: entry?.number ?? 0)))
        #expect(stack.reports.last == FailureCacheReport())
        stack.send(.failureCache(client, .remove(url: "http://example.org/b.jpg")))
        #expect(stack.reports.last?.removed == 0)
        stack.send(.failureCache(client, .remove(url: "http://example.org/a.jpg")))
        #expect(stack.reports.last?.removed == 1)
        let token = stack.load(loader(5), by: client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    // MARK: - Drawings

    /// Fetches a drawing for a load.
    private func fetchDrawing(in stack: inout Stack) {
        let held = stack.held(.fetch)[0]
        guard case .fetched(var body) = stack.success(held) else { return }
        body.format = .svg
        stack.finish(held, .fetched(body))
    }

    /// Loads a drawing in a size; its decoder crashes that many times.
    private func crashDrawing(
        _ size: Int, times: Int, in stack: inout Stack, by client: ClientID
    ) -> Token {
        let token = stack.load(loader(size), by: client)
        fetchDrawing(in: &stack)
        for _ in 0..<times {
            stack.crash(stack.held(.decode)[0])
            stack.hire(.decode)
        }
        return token
    }

    @Test func twoPoisonedSizesPoisonTheDrawing() {
        var (stack, client) = Stack.staffed()
        let first = crashDrawing(5, times: 2, in: &stack, by: client)
        #expect(stack.error(first) == .poisoned)
        let otherSize = stack.load(loader(6), by: client)
        fetchDrawing(in: &stack)
        stack.finishAll()
        #expect(stack.image(otherSize) != nil, "one size proves nothing about the others")
        let second = crashDrawing(7, times: 2, in: &stack, by: client)
        #expect(stack.error(second) == .poisoned)
        let third = stack.load(loader(8), by: client)
        #expect(stack.error(third) == .poisoned, "a success in another size doesn't void it")
        #expect(stack.counters.crashes == 4)
        #expect(stack.isAtRest)
    }

    /// A client that disconnects after the first crash must not evade the count.
    @Test func sizesThatCrashOnceEachPoisonTheDrawing() {
        var (stack, client) = Stack.staffed()
        for size in 5..<9 {
            let token = crashDrawing(size, times: 1, in: &stack, by: client)
            if size == 8 { break }
            stack.send(.cancel(client, token))
            stack.finishAll()
        }
        let next = stack.load(loader(9), by: client)
        #expect(stack.error(next) == .poisoned)
    }

    @Test func aSuccessMakesTheCrashesOfItsOwnSizeVoid() {
        var (stack, client) = Stack.staffed()
        for size in 5..<10 {
            let token = crashDrawing(size, times: 1, in: &stack, by: client)
            stack.finishAll()
            #expect(stack.image(token) != nil, "size \(size)")
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test func operatorsForgiveADrawingWithAllItsSizes() {
        var (stack, client) = Stack.staffed()
        for size in [5, 7] { _ = crashDrawing(size, times: 2, in: &stack, by: client) }
        stack.send(.failureCache(client, .remove(url: "http://example.org/a.jpg")))
        #expect(stack.reports.last?.removed == 3)
        let token = stack.load(loader(8), by: client)
        fetchDrawing(in: &stack)
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    // MARK: - Timeouts

    /// Loads an image whose decoder works until the load's timeout of `held` milliseconds, and,
    /// when canceled, exits with its process or stops by itself.
    private func overrun(
        _ size: Int, after held: Int, endsProcess: Bool, in stack: inout Stack, by client: ClientID
    ) -> Token {
        let load = loader(size).with { $0.timeoutMilliseconds = held }
        let token = stack.load(load, by: client)
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
            stack.finish(job, .failed(ImageError(.cancelled, "stopped")))
        }
        return token
    }

    @Test(arguments: [true, false])
    func whatTakesAllItsTimeFourTimesIsPoisoned(_ endsProcess: Bool) {
        var (stack, client) = Stack.staffed()
        for size in 5..<9 {
            let token = overrun(
                size, after: 1_000, endsProcess: endsProcess, in: &stack, by: client)
            #expect(stack.error(token) == .deadlineExceeded)
        }
        let next = stack.load(loader(9), by: client)
        #expect(stack.error(next) == .poisoned)
        #expect(stack.counters.crashes == 0)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [true, false])
    func aShortTimeIsNoEvidence(_ endsProcess: Bool) {
        var (stack, client) = Stack.staffed()
        for size in 5..<15 {
            _ = overrun(size, after: 400, endsProcess: endsProcess, in: &stack, by: client)
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    /// An early cancel is not evidence against the image, as long as its decoder stops.
    @Test func aCancelThatIsHeededIsNoEvidence() {
        var (stack, client) = Stack.staffed()
        for size in 5..<15 {
            let token = stack.load(loader(size), by: client)
            stack.finish(.fetch)
            stack.pass(milliseconds: 5_000)
            let job = stack.held(.decode)[0]
            stack.send(.cancel(client, token))
            stack.finish(job, .failed(ImageError(.cancelled, "stopped")))
        }
        #expect(stack.scheduler.report["quarantined"] == 0)
    }

    @Test func aHeaderSaysNothingOfThePixels() {
        var (stack, client, first) = stack(decoderCrashes: 1)
        stack.send(.cancel(client, first))
        stack.finishAll()
        var header = ImageRequest.image("a", size: nil, .fromLoaderOnly)
        header.infoOnly = true
        let info = stack.load(header, by: client)
        stack.finishAll()
        #expect(stack.image(info) != nil)
        let second = stack.load(loader(6), by: client)
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

    @Test func aReportHoldsAsManyEntriesAsAMessageMay() {
        var stack = Stack()
        let client = stack.connect()
        for number in 0..<20 {
            let path = String(repeating: "x", count: 7_990) + "\(10 + number)"
            let suspect = Suspect.fetch(SourceKey(ImageRequest(url: "http://h/\(path)")))
            let now = stack.now
            for _ in 0..<2 { stack.scheduler.accuse(suspect, at: now) }
        }
        var (listed, after): (Int, UInt64) = (0, 0)
        while listed < 20 {
            stack.send(.failureCache(client, .list(after: after)))
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

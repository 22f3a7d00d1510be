import ImageModel
import Messages
import Testing

@testable import Admission
@testable import Derivation
@testable import Dispatching

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
        #expect(stack.scheduler.report.quarantined == 1)
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

    @Test func aWorkerThatIsKilledIsNoEvidence() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(loader(5), by: stack.connect())
        stack.finish(.fetch)
        for _ in 0..<9 {
            stack.kill(stack.held(.decode)[0].worker)
            stack.hire(.decode)
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.report.quarantined == 0)
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
        #expect(stack.scheduler.report.quarantined == 1)
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

    /// Its producer may have cut the bytes off under the reader.
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
        #expect(stack.scheduler.report.quarantined == 0)
    }

    @Test func operatorsListItAndTakeItOff() {
        var (stack, client, _) = stack(decoderCrashes: 2)
        stack.send(.blacklist(client, .list(after: 0)))
        let entry = stack.reports.last?.entries.first
        #expect(entry?.url == "http://example.org/a.jpg")
        #expect(entry?.operation == "decode")
        #expect(entry?.reason == .poisoned)
        #expect((540_000...660_000).contains(entry?.expiresInMilliseconds ?? 0))
        stack.send(.blacklist(client, .list(after: entry?.number ?? 0)))
        #expect(stack.reports.last == BlacklistReport())
        stack.send(.blacklist(client, .remove(url: "http://example.org/b.jpg")))
        #expect(stack.reports.last?.removed == 0)
        stack.send(.blacklist(client, .remove(url: "http://example.org/a.jpg")))
        #expect(stack.reports.last?.removed == 1)
        let token = stack.load(loader(5), by: client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    @Test func theOldestSuspectMakesRoom() {
        var quarantine = Quarantine(entriesMax: 2, milliseconds: 1_000)
        let now = Instant(nanoseconds: 0)
        var numbers: UInt64 = 0
        let suspects = (1...3).map {
            Suspect.fetch(SourceKey(ImageRequest(url: "http://h/\($0)")))
        }
        for suspect in suspects {
            _ = quarantine.accuse(suspect, at: now, numbers: &numbers)
            _ = quarantine.accuse(suspect, at: now, numbers: &numbers)
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
            stack.send(.blacklist(client, .list(after: after)))
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
    fileprivate mutating func accuse(_ suspect: Suspect, at now: Instant) {
        _ = deriver.dispatcher.quarantine.accuse(
            suspect, at: now, numbers: &deriver.dispatcher.numbers.denial)
    }
}

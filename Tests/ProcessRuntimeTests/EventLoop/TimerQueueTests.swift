import Model
import ProcessRuntime
import TestKit
import Testing

@Suite struct TimerQueueTests {
    private func at(_ nanoseconds: UInt64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test func timersComeInTheOrderOfTheirMoments() {
        var timers = TimerQueue<String>(timersMax: 10)
        timers.schedule("third", at: at(30))
        timers.schedule("first", at: at(10))
        timers.schedule("second", at: at(20))
        #expect(timers.nextDue == at(10))
        #expect(timers.removeDue(at: at(9)) == nil)
        #expect(timers.removeDue(at: at(25)) == "first")
        #expect(timers.removeDue(at: at(25)) == "second")
        #expect(timers.removeDue(at: at(25)) == nil)
        #expect(timers.count == 1)
        #expect(timers.removeDue(at: at(30)) == "third")
        #expect(timers.nextDue == nil)
    }

    @Test func equalMomentsKeepTheOrderOfScheduling() {
        var timers = TimerQueue<Int>(timersMax: 100)
        for index in 0..<50 { timers.schedule(index, at: at(7)) }
        #expect((0..<50).map { _ in timers.removeDue(at: at(7)) } == Array(0..<50))
    }

    @Test func aCancelledTimerDoesNotCome() {
        var timers = TimerQueue<Int>(timersMax: 10)
        let ids = (0..<5).map { timers.schedule($0, at: at(UInt64($0))) }
        #expect(timers.cancel(ids[0]) == 0)
        #expect(timers.cancel(ids[3]) == 3)
        #expect(timers.cancel(ids[3]) == nil)
        #expect(timers.nextDue == at(1))
        #expect([1, 2, 4] == (0..<3).map { _ in timers.removeDue(at: at(9)) })
        #expect(timers.cancel(ids[4]) == nil)
    }

    @Test func anOldNameDoesNotCancelItsSuccessor() {
        var timers = TimerQueue<String>(timersMax: 1)
        let old = timers.schedule("old", at: at(1))
        #expect(timers.removeDue(at: at(1)) == "old")
        let new = timers.schedule("new", at: at(2))
        #expect(timers.cancel(old) == nil)
        #expect(timers.count == 1)
        #expect(timers.cancel(new) == "new")
    }

    /// Compared with a sorted array, with fixed seeds.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aRandomWalkAgreesWithASortedList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var timers = TimerQueue<Int>(timersMax: 10_000)
        var model: [(due: UInt64, value: Int, id: TimerID)] = []
        var now: UInt64 = 0
        for value in 0..<5_000 {
            switch random.next() % 4 {
            case 0, 1:
                let due = now + random.next() % 50
                model.append((due, value, timers.schedule(value, at: at(due))))
            case 2 where !model.isEmpty:
                let victim = model.remove(at: Int(random.next() % UInt64(model.count)))
                #expect(timers.cancel(victim.id) == victim.value)
            default:
                now += random.next() % 20
                while let value = timers.removeDue(at: at(now)) {
                    let first = model.indices.min { model[$0].due < model[$1].due }
                    #expect(first.map { model[$0].value } == value)
                    if let first { model.remove(at: first) }
                }
                #expect(!model.contains { $0.due <= now })
            }
            #expect(timers.count == model.count)
            #expect(timers.nextDue?.nanoseconds == model.map(\.due).min())
        }
    }
}

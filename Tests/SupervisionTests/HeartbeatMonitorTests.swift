import Model
import Testing

@testable import Supervision

@Suite struct HeartbeatMonitorTests {
    private let life = Incarnation(Identifier128(high: 1, low: 1))
    private let next = Incarnation(Identifier128(high: 1, low: 2))

    private var watch = HeartbeatMonitor()

    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 0).adding(milliseconds: milliseconds)
    }

    /// Checks once a second; returns the number of the check that found slot 0 hanging.
    private mutating func look(_ counters: [UInt64]) -> Int? {
        for (index, counter) in counters.enumerated() {
            let now = at(1_000 * (index + 1))
            if watch.looked([0: (life, counter)], at: now) == [0] { return index }
        }
        return nil
    }

    @Test mutating func fiveLooksWithoutASignOfLifeAreAHang() {
        #expect(look([3, 4, 4, 4, 4, 4, 4]) == 6)
    }

    @Test mutating func oneTurnOfTheLoopIsEnough() {
        #expect(look([3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5]) == nil)
    }

    @Test mutating func lateLooksSayNothing() {
        for second in 1...20 {
            #expect(watch.looked([0: (life, 7)], at: at(second * 3_000)) == [])
        }
    }

    @Test mutating func aLateLookDoesNotTakeBackWhatOthersSaid() {
        #expect(look([4, 4, 4, 4, 4]) == nil)
        #expect(watch.looked([0: (life, 4)], at: at(8_000)) == [])
        #expect(watch.looked([0: (life, 4)], at: at(9_000)) == [0])
    }

    @Test mutating func aNewLifeIsLookedAtAnew() {
        _ = look([7, 7, 7, 7, 7])
        #expect(watch.looked([0: (next, 7)], at: at(6_000)) == [])
        #expect(watch.looked([0: (next, 7)], at: at(7_000)) == [])
    }

    /// Checks a counter that never changes once a second; returns the second at which a hang is
    /// detected.
    private func hang(waiting waited: Int) -> Int? {
        var watch = HeartbeatMonitor()
        for second in 0...100
        where watch.looked([0: (life, 7)], waited: [0: waited], at: at(second * 1_000)) == [0] {
            let stall = watch.forget(0)
            #expect(stall.waitedMilliseconds == second * waited)
            return second
        }
        return nil
    }

    /// Five seconds of its own time, and one minute in total.
    @Test(arguments: [(0, 5), (200, 7), (500, 10), (900, 50), (920, 60), (1_000, 60), (1_400, 60)])
    func whatItWaitedForAProcessorDoesNotCountForAMinute(_ waited: Int, _ second: Int) {
        #expect(hang(waiting: waited) == second)
    }

    @Test mutating func aSignOfLifeEndsAllWaiting() {
        for second in 0..<200 {
            let counter = UInt64(second / 30)
            let hung = watch.looked(
                [0: (life, counter)], waited: [0: 1_000], at: at(second * 1_000))
            #expect(hung == [])
        }
    }

    @Test mutating func aSupervisorThatIsAlwaysLateKillsInTheEnd() {
        let hung = (0...100).first {
            watch.looked([0: (life, 7)], at: at($0 * 3_000)) == [0]
        }
        #expect(hung == 60)
    }

    @Test mutating func whoHasNoCounterIsNotWatched() {
        _ = look([7, 7, 7, 7, 7])
        #expect(watch.looked([:], at: at(6_000)) == [])
        #expect(watch.looked([0: (life, 7)], at: at(7_000)) == [])
    }

    @Test mutating func looksComeOnceASecond() {
        #expect(watch.isDue(at: at(0)))
        _ = watch.looked([:], at: at(0))
        #expect(!watch.isDue(at: at(999)) && watch.isDue(at: at(1_000)))
        #expect(watch.nextLook == at(1_000))
    }
}

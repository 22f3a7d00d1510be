import Model
import Testing

@testable import Coordinator

/// Timers that are armed and never disarmed.
@Suite struct CoordinatorTimersTests {
    private func moment(_ milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func theFirstOneSaysWhenTheNextTurnIs() {
        var timers = CoordinatorTimers()
        #expect(timers.nextDue == nil)
        timers.arm(.shutdown, by: moment(20))
        timers.arm(.retryPeers, by: moment(10))
        #expect(timers.nextDue == moment(10))
        #expect(timers.removeDue(at: moment(9)) == [])
        #expect(timers.removeDue(at: moment(30)) == [.retryPeers, .shutdown])
        #expect(timers.nextDue == nil)
    }

    @Test func anArmedOneMovesForwardsOnly() {
        var timers = CoordinatorTimers()
        timers.arm(.expireUploads, by: moment(20))
        timers.arm(.expireUploads, by: moment(30))
        #expect(timers.nextDue == moment(20))
        timers.arm(.expireUploads, by: moment(10))
        #expect(timers.nextDue == moment(10))
        #expect(timers.removeDue(at: moment(40)) == [.expireUploads])
        #expect(timers.removeDue(at: moment(40)) == [])
    }

    /// Peers that retry immediately must not starve others.
    @Test func oneThatIsArmedForThisMomentAgainIsDueInTheNextTurn() {
        var timers = CoordinatorTimers()
        timers.arm(.retryPeers, by: moment(10))
        var rung = 0
        for timer in timers.removeDue(at: moment(10)) {
            rung += 1
            timers.arm(timer, by: moment(10))
        }
        #expect(rung == 1)
        #expect(timers.nextDue == moment(10))
        #expect(timers.removeDue(at: moment(10)) == [.retryPeers])
    }

    @Test func eachKindIsHeldOnceHoweverOftenItIsArmed() {
        var timers = CoordinatorTimers()
        for round in 0..<1_000 {
            for timer in CoordinatorTimer.allCases {
                timers.arm(timer, by: moment(UInt64(5_000 - round)))
            }
        }
        #expect(timers.removeDue(at: moment(5_000)).count == CoordinatorTimer.allCases.count)
    }
}

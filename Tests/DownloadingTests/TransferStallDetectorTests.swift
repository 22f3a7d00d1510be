import Model
import Testing

@testable import Downloading

@Suite struct TransferStallDetectorTests {
    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 1_000_000_000).adding(milliseconds: milliseconds)
    }

    /// The times in milliseconds at which it nudges.
    private func nudges(
        of watch: inout TransferStallDetector, from first: Int, to last: Int,
        received: (Int) -> Int64
    ) -> [Int] {
        var nudges: [Int] = []
        for moment in first...last {
            guard let due = watch.due, due <= at(moment) else { continue }
            if watch.look(received: received(moment), at: at(moment)) { nudges.append(moment) }
        }
        return nudges
    }

    @Test func whatStandsStillIsNudgedSixTimes() {
        var watch = TransferStallDetector(received: 10, at: at(0))
        #expect(
            nudges(of: &watch, from: 0, to: 9_000) { _ in 10 } == [20, 60, 140, 300, 620, 1_260])
        let due = watch.due
        #expect(due == nil)
    }

    @Test func whatMovesIsNotNudged() {
        var watch = TransferStallDetector(received: 10, at: at(0))
        #expect(nudges(of: &watch, from: 0, to: 9_000) { 11 + Int64($0) }.isEmpty)
    }

    /// Each nudge restarts libcurl's low-speed timer, so the number of nudges must be limited.
    @Test func disturbancesNudgeASilentOriginNoMore() {
        var watch = TransferStallDetector(received: 10, at: at(0))
        var all: [Int] = []
        for second in 0..<60 {
            all += nudges(of: &watch, from: 1_000 * second, to: 1_000 * second + 999) { _ in 10 }
            watch.disturb(at: at(1_000 * second + 999))
        }
        #expect(all.count == TransferStallDetector.looksMax)
    }

    @Test func oneThatTricklesIsNudgedSoOftenInAll() {
        var watch = TransferStallDetector(received: 0, at: at(0))
        var all: [Int] = []
        for second in 0..<600 {
            all += nudges(of: &watch, from: 1_000 * second, to: 1_000 * second + 999) {
                Int64($0 / 1_000)
            }
            watch.disturb(at: at(1_000 * second + 999))
        }
        #expect(all.count == TransferStallDetector.nudgesMax)
        let due = watch.due
        #expect(due == nil)
    }

    @Test func disturbancesPutNoLookOff() {
        var watch = TransferStallDetector(received: 10, at: at(0))
        for moment in 1...19 { watch.disturb(at: at(moment)) }
        let due = watch.due
        #expect(due == at(20))
    }
}

import Messages
import Testing

@testable import Downloading

@Suite struct StandstillWatchTests {
    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 1_000_000_000).adding(milliseconds: milliseconds)
    }

    @Test func whatStandsStillIsSeenMoreAndMoreRarely() {
        var watch = StandstillWatch(received: 10, at: at(0))
        var seen: [Int] = []
        for moment in 0...4_000 where watch.isStill(received: 10, at: at(moment)) {
            seen.append(moment)
        }
        #expect(seen == [20, 60, 140, 300, 620, 1_260, 2_260, 3_260])
    }

    @Test func whatMovesIsNotSeen() {
        var watch = StandstillWatch(received: 10, at: at(0))
        for moment in 0...400 {
            let isStill = watch.isStill(received: 11 + Int64(moment), at: at(moment))
            #expect(!isStill)
        }
        let last = (401...500).first { watch.isStill(received: 411, at: at($0)) }
        #expect(last.map { $0 - 400 <= 40 } == true, "it is looked at as often as at first")
    }
}

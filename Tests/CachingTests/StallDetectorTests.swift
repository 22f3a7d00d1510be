import Testing

@testable import Caching

/// When a disk counts as stalled and when it is used again, with simulated time.
@Suite struct StallDetectorTests {
    private static let second: UInt64 = 1_000_000_000
    private static let limit = StallDetector.limit

    /// A class so that expectations can mutate it.
    private final class Watched {
        var detector = StallDetector()

        func look(_ busySince: UInt64?, at now: UInt64) -> StallDetector.Change? {
            detector.look(busySince: busySince, now: now)
        }

        /// Stalls from `start` on. Returns when that was detected.
        func stall(at start: UInt64) -> UInt64 {
            #expect(look(start, at: start + limit) == .stalled)
            return start + limit
        }
    }

    @Test func anOperationWithinItsTimeIsNoStall() {
        let watched = Watched()
        #expect(watched.look(7, at: 7 + Self.limit - 1) == nil)
        #expect(watched.look(nil, at: 9 * Self.limit) == nil)
        #expect(!watched.detector.isStalled)
    }

    /// Each operation is timed separately, however many follow one another.
    @Test func manyOperationsInARowAreNoStall() {
        let watched = Watched()
        for number in 1...100 {
            let begun = UInt64(number) * Self.limit
            #expect(watched.look(begun, at: begun + Self.limit - 1) == nil)
        }
    }

    @Test func aStallIsToldOnceAndEndsWhenTheThreadIsIdle() {
        let watched = Watched()
        var now = watched.stall(at: 0)
        #expect(watched.detector.isStalled && watched.detector.count == 1)
        now += Self.second
        #expect(watched.look(0, at: now) == nil, "reported once")
        now += 10 * Self.limit
        #expect(watched.look(now - 1, at: now) == nil, "the next of its requests is not the last")
        #expect(watched.look(nil, at: now) == .recovered)
        #expect(!watched.detector.isStalled)
    }

    /// A disk that takes six seconds for everything must not delay each load by five.
    @Test func aDiskThatStallsAgainIsLeftAloneForLongerEachTime() {
        let watched = Watched()
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0..<7 {
            now = watched.stall(at: now) + Self.second
            let idle = now
            while watched.look(nil, at: now) == nil { now += Self.second }
            pauses.append((now - idle) / Self.second)
        }
        #expect(pauses == [0, 5, 10, 20, 40, 60, 60])
    }

    @Test func aDiskThatHasWorkedForAWhileStartsAfresh() {
        let watched = Watched()
        var now = watched.stall(at: 0)
        #expect(watched.look(nil, at: now) == .recovered)
        now = watched.stall(at: now + StallDetector.probation)
        #expect(watched.look(nil, at: now) == .recovered)
    }

    /// Work that arrives during the pause restarts it.
    @Test func aThreadThatIsBusyAgainIsNotRecovered() {
        let watched = Watched()
        var now = watched.stall(at: 0)
        #expect(watched.look(nil, at: now) == .recovered)
        now = watched.stall(at: now)
        #expect(watched.look(nil, at: now) == nil)
        now += StallDetector.pauses.lowerBound - 1
        #expect(watched.look(now, at: now) == nil)
        #expect(watched.look(nil, at: now + 1) == nil)
        #expect(watched.look(nil, at: now + 1 + StallDetector.pauses.lowerBound) == .recovered)
    }
}

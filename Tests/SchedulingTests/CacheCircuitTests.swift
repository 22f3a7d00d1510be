import Messages
import Testing

@testable import Derivation

/// When a cache of others is left alone (SEMANTICS §5.26).
@Suite struct CacheCircuitTests {
    private var circuit = CacheCircuit()
    private var now = Instant(nanoseconds: 1)

    private mutating func fail(_ count: Int = 1) {
        for _ in 0..<count { circuit.failed(at: now) }
    }

    private mutating func isAsked(after milliseconds: Int) -> Bool {
        now = now.adding(milliseconds: milliseconds)
        return circuit.admits(at: now)
    }

    @Test mutating func itIsAskedUntilItFailedFiveTimesInARow() {
        fail(4)
        #expect(isAsked(after: 0) && !circuit.isOpen)
        circuit.answered()
        fail(4)
        #expect(isAsked(after: 0))
        fail()
        #expect(!isAsked(after: 0) && circuit.isOpen)
    }

    @Test mutating func afterAPauseOneIsAskedAndOthersAreNot() {
        fail(5)
        #expect(!isAsked(after: 999))
        #expect(isAsked(after: 1))
        #expect(!isAsked(after: 0) && !isAsked(after: 999))
        circuit.answered()
        #expect(isAsked(after: 0) && isAsked(after: 0) && !circuit.isOpen)
    }

    @Test mutating func eachPauseIsTwiceAsLongUpToAHalfMinute() {
        fail(5)
        for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(!isAsked(after: pause - 1), "after \(pause)")
            #expect(isAsked(after: 1), "after \(pause)")
            fail()
        }
        // What was asked earlier and fails now says nothing new.
        fail(3)
        #expect(isAsked(after: 30_000))
    }

    @Test mutating func aTrialThatIsNeverAnsweredIsFollowedByAnother() {
        fail(5)
        #expect(isAsked(after: 1_000))
        #expect(!isAsked(after: 500) && isAsked(after: 500))
    }
}

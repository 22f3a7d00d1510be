import Model
import Testing

@testable import Coordinator

/// When the circuit breaker of an external cache opens (SEMANTICS §5.26).
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
        // Failures of earlier queries have no effect.
        fail(3)
        #expect(isAsked(after: 30_000))
    }

    /// Queries sent before the pause that fail during it change neither the end of this pause nor
    /// the length of the next.
    @Test mutating func aLateFailureDoesNotRestartThePause() {
        fail(5)
        #expect(!isAsked(after: 600))
        fail(5)
        #expect(!isAsked(after: 399))
        #expect(isAsked(after: 1), "a second after it was left alone")
        fail()
        #expect(!isAsked(after: 1_000))
        fail()
        #expect(!isAsked(after: 999))
        #expect(isAsked(after: 1), "two seconds after the trial failed")
    }

    /// A query sent before the pause and answered during it shows that the pool works again.
    @Test mutating func aLateAnswerEndsThePause() {
        fail(5)
        circuit.answered()
        #expect(isAsked(after: 0) && isAsked(after: 0) && !circuit.isOpen)
    }

    /// An answer resets everything: five more errors open the circuit, with the shortest pause.
    @Test mutating func anAnswerForgetsFaultsAndPauses() {
        fail(5)
        #expect(isAsked(after: 1_000))
        fail()
        #expect(isAsked(after: 2_000))
        circuit.answered()
        fail(4)
        #expect(isAsked(after: 0) && !circuit.isOpen)
        fail()
        #expect(!isAsked(after: 999) && isAsked(after: 1))
    }

    @Test mutating func aTrialThatIsNeverAnsweredIsFollowedByAnother() {
        fail(5)
        #expect(isAsked(after: 1_000))
        #expect(!isAsked(after: 500) && isAsked(after: 500))
    }
}

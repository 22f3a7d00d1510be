import Linux
import Model
import Testing

@testable import Supervision

@Suite struct RestartPolicyTests {
    private static let crash = ChildStatus.signaled(.segmentationFault, dumpedCore: false)
    private static let killed = ChildStatus.signaled(.kill, dumpedCore: false)

    /// Runs processes of `lasting` milliseconds one after the other and returns the delays after
    /// them.
    private func waits(
        lives: Int, lasting: Int = 1, ending status: ChildStatus, welcomed: Bool,
        hadJob: Bool = false, isExternal: Bool = false
    ) -> [Int] {
        var policy = RestartPolicy(isExternal: isExternal)
        var now = Instant(nanoseconds: 1)
        return (0..<lives).map { _ in
            policy.started(at: now)
            if welcomed { policy.welcomed() }
            now = now.adding(milliseconds: lasting)
            let wait = policy.ended(ChildEnd(status: status, hadJob: hadJob), at: now)
            now = now.adding(milliseconds: wait)
            return wait
        }
    }

    @Test func threeEndsWithoutAWelcomeWaitLongerAndLonger() {
        #expect(
            waits(lives: 10, ending: .exited(1), welcomed: false)
                == [0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000])
    }

    @Test func crashesCountAlthoughTheChildWasWelcomed() {
        #expect(
            waits(lives: 5, ending: Self.crash, welcomed: true) == [0, 0, 100, 200, 400])
    }

    /// The content caused the crash, and other content must not be delayed.
    @Test func crashesWithAJobDoNotCountAfterAWelcome() {
        #expect(
            waits(lives: 50, ending: Self.crash, welcomed: true, hadJob: true)
                == Array(repeating: 0, count: 50))
        #expect(
            waits(lives: 4, ending: Self.crash, welcomed: false, hadJob: true)
                == [0, 0, 100, 200])
        #expect(
            waits(lives: 4, ending: Self.crash, welcomed: true, hadJob: true, isExternal: true)
                == [0, 0, 100, 200])
    }

    @Test(arguments: [
        ChildStatus.signaled(.kill, dumpedCore: false),
        .signaled(.terminate, dumpedCore: false), .exited(0), .exited(70),
    ])
    func otherEndsAfterAWelcomeNeverCount(_ status: ChildStatus) {
        #expect(waits(lives: 50, ending: status, welcomed: true) == Array(repeating: 0, count: 50))
    }

    /// The welcome is reported only by the program itself.
    @Test(arguments: [ChildStatus.exited(0), .exited(1), .signaled(.kill, dumpedCore: false)])
    func everyEndOfSomebodyElsesProgramCounts(_ status: ChildStatus) {
        #expect(
            waits(lives: 5, ending: status, welcomed: true, isExternal: true)
                == [0, 0, 100, 200, 400])
    }

    @Test func sigkillBeforeTheWelcomeCounts() {
        #expect(waits(lives: 3, ending: Self.killed, welcomed: false) == [0, 0, 100])
    }

    @Test func endsThatAreFarApartDoNotCountTogether() {
        #expect(
            waits(lives: 6, lasting: 5_001, ending: Self.crash, welcomed: true)
                == Array(repeating: 0, count: 6))
    }

    /// The first of three exits counts if at most ten seconds lie between it and the last.
    @Test func endsWithinExactlyTenSecondsCountTogether() {
        #expect(
            waits(lives: 3, lasting: 5_000, ending: Self.crash, welcomed: true) == [0, 0, 100])
    }

    @Test func theWaitingItselfIsNoTimeWithoutFailure() {
        // Twenty failures take far more than ten seconds, nearly all of it spent waiting.
        #expect(waits(lives: 20, ending: .exited(1), welcomed: false).last == 5000)
    }

    @Test func aWelcomeForgivesEndsWithoutOneButNoCrash() {
        var policy = RestartPolicy()
        var now = Instant(nanoseconds: 1)
        func life(_ policy: inout RestartPolicy, welcomed: Bool, _ status: ChildStatus) -> Int {
            policy.started(at: now)
            if welcomed { policy.welcomed() }
            now = now.adding(milliseconds: 10)
            return policy.ended(ChildEnd(status: status), at: now)
        }
        #expect(life(&policy, welcomed: false, .exited(1)) == 0)
        #expect(life(&policy, welcomed: false, .exited(1)) == 0)
        #expect(life(&policy, welcomed: true, Self.killed) == 0)
        #expect(life(&policy, welcomed: false, .exited(1)) == 0)
        #expect(life(&policy, welcomed: true, Self.crash) == 0)
        #expect(life(&policy, welcomed: true, Self.crash) == 0)
        #expect(life(&policy, welcomed: true, Self.crash) == 100)
    }
}

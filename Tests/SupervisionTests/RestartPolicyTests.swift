import Linux
import Model
import Testing

@testable import Supervision

/// The delays after processes that run one after the other, of `lasting` milliseconds each.
struct RestartCase: Sendable {
    var ending: [ChildStatus]
    var welcomed: Bool
    var lasting = 1
    var hadJob = false
    var isExternal = false
    let delays: [Int]

    var actual: [Int] {
        var policy = RestartPolicy(isExternal: isExternal)
        var now = Instant(nanoseconds: 1)
        return delays.indices.map { life in
            policy.started(at: now)
            if welcomed { policy.welcomed() }
            now = now.adding(milliseconds: lasting)
            let status = ending[life % ending.count]
            let delay = policy.ended(ChildEnd(status: status, hadJob: hadJob), at: now)
            now = now.adding(milliseconds: delay)
            return delay
        }
    }
}

@Suite struct RestartPolicyTests {
    private static let never = Array(repeating: 0, count: 50)
    private static let growing = [0, 0, 100, 200, 400]
    private static let crash = ChildStatus.signaled(.segmentationFault, dumpedCore: false)
    private static let afterAWelcome: [ChildStatus] = [
        killed, .signaled(.terminate, dumpedCore: false), .exited(0), .exited(70),
    ]

    private static let cases: [RestartCase] =
        [
            RestartCase(
                ending: [.exited(1)], welcomed: false,
                delays: growing + [800, 1600, 3200] + Array(repeating: 5000, count: 12)),
            RestartCase(ending: [killed], welcomed: false, delays: [0, 0, 100]),
            RestartCase(ending: [crash], welcomed: true, delays: growing),
            // Content caused the crash, and other content must not be delayed.
            RestartCase(ending: [crash], welcomed: true, hadJob: true, delays: never),
            RestartCase(ending: [crash], welcomed: false, hadJob: true, delays: growing),
            RestartCase(
                ending: [crash], welcomed: true, hadJob: true, isExternal: true, delays: growing),
            // The first of three exits counts if at most ten seconds lie between it and the last.
            RestartCase(ending: [crash], welcomed: true, lasting: 5_000, delays: [0, 0, 100]),
            RestartCase(ending: [crash], welcomed: true, lasting: 5_001, delays: never),
        ]
        + afterAWelcome.flatMap { status in
            [
                RestartCase(ending: [status], welcomed: true, delays: never),
                // The welcome of an external program is reported only by the program itself.
                RestartCase(ending: [status], welcomed: true, isExternal: true, delays: growing),
            ]
        }

    @Test(arguments: cases) func eachEndHasItsDelay(_ row: RestartCase) {
        #expect(row.actual == row.delays)
    }

    @Test func aWelcomeForgivesEndsWithoutOneButNoCrash() {
        var policy = RestartPolicy()
        var now = Instant(nanoseconds: 1)
        let lives: [(welcomed: Bool, status: ChildStatus, delay: Int)] = [
            (false, .exited(1), 0), (false, .exited(1), 0), (true, killed, 0),
            (false, .exited(1), 0), (true, Self.crash, 0), (true, Self.crash, 0),
            (true, Self.crash, 100),
        ]
        for (number, life) in lives.enumerated() {
            policy.started(at: now)
            if life.welcomed { policy.welcomed() }
            now = now.adding(milliseconds: 10)
            #expect(policy.ended(ChildEnd(status: life.status), at: now) == life.delay, "\(number)")
        }
    }
}

import Glibc
import Testing

@testable import Coordinator

/// Random walks that check the invariants of the scheduler on the way. A failure states its seed;
/// `IMAGEBUS_WALK_SEED=N` walks that seed alone and audits every step, `IMAGEBUS_WALK_SEEDS` and
/// `IMAGEBUS_WALK_STEPS` set the number and length of walks, and `IMAGEBUS_LONG=1` increases both.
///
/// The first seeds are fixed, the last ones are new in each run and printed; one of these is
/// audited after every step, the others after every sixteenth.
struct SchedulerRandomWalkTests {
    private static let isLong = setting("IMAGEBUS_LONG") == 1
    /// The number of fixed seeds.
    private static let seeds = setting("IMAGEBUS_WALK_SEEDS") ?? (isLong ? 800 : 80)

    private static func setting(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    @Test(arguments: 0..<8)
    func everyWalkComesToRestWithOneReplyEach(part: Int) {
        let steps = Self.setting("IMAGEBUS_WALK_STEPS") ?? 500
        if let seed = Self.setting("IMAGEBUS_WALK_SEED") {
            if part == 0 { walk(seed: seed, steps: steps, auditEvery: 1) }
            return
        }
        for seed in stride(from: part, to: Self.seeds, by: 8) {
            walk(seed: seed, steps: steps, auditEvery: 16)
        }
        let drawn = Int.random(in: 1_000_000...Int(Int32.max))
        print("a new walk: IMAGEBUS_WALK_SEED=\(drawn)")
        walk(seed: drawn, steps: steps, auditEvery: part == 0 ? 1 : 16)
    }

    @Test(arguments: 0..<4)
    func withAnHonestCacheNoURLIsFetchedTwice(part: Int) {
        for seed in stride(from: part, to: Self.seeds / 2, by: 4) {
            var walk = HonestWalk(seed: UInt64(seed))
            for _ in 0..<300 { walk.step() }
            walk.comeToRest()
            if let fault = walk.stack.faults.first { Issue.record("seed \(seed): \(fault)") }
        }
    }

    /// Found by a random walk: space released by a deadline after jobs had been assigned woke a job
    /// that wasn't assigned until the next event.
    @Test func spaceThatBecomesFreeWhileAnEventEndsIsUsedInIt() {
        walk(seed: 1_839_731_765, steps: 2_700, auditEvery: 1)
    }

    private func walk(seed: Int, steps: Int, auditEvery: Int) {
        var walk = Walk(seed: UInt64(seed))
        for step in 0..<steps {
            walk.step()
            if step % auditEvery == 0 { walk.stack.faults += walk.stack.scheduler.audit() }
            walk.stack.faults += walk.forgottenWithdrawals
            if let fault = walk.stack.faults.first {
                Issue.record("seed \(seed), step \(step): \(fault)")
                return
            }
        }
        walk.comeToRest()
        walk.stack.faults += walk.stack.scheduler.audit()
        if let fault = walk.stack.faults.first {
            Issue.record("seed \(seed), at rest: \(fault)")
        }
    }
}

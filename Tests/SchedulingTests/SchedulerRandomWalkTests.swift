import Glibc
import Testing

@testable import Scheduling

/// Random walks with the invariants of DESIGN §3 checked after each step. A failure names its
/// seed; `IMAGEBUS_WALK_SEED=N` walks that seed alone and audits every step, `IMAGEBUS_WALK_SEEDS`
/// and `IMAGEBUS_WALK_STEPS` make the walks more or longer.
struct SchedulerRandomWalkTests {
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
        let seeds = Self.setting("IMAGEBUS_WALK_SEEDS") ?? 200
        for seed in stride(from: part, to: seeds, by: 8) {
            walk(seed: seed, steps: steps, auditEvery: 16)
        }
    }

    @Test(arguments: 0..<4)
    func withAnHonestCacheNoURLIsFetchedTwice(part: Int) {
        for seed in stride(from: part, to: 100, by: 4) {
            var walk = HonestWalk(seed: UInt64(seed))
            for _ in 0..<300 { walk.step() }
            walk.comeToRest()
            if let fault = walk.stack.faults.first { Issue.record("seed \(seed): \(fault)") }
        }
    }

    private func walk(seed: Int, steps: Int, auditEvery: Int) {
        var walk = Walk(seed: UInt64(seed))
        for step in 0..<steps {
            walk.step()
            if step % auditEvery == 0 { walk.stack.faults += walk.stack.scheduler.audit() }
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

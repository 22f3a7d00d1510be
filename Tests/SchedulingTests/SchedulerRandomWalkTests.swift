import Glibc
import Model
import TestKit
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

    /// Found by a random walk: a large block lost a reader for a reply that didn't hold it.
    @Test func aLargeBlockLosesNoReaderThatItNeverHad() {
        walk(seed: 364, steps: 500, auditEvery: 1)
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

/// A random walk whose cache keeps everything it is given and answers queries with what it had when
/// it received them, however late, and without losses, lies and cancels: then no URL may ever be
/// fetched twice (SEMANTICS §3.5: an original is found from its fetch on, also before its store).
struct HonestWalk {
    var stack: Stack
    var random: SeededGenerator
    /// Keys on disk.
    private var stored: Set<String> = []
    /// The result of each query, as of the moment when the cache received it.
    private var found: [JobID: Bool] = [:]
    let client: ClientID

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let isShort = random.oneIn(2)
        stack = Stack { limits in
            if isShort { (limits.batchStepsMax, limits.batchTransitionsMax) = (1, 1) }
        }
        client = stack.connect()
        for kind in WorkerKind.workers {
            stack.hire(kind, credit: Int.random(in: 1...6, using: &random))
        }
    }

    mutating func step() {
        if random.oneIn(4) { load() } else { finish() }
        look()
    }

    mutating func comeToRest() {
        repeat {
            if stack.allHeld.isEmpty { stack.goOn() } else { finish() }
            look()
        } while !stack.allHeld.isEmpty || stack.scheduler.isUnfinished
        if !stack.isAtRest { stack.fault("something is left") }
        for (url, count) in stack.gets where count > 1 {
            stack.fault("\(url) was fetched \(count) times")
        }
    }

    /// Records the results of queries that the cache has just received.
    private mutating func look() {
        for held in stack.held(.query) where found[held.job.id] == nil {
            guard case .query(let work) = held.job.work else { continue }
            found[held.job.id] = stored.contains(work.key)
        }
    }

    private mutating func load() {
        let name = "p\(Int.random(in: 0...5, using: &random))"
        var request = ImageRequest.image(
            name, size: random.oneIn(3) ? nil : Int.random(in: 1...3, using: &random))
        if random.oneIn(4) { request.output.format = .webp }
        if random.oneIn(9) { request = ImageRequest.image(name).with { $0.infoOnly = true } }
        if random.oneIn(5) { request.options.insert(.waitStoreCache) }
        if random.oneIn(5) { request.options.insert(.highPriority) }
        if random.oneIn(5) { request.options.insert(.fromCacheOnly) }
        if random.oneIn(5) { request.queryCacheTypes = .disk }
        if random.oneIn(3) { request.context.serializer = .transcode(.png, quality: nil) }
        if random.oneIn(5) { request.originalQueryCacheTypes = .all }
        if random.oneIn(4), !request.infoOnly {
            let other = "p\(Int.random(in: 0...5, using: &random))"
            request.steps.append(.overlay(Overlay(url: ImageRequest.image(other).url)))
        }
        stack.load(request, by: client)
    }

    private mutating func finish() {
        guard let held = stack.allHeld.randomElement(using: &random) else { return }
        switch held.job.work {
        case .query(let work):
            let isHit = found.removeValue(forKey: held.job.id) ?? stored.contains(work.key)
            stack.finish(held, isHit ? stack.hit(held) : .miss)
        case .store(let work):
            if let key = work.key, work.tiers.contains(.disk) { stored.insert(key) }
            stack.finish(held)
        default:
            stack.finish(held)
        }
    }
}

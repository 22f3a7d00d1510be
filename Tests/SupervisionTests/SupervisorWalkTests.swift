import Linux
import Model
import Testing

@testable import Supervision

/// Random sequences of events, with invariants that always hold.
@Suite struct SupervisorWalkTests {
    @Test(arguments: 0..<200)
    func anySequenceOfEventsKeepsThePromises(_ seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<300 { walk.step() }
        walk.endAll()
        #expect(walk.broken == [])
        #expect(walk.finished == 1)
    }
}

/// A model of the environment: which processes run, and what was promised about them.
private struct Walk {
    private var script: Script
    private var random: Generator
    private var running: Set<Int> = []
    private var ready = 0
    private var stopped = 0
    private(set) var finished = 0
    private(set) var broken: [String] = []
    private let slots: Int

    init(seed: UInt64) {
        random = Generator(state: seed &+ 1)
        let kinds: [[ProcessKind]] = [
            [.coordinator, .cache, .download, .decode, .transform], [.decode, .decode], [.cache],
        ]
        let chosen = kinds[Int(seed % 3)]
        slots = chosen.count
        script = Script(chosen, startMilliseconds: 1_000)
        happen(.start)
    }

    mutating func step() {
        script.passes(milliseconds: Int.random(in: 0..<400, using: &random))
        let slot = running.randomElement(using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10:
            if let slot {
                happen(.begun(slot: slot, life(Int.random(in: 0..<1000, using: &random))))
            }
        case 10..<40:
            if let slot {
                happen(.welcomed(slot: slot, life(Int.random(in: 0..<1000, using: &random))))
            }
        case 40..<60: if let slot { end(slot) }
        case 60: happen(.stopRequested)
        case 61..<70:
            let counters = Dictionary(uniqueKeysWithValues: running.map { ($0, UInt64(1)) })
            let waited = running.map { ($0, Int.random(in: 0...400, using: &random)) }
            happen(.looked(counters, waited: Dictionary(uniqueKeysWithValues: waited)))
        default: happen(.tick)
        }
    }

    /// Sends two signals and ends every remaining child, which must finish the supervisor.
    mutating func endAll() {
        happen(.stopRequested)
        happen(.stopRequested)
        while let slot = running.min() { end(slot) }
    }

    private mutating func end(_ slot: Int) {
        running.remove(slot)
        let ends = [ChildStatus.exited(0), .exited(1), .exited(78), killed, crash]
        happen(.ended(slot: slot, ends[Int.random(in: 0..<ends.count, using: &random)]))
    }

    private mutating func happen(_ event: SupervisorEvent) {
        if event == .stopRequested { stopped += 1 }
        for action in script.does(event) { check(action) }
        if finished == 1, !running.isEmpty { broken.append("finished while children run") }
        if finished == 0, running.isEmpty, script.state.nextDeadline == nil {
            broken.append("nothing runs and nothing is waited for")
        }
    }

    private mutating func check(_ action: SupervisorAction) {
        if finished > 0 { broken.append("\(action) after the end") }
        switch action {
        case .spawn(let slot, _):
            if !running.insert(slot).inserted { broken.append("slot \(slot) has two children") }
            if stopped > 1 { broken.append("a start after the second signal") }
            if running.count > slots { broken.append("more children than slots") }
        case .signal(let slot, _):
            if !running.contains(slot) { broken.append("a signal for the empty slot \(slot)") }
        case .report(.ready, _):
            ready += 1
            if ready > 1 { broken.append("ready twice") }
        // The supervisor no longer waits for it.
        case .report(.unkilled, let slot?): running.remove(slot)
        case .finish: finished += 1
        case .removeSegments, .report: break
        }
    }
}

/// xorshift64*, so that a seed reproduces a walk.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

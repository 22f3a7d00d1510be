/// A disturbance of a stack, which is undone after a while.
enum Trouble: CaseIterable {
    case killing
    case halting
    case fullDisk
    case fullMemory
    /// Disk writers hang in the kernel.
    case hangingDisk
    /// The OOM killer kills a worker.
    case memoryLimit

    /// The disturbances that this user can cause.
    static let possible = allCases.filter { trouble in
        switch trouble {
        case .hangingDisk: PrivateMount.canFreeze
        case .memoryLimit: MemoryGroup.isPossible
        case .killing, .halting, .fullDisk, .fullMemory: true
        }
    }
}

/// Causes random disturbances of a stack, several at a time.
struct Troublemaker {
    /// The number of times that each was caused.
    private(set) var done: [Trouble: Int] = [:]
    private let stack: StackHarness
    private var random: SeededGenerator
    private var current: [Step] = []
    /// The OOM kills in each cgroup.
    private let kills = Recorder<Int>()
    /// The number of processes killed by the OOM killer.
    var memoryKills: Int { kills.values.reduce(0, +) }
    /// The longest time that the disk hangs, in milliseconds.
    private let hangsAtMost: Int

    /// A disturbance and when to undo it.
    private struct Step {
        let trouble: Trouble
        let end: ContinuousClock.Instant
        let undo: () throws -> Void
    }

    private static let interval = Duration.milliseconds(200)
    /// Less than any decode needs.
    private static let limitedBytes: UInt64 = 1 << 20

    init(_ stack: StackHarness, _ random: SeededGenerator, hangsAtMost: Int) {
        (self.stack, self.random, self.hangsAtMost) = (stack, random, hangsAtMost)
    }

    /// Runs for `seconds`, then undoes the remaining disturbances. By then each has been caused at
    /// least once.
    mutating func run(seconds: Int) async throws {
        let start = ContinuousClock.now
        var first = Trouble.possible
        while ContinuousClock.now < start.advanced(by: .seconds(seconds)) || !first.isEmpty {
            // Random moments are intended here, so there is no event to wait for.
            try await Task.sleep(for: Self.interval)
            try undo(until: .now)
            let trouble = first.last ?? Trouble.possible.randomElement(using: &random)
            guard let trouble, mayBegin(trouble) else { continue }
            _ = first.popLast()
            done[trouble, default: 0] += 1
            try make(trouble)
        }
        try undo(until: nil)
    }

    private var isDiskFrozen: Bool { current.contains { $0.trouble == .hangingDisk } }

    /// Each is active at most once. Filling a frozen disk would hang as well.
    private func mayBegin(_ trouble: Trouble) -> Bool {
        if trouble == .fullDisk, isDiskFrozen { return false }
        return !current.contains { $0.trouble == trouble }
    }

    /// The file that fills a disk is removed after the disk is thawed.
    private mutating func undo(until now: ContinuousClock.Instant?) throws {
        let isDue = { (step: Step) in now.map { step.end <= $0 } ?? true }
        for step in current where step.trouble == .hangingDisk && isDue(step) { try step.undo() }
        current.removeAll { $0.trouble == .hangingDisk && isDue($0) }
        let waits = isDiskFrozen
        let isOver = { (step: Step) in isDue(step) && !(waits && step.trouble == .fullDisk) }
        for step in current where isOver(step) { try step.undo() }
        current.removeAll(where: isOver)
    }

    private mutating func later(
        _ trouble: Trouble, atMost milliseconds: Int = 900, _ undo: @escaping () throws -> Void
    ) {
        let span = Duration.milliseconds(Int.random(in: 100...milliseconds, using: &random))
        current.append(Step(trouble: trouble, end: .now + span, undo: undo))
    }

    private mutating func make(_ trouble: Trouble) throws {
        switch trouble {
        case .killing: try victim()?.kill()
        case .halting:
            guard let victim = victim() else { return }
            try victim.halt()
            later(trouble) { try victim.resume() }
        case .fullDisk:
            let filler = try SpaceFiller(in: stack.cacheDirectory)
            later(trouble) { try filler.remove() }
        case .fullMemory:
            let filler = try SpaceFiller(in: stack.runtimeDirectory)
            later(trouble) { try filler.remove() }
        case .hangingDisk:
            let disk = try FrozenDisk(stack.cacheDirectory)
            later(trouble, atMost: hangsAtMost) { disk.thaw() }
        case .memoryLimit:
            guard let victim = victim(named: "imagebus-decode") else { return }
            let group = try MemoryGroup(bytes: Self.limitedBytes)
            try group.add(victim)
            later(trouble) { [kills] in
                kills.append(group.kills)
                group.release()
            }
        }
    }

    /// The coordinator with a probability of one in ten, since its loss affects everything.
    private mutating func victim() -> ObservedProcess? {
        let isCoordinator = random.happens(10)
        return stack.children
            .filter { $0.name.hasPrefix("imagebus-coordi") == isCoordinator }
            .randomElement(using: &random)
    }

    private mutating func victim(named name: String) -> ObservedProcess? {
        stack.children.filter { $0.name == name }.randomElement(using: &random)
    }
}

/// Kills processes of a stack: all but the coordinator at short intervals, the coordinator at long
/// ones.
struct Killer {
    /// The number of kills, by process name.
    private(set) var killed: [String: Int] = [:]
    private let stack: StackHarness
    private var random: SeededGenerator

    static let interval = Duration.milliseconds(100)
    /// The number of intervals between kills of the coordinator: five seconds.
    static let coordinatorEvery = 50

    init(_ stack: StackHarness, _ random: SeededGenerator) {
        (self.stack, self.random) = (stack, random)
    }

    /// Kills for at least `seconds`. The last one is the coordinator, so that every run kills it.
    mutating func run(seconds: Int) async throws {
        let rounds = seconds * 10
        for round in 1...rounds {
            // The interval begins again after each kill. Otherwise a killer that a busy machine
            // delays would kill many processes at once.
            try await Task.sleep(for: Self.interval)
            let isCoordinator = round % Self.coordinatorEvery == 0 || round == rounds
            try kill { $0.name.hasPrefix("imagebus-coordi") == isCoordinator }
        }
    }

    private mutating func kill(_ isMeant: (ObservedProcess) -> Bool) throws {
        guard let victim = stack.children.filter(isMeant).randomElement(using: &random) else {
            return
        }
        killed[victim.name, default: 0] += 1
        do {
            try victim.kill()
        } catch let error as Errno where error == .noSuchProcess {
            // The process has ended by itself since it was looked up.
        }
    }
}

import Synchronization

/// How many lines of a log found no room, until it is told. All copies of the log share one.
final class LostLines: Sendable {
    private let count = Atomic<UInt64>(0)

    /// One more.
    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    /// How many there were since the last call.
    func take() -> UInt64 {
        // Hardly ever is there one: then nothing is written to shared memory.
        count.load(ordering: .relaxed) == 0 ? 0 : count.exchange(0, ordering: .relaxed)
    }
}

import Glibc

/// Pauses between polls of a state that has no event: 1 ms at first, doubled each time up to 50 ms.
public struct PollingPause: Sendable {
    private var next = Duration.milliseconds(1)

    /// Starts with the shortest pause.
    public init() {}

    /// Blocks this thread for the next pause.
    public mutating func wait() { usleep(UInt32(nextPause().milliseconds * 1_000)) }

    /// The same for async tests. Throws if the task is canceled.
    public mutating func wait() async throws { try await Task.sleep(for: nextPause()) }

    private mutating func nextPause() -> Duration {
        defer { next = min(next * 2, .milliseconds(50)) }
        return next
    }
}

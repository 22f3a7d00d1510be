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

/// Polls until the condition holds. Throws a `StackFailure` with `what` and the end of the log at
/// `log` after `timeout`.
public func pollUntil(
    _ what: String, timeout: Duration = defaultTimeout, log: String = "",
    _ condition: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now.advanced(by: timeout)
    var pause = PollingPause()
    while try !condition() {
        try expectTime(before: deadline, what, timeout, log)
        pause.wait()
    }
}

/// The same for async tests.
public func pollUntil(
    _ what: String, timeout: Duration = defaultTimeout, log: String = "",
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: timeout)
    var pause = PollingPause()
    while try await !condition() {
        try expectTime(before: deadline, what, timeout, log)
        try await pause.wait()
    }
}

private func expectTime(
    before deadline: ContinuousClock.Instant, _ what: String, _ timeout: Duration, _ log: String
) throws {
    guard ContinuousClock.now < deadline else {
        throw StackFailure("waited \(timeout) for \(what)", log: log)
    }
}

/// An event that is expected a number of times.
public final class Expectation: Sendable {
    private let fulfilments = Monitor(0)
    private let expectedCount: Int

    /// An expectation that is met after `count` calls of `fulfil`.
    public init(count: Int = 1) {
        expectedCount = count
    }

    /// Records one more occurrence. Any thread.
    public func fulfil() {
        fulfilments.withLock { $0 += 1 }
    }

    /// The number of occurrences so far.
    public var count: Int { fulfilments.current }

    /// Blocks until the expectation is met. Returns false on timeout.
    public func wait(timeout: Duration = defaultTimeout) -> Bool {
        fulfilments.wait(timeout: timeout) { $0 >= self.expectedCount }
    }

    /// The same for async tests.
    public func wait(timeout: Duration = defaultTimeout) async -> Bool {
        await fulfilments.wait(timeout: timeout) { [expectedCount] in $0 >= expectedCount }
    }
}

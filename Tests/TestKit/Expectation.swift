/// Something that should happen a number of times.
public final class Expectation: Sendable {
    private let fulfilments = Monitor(0)
    private let expectedCount: Int

    /// An expectation that is met once `fulfil` was called `count` times.
    public init(count: Int = 1) {
        expectedCount = count
    }

    /// It happened once more. Any thread.
    public func fulfil() {
        fulfilments.withLock { $0 += 1 }
    }

    /// How often it happened so far.
    public var count: Int { fulfilments.current }

    /// Blocks until it is met; false where `timeout` passes first.
    public func wait(timeout: Duration = defaultTimeout) -> Bool {
        fulfilments.wait(timeout: timeout) { $0 >= self.expectedCount }
    }

    /// The same for async tests.
    public func wait(timeout: Duration = defaultTimeout) async -> Bool {
        await fulfilments.wait(timeout: timeout) { [expectedCount] in $0 >= expectedCount }
    }
}

/// Values that callbacks deliver on other threads, in order of arrival.
public final class Recorder<Value: Sendable>: Sendable {
    private let recorded = Monitor<[Value]>([])

    /// Creates an empty recorder.
    public init() {}

    /// Appends one value. Any thread.
    public func append(_ value: Value) {
        recorded.withLock { $0.append(value) }
    }

    /// All values recorded so far.
    public var values: [Value] { recorded.current }

    /// Blocks until there are `count` values and returns all of them; nil on timeout.
    public func wait(count: Int = 1, timeout: Duration = defaultTimeout) -> [Value]? {
        recorded.wait(timeout: timeout) { $0.count >= count } ? values : nil
    }

    /// The same for async tests.
    public func wait(count: Int = 1, timeout: Duration = defaultTimeout) async -> [Value]? {
        await recorded.wait(timeout: timeout) { $0.count >= count } ? values : nil
    }
}

extension Recorder {
    /// Blocks until a value that meets `condition` has been recorded. Returns false on timeout.
    public func wait(
        timeout: Duration = defaultTimeout, until condition: @Sendable (Value) -> Bool
    ) -> Bool {
        recorded.wait(timeout: timeout) { $0.contains(where: condition) }
    }

    /// The same for async tests.
    public func wait(
        timeout: Duration = defaultTimeout, until condition: @escaping @Sendable (Value) -> Bool
    ) async -> Bool {
        await recorded.wait(timeout: timeout) { $0.contains(where: condition) }
    }
}

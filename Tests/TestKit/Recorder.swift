/// Values that callbacks deliver on other threads, in their order of arrival.
public final class Recorder<Value: Sendable>: Sendable {
    private let recorded = Monitor<[Value]>([])

    /// An empty recorder.
    public init() {}

    /// Appends one value. Any thread.
    public func append(_ value: Value) {
        recorded.withLock { $0.append(value) }
    }

    /// All values so far.
    public var values: [Value] { recorded.current }

    /// Blocks until there are `count` values, and returns all; nil where `timeout` passes first.
    public func wait(count: Int = 1, timeout: Duration = defaultTimeout) -> [Value]? {
        recorded.wait(timeout: timeout) { $0.count >= count } ? values : nil
    }

    /// The same for async tests.
    public func wait(count: Int = 1, timeout: Duration = defaultTimeout) async -> [Value]? {
        await recorded.wait(timeout: timeout) { $0.count >= count } ? values : nil
    }
}

extension Recorder {
    /// Blocks until a value with this property was recorded; false where `timeout` passes first.
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

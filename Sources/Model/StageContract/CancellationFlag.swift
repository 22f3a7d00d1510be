import Synchronization

/// A flag that is set once by the bus thread and checked by the work thread at cancellation points.
public final class CancellationFlag: Sendable {
    private let state = Atomic<Bool>(false)

    /// Creates a flag that is not set.
    public init() {}

    /// Requests cancellation. Idempotent; may be called from any thread.
    public func cancel() { state.store(true, ordering: .releasing) }

    /// Whether the work should stop; may be read from any thread.
    public var isCancelled: Bool { state.load(ordering: .acquiring) }
}

import Synchronization

/// Set once by the bus thread, read by the work thread wherever it can stop.
public final class CancellationFlag: Sendable {
    private let state = Atomic<Bool>(false)

    /// Not cancelled.
    public init() {}

    /// Asks the work to stop. Idempotent; any thread.
    public func cancel() { state.store(true, ordering: .releasing) }

    /// Whether the work should stop. Any thread.
    public var isCancelled: Bool { state.load(ordering: .acquiring) }
}

import Linux

/// A thread of a test or the origin server, outside the cooperative pool.
public final class BackgroundThread: Sendable {
    private let ended: Monitor<Bool>

    /// Starts a detached thread that runs `body` once. The stack is 1 MiB.
    public init(_ body: @escaping @Sendable () -> Void) {
        let ended = Monitor(false)
        self.ended = ended
        do throws(Errno) {
            _ = try Thread(name: "test", stackBytes: 1 << 20) {
                body()
                ended.withLock { $0 = true }
            }
        } catch {
            preconditionFailure("a test needs one more thread than the system gives: \(error)")
        }
    }

    /// Blocks until the body has returned. Returns false on timeout.
    public func join(timeout: Duration = defaultTimeout) -> Bool {
        ended.wait(timeout: timeout) { $0 }
    }

    /// The same for async tests.
    public func join(timeout: Duration = defaultTimeout) async -> Bool {
        await ended.wait(timeout: timeout) { $0 }
    }

    /// Runs blocking work on a thread of its own and returns its result.
    public static func value<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            _ = BackgroundThread { continuation.resume(returning: work()) }
        }
    }
}

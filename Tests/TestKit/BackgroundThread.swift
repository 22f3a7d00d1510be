import Glibc

/// A thread of a test or the origin server, outside the cooperative pool.
public final class BackgroundThread: Sendable {
    private let ended: Monitor<Bool>

    /// Starts a detached thread that runs `body` once. The stack is 1 MiB.
    public init(_ body: @escaping @Sendable () -> Void) {
        let ended = Monitor(false)
        self.ended = ended
        let work = Work {
            body()
            ended.withLock { $0 = true }
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(work)
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, retained.toOpaque())
        pthread_attr_destroy(&attributes)
        precondition(code == 0, "a test needs one more thread than the system gives: \(code)")
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

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

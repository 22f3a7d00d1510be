import Glibc

/// A value behind a lock whose changes can be awaited.
///
/// Every `withLock` wakes all waiters, which then check their conditions again. A wait ends only
/// when its condition holds or its timeout expires.
///
/// Sendable: `storage` is accessed only between `pthread_mutex_lock` and `_unlock`.
public final class Monitor<State: Sendable>: @unchecked Sendable {
    private let storage: UnsafeMutablePointer<State>
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Creates a monitor with the value `initial`.
    public init(_ initial: State) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: initial)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        storage.deinitialize(count: 1)
        storage.deallocate()
        mutex.deallocate()
        changed.deallocate()
    }

    /// Runs `body` with exclusive access to the value, then wakes all waiters.
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return try body(&storage.pointee)
    }

    /// The current value.
    public var current: State {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return storage.pointee
    }

    /// Blocks until `condition` holds. Returns false on timeout.
    public func wait(
        timeout: Duration = defaultTimeout, until condition: (State) -> Bool
    ) -> Bool {
        var deadline = timespec.monotonic(after: timeout)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !condition(storage.pointee) {
            if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT {
                return condition(storage.pointee)
            }
        }
        return true
    }

    /// The same for async tests. It waits on a thread of its own, so that it doesn't block a thread
    /// of the cooperative pool.
    public func wait(
        timeout: Duration = defaultTimeout, until condition: @escaping @Sendable (State) -> Bool
    ) async -> Bool {
        await BackgroundThread.value { self.wait(timeout: timeout, until: condition) }
    }
}

/// How long a test waits for an expected event. Generous, since only failing tests use all of it.
public let defaultTimeout = Duration.seconds(20)

extension timespec {
    static func monotonic(after delay: Duration) -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let (seconds, attoseconds) = delay.components
        let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }
}

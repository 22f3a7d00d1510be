import Glibc

/// A value behind a lock, whose changes can be waited for.
///
/// Every `withLock` wakes all who wait; they look again. Waits end by the condition or by the
/// timeout, never by a guess.
///
/// Sendable: `storage` is touched only between `pthread_mutex_lock` and `_unlock`.
public final class Monitor<State: Sendable>: @unchecked Sendable {
    private let storage: UnsafeMutablePointer<State>
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A monitor that holds `initial`.
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

    /// Runs `body` with exclusive access to the value, then wakes all who wait.
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

    /// The value at this moment.
    public var current: State {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return storage.pointee
    }

    /// Blocks until `condition` holds; false where `timeout` passes first.
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

    /// The same for async tests: the wait happens on a thread of its own, so that no thread of
    /// the cooperative pool is blocked.
    public func wait(
        timeout: Duration = defaultTimeout, until condition: @escaping @Sendable (State) -> Bool
    ) async -> Bool {
        await BackgroundThread.value { self.wait(timeout: timeout, until: condition) }
    }
}

/// How long a test waits for an event that should come: generous, since it is only ever used up
/// by a failing test.
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

import Glibc
public import Linux
import Messages

/// `poll(2)` over a handful of descriptors until one is readable or has ended.
public enum ReadinessPoll {
    /// The numbers that are ready; none when `milliseconds` passed (nil: no limit), or a signal
    /// came.
    public static func wait(_ numbers: [Int32], milliseconds: Int?) throws(Errno) -> Set<Int32> {
        var items = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let limit = milliseconds.map { Int32(clamping: $0) } ?? -1
        let count = poll(&items, nfds_t(items.count), limit)
        if count < 0 {
            let number = errno
            guard number == EINTR else { throw Errno(rawValue: number) }
            return []
        }
        return Set(items.filter { $0.revents != 0 }.map(\.fd))
    }
}

extension Instant {
    /// The monotonic clock.
    static func now() -> Instant { Instant(nanoseconds: MonotonicClock.now()) }
}

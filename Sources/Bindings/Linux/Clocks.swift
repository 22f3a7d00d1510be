import Glibc

/// The clock for deadlines and durations: never set back, the same in all processes of the machine.
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary point in the past (CLOCK_MONOTONIC).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The clock for people and for expiry times of HTTP; may jump.
public enum WallClock {
    /// Seconds since 1970-01-01 00:00 UTC.
    public static func seconds() -> Int64 {
        nanoseconds() / 1_000_000_000
    }

    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// What this process used of the processors.
public enum ProcessorClock {
    /// Nanoseconds of all its threads so far, in user mode and in the kernel
    /// (CLOCK_PROCESS_CPUTIME_ID).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

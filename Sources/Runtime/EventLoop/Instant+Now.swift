import Linux
public import Messages

extension Instant {
    /// Reads the monotonic clock: the only place above the bindings that does.
    public static func now() -> Instant {
        Instant(nanoseconds: MonotonicClock.now())
    }
}

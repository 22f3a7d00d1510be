/// By when connections have to get on, whatever trickles in or out meanwhile: the library's own
/// limit begins anew with every byte.
struct ConnectionDeadlines {
    /// What is awaited.
    enum Awaited { case request, answer }

    private var entries: [OpaquePointer: (awaited: Awaited, instant: ContinuousClock.Instant)] = [:]
    /// No deadline lies before it; it may lie before all of them.
    private var earliest: ContinuousClock.Instant?

    /// In place of what was set before.
    mutating func set(
        _ connection: OpaquePointer, _ awaited: Awaited, after duration: Duration
    ) {
        let instant = ContinuousClock.now.advanced(by: duration)
        entries[connection] = (awaited, instant)
        earliest = min(earliest ?? instant, instant)
    }

    /// It may take as long as it likes, or is gone.
    mutating func clear(_ connection: OpaquePointer) { entries[connection] = nil }

    /// Where a request is awaited, no more of it comes than has come.
    mutating func shorten(_ connection: OpaquePointer, toMilliseconds milliseconds: Int) {
        guard entries[connection]?.awaited == .request else { return }
        set(connection, .request, after: .milliseconds(milliseconds))
    }

    /// Connections whose time is over; they have no deadline afterwards. Looks at all of them no
    /// more often than one may be due.
    mutating func takeOverdue() -> [OpaquePointer] {
        guard let earliest else { return [] }
        let now = ContinuousClock.now
        guard earliest <= now else { return [] }
        let overdue = entries.filter { $0.value.instant <= now }.map(\.key)
        for connection in overdue { entries[connection] = nil }
        self.earliest = entries.values.map(\.instant).min()
        return overdue
    }

    /// After how long there may be one; `nil`: never.
    var millisecondsUntilNext: Int? {
        guard let earliest else { return nil }
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: earliest).components
        return max(0, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    }
}

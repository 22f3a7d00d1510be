import Messages

/// What happened to requests since the start.
struct RequestFigures: Sendable {
    var counters = SchedulerCounters()
    /// How long requests took.
    var times = LatencyHistogram()
}

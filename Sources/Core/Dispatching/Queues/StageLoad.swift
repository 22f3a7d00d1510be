import Messages

/// What waits in one stage and how fast it becomes less, both in the stage's unit of cost.
struct StageLoad: Sendable {
    /// Jobs that wait for a worker or for space, and what they cost together.
    private(set) var jobs = 0
    private(set) var backlog: UInt64 = 0
    /// Cost of finished jobs per second, an exponential average over the time in which jobs
    /// waited; `nil` before there is one.
    private(set) var drainRate: Double?
    private var finished: UInt64 = 0
    private var since: Instant?

    /// The average follows a change within that many seconds.
    private static let memory = 5.0
    /// Seconds between two looks.
    private static let interval = 0.25

    mutating func enter(_ job: ActiveJob) {
        jobs += 1
        backlog += job.spec.cost
    }

    mutating func leave(_ job: ActiveJob) {
        jobs -= 1
        backlog -= job.spec.cost
    }

    /// A worker finished a job, well or not. While nothing waits, the rate is that of those who
    /// ask, and says nothing.
    mutating func finished(_ cost: UInt64, at now: Instant) {
        guard jobs > 0, let since else {
            (finished, since) = (0, jobs > 0 ? now : nil)
            return
        }
        finished += cost
        let seconds = now.fractionalMilliseconds(since: since) / 1_000
        guard seconds >= Self.interval else { return }
        let rate = Double(finished) / seconds
        let weight = seconds / (seconds + Self.memory)
        drainRate = drainRate.map { $0 + (rate - $0) * weight } ?? rate
        (finished, self.since) = (0, now)
    }

    /// Seconds until no more than `bound` waits; `nil` where the drain rate is not known.
    func seconds(untilBelow bound: UInt64) -> Double? {
        guard let drainRate, drainRate > 0 else { return nil }
        return backlog > bound ? Double(backlog - bound) / drainRate : 0
    }
}

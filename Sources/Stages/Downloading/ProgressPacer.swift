import Messages

/// Reports the progress of one job, not too often.
struct ProgressPacer {
    private let job: Job
    private let interval: UInt64
    private let report: @Sendable (JobProgress) -> Void
    private var expected: UInt64 = 0
    private var received: UInt64 = 0
    private var reported: UInt64?
    private var reportedAt: UInt64 = 0

    init(
        _ job: Job, intervalMilliseconds: Int, report: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        self.report = report
        interval = UInt64(max(0, intervalMilliseconds)) * 1_000_000
    }

    /// The head is here: the first report (SEMANTICS §10.5).
    mutating func begin(expected: Int?) {
        self.expected = UInt64(expected ?? 0)
        send()
    }

    /// Bytes came.
    mutating func advance(to received: Int, at now: UInt64) {
        self.received = UInt64(received)
        if now >= reportedAt + interval { flush(at: now) }
    }

    /// Reports now, whatever was reported before.
    mutating func flush(at now: UInt64) {
        reportedAt = now
        send()
    }

    /// All bytes are here: the last report always goes out.
    mutating func end() {
        if reported != received { send() }
    }

    private mutating func send() {
        reported = received
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: received, expected: expected))
    }
}

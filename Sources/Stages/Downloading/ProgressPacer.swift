import ImageModel
import Messages

/// Reports the progress of one job where somebody listens, and not too often.
struct ProgressPacer {
    private let job: Job
    private let interval: UInt64
    private let report: @Sendable (JobProgress) -> Void
    private var expected: UInt64 = 0
    private var received: UInt64 = 0
    private var reported: UInt64?
    private var reportedAt: UInt64 = 0
    private var isWanted: Bool
    /// Whether the head is here: before it there is nothing to report.
    private var hasBegun = false

    init(
        _ job: Job, intervalMilliseconds: Int, report: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        self.report = report
        isWanted = job.wantsProgress
        interval = UInt64(max(0, intervalMilliseconds)) * 1_000_000
    }

    /// The head is here: the first report (SEMANTICS §10.5).
    mutating func begin(expected: Int?) {
        self.expected = UInt64(expected ?? 0)
        hasBegun = true
        send()
    }

    /// Bytes came.
    mutating func advance(to received: Int, at now: UInt64) {
        self.received = UInt64(received)
        guard isWanted, now >= reportedAt + interval else { return }
        reportedAt = now
        send()
    }

    /// Bytes are handed out. Who made them ready says how often.
    mutating func handOut(
        _ arrived: BlockReference, _ format: ImageFormat?, of received: Int, at now: UInt64
    ) {
        (self.received, reported, reportedAt) = (UInt64(received), UInt64(received), now)
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: self.received, expected: expected,
                arrived: arrived, format: format))
    }

    /// Somebody listens from now on, and hears at once how far it is.
    mutating func want(at now: UInt64) {
        guard !isWanted else { return }
        isWanted = true
        reportedAt = now
        if hasBegun { send() }
    }

    /// All bytes are here: the last report always goes out.
    mutating func end() {
        if reported != received { send() }
    }

    private mutating func send() {
        guard isWanted else { return }
        reported = received
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: received, expected: expected))
    }
}

import Imagebus

/// What `prefetch --json` prints.
struct PrefetchAnswer: Encodable, Sendable {
    /// For `imagebus cancel`, while it runs.
    let token: String
    let total: Int
    let finished: Int
    let skipped: Int
    let cancelled: Int

    init(_ counts: PrefetchCounts, token: String) {
        self.token = token
        total = counts.total
        finished = counts.finished
        skipped = counts.skipped
        cancelled = counts.cancelled
    }
}

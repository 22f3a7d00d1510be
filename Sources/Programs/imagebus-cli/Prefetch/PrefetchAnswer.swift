import Imagebus

/// What `prefetch --json` prints.
struct PrefetchAnswer: Encodable, Sendable {
    /// For `imagebus cancel`, while it runs.
    let token: String
    let total: Int
    let finished: Int
    let skipped: Int
    let cancelled: Int
    /// The first of those that were skipped.
    let failures: [Failure]

    /// A URL that could not be loaded, and why.
    struct Failure: Encodable {
        let url: String
        let error: GetAnswer.Failure
    }

    init(_ counts: PrefetchCounts, _ failures: [PrefetchFailure], token: String) {
        self.token = token
        total = counts.total
        finished = counts.finished
        skipped = counts.skipped
        cancelled = counts.cancelled
        self.failures = failures.map { Failure(url: $0.url, error: .init($0.error)) }
    }
}

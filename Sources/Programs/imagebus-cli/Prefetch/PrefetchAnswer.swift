import Imagebus

/// What `prefetch --json` prints.
struct PrefetchAnswer: Encodable, Sendable {
    /// For `imagebus cancel`, while it runs.
    let token: String
    let total: Int
    let finished: Int
    /// Of these: loaded anew, in a cache before, in no cache where nothing else was asked.
    let loaded: Int
    let cached: UInt64
    let missed: UInt64
    /// Of these: failed, and how many with which error.
    let failed: Int
    let errors: [String: UInt64]
    let cancelled: Int
    /// The first of those that failed.
    let failures: [Failure]

    /// A URL that could not be loaded, and why.
    struct Failure: Encodable {
        let url: String
        /// Absent where it is of the command line.
        let place: String?
        let error: GetAnswer.Failure
    }

    init(_ summary: PrefetchSummary, _ faults: [PrefetchFault], token: String) {
        self.token = token
        let (counts, ends) = (summary.counts, summary.ends)
        total = counts.total
        finished = counts.finished
        loaded = summary.loaded
        cached = ends.cached
        missed = ends.missed
        failed = counts.skipped
        errors = Dictionary(
            ends.errors.map { ($0.code.rule.name, $0.count) }, uniquingKeysWith: { $0 &+ $1 })
        cancelled = counts.cancelled
        failures = faults.prefix(PrefetchTool.linesMax).map {
            Failure(url: $0.url, place: $0.place, error: .init($0.error))
        }
    }
}

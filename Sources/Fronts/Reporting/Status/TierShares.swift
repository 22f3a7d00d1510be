import Messages

/// What the cache had of the requests that asked it.
struct TierShares {
    let rows: [(tier: String, requests: UInt64)]

    /// Since the start, or since an earlier look.
    init(_ report: StatusReport, since earlier: StatusReport? = nil) {
        rows = [
            ("memory", "memoryHits"), ("disk", "diskHits"), ("original", "originalUses"),
            ("miss", "misses"),
        ].map { tier, counter in
            (tier, report.growth(of: counter, since: earlier))
        }
    }

    /// Of all of them; 0 where there are none.
    func share(_ requests: UInt64) -> Double {
        let all = rows.reduce(0) { $0 + $1.requests }
        return all == 0 ? 0 : Double(requests) / Double(all)
    }
}

package import Messages

extension Deriver {
    /// What became of what caches of others were asked, by pool.
    package var foreignCacheCounters: [StatusReport.Counter] {
        errands.figures.sorted { $0.key < $1.key }.flatMap { pool, figures in
            [
                ("Hits", figures.hits), ("Misses", figures.misses), ("Writes", figures.writes),
                ("Errors", figures.errors), ("Slow", figures.slow), ("Skipped", figures.skipped),
                ("Refused", figures.refused), ("Promoted", figures.promoted),
                ("LeftAlone", errands.circuits[pool]?.isOpen == true ? 1 : 0),
            ].map { StatusReport.Counter(name: "foreignCache\($0.0).\(pool)", value: $0.1) }
        }
    }
}

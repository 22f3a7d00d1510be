import Messages

/// The pools of workers in the text of Prometheus.
enum PoolMetrics {
    static func families(_ pools: [StatusReport.PoolStatus]) -> [MetricFamily] {
        [
            family("workers", "Workers that are connected, by pool.", pools) { UInt64($0.workers) },
            family("jobs", "Jobs that the workers of a pool hold.", pools) { UInt64($0.jobs) },
            family("credit", "Jobs that the workers of a pool take at a time.", pools) {
                UInt64($0.credit)
            },
            family("queued_jobs", "Jobs that wait for a pool.", pools) { $0.queued },
            family("output_bytes", "Bytes of a pool's output that are in use.", pools) {
                $0.outputBytes
            },
        ]
    }

    private static func family(
        _ name: String, _ help: String, _ pools: [StatusReport.PoolStatus],
        _ value: (StatusReport.PoolStatus) -> UInt64
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_pool_\(name)", .gauge, help)
        for pool in pools {
            family.add(value(pool), [("pool", pool.name.text), ("kind", pool.kind.name)])
        }
        return family
    }
}

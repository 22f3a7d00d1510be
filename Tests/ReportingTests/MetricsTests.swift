import Model
import TestKit
import Testing

@testable import Reporting

/// The text exposition format of Prometheus, version 0.0.4.
@Suite struct MetricsTests {
    private func histogram(_ microseconds: UInt64...) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in microseconds { histogram.record(microseconds: value) }
        return histogram
    }

    private var report: StatusReport {
        var report = StatusReport()
        report.uptimeMilliseconds = 61_500
        report.processes = [
            .init(kind: .coordinator, pid: 1, state: "ready", restarts: 0, jobs: 0),
            .init(kind: .decode, pid: 7, state: "busy", restarts: 2, jobs: 1, credit: 1),
            .init(kind: .decode, pid: 8, state: "ready", restarts: 1, jobs: 0, credit: 1),
        ]
        report.sockets = [
            .init(
                name: "front", messagesReceived: 1, messagesSent: 2, bytesReceived: 3,
                bytesSent: 4, largestMessage: 5)
        ]
        report.counters = [
            .init(name: "requests", value: 12), .init(name: "memoryHits", value: 9),
            .init(name: "misses", value: 3), .init(name: "failed", value: 5),
            .init(name: "failed.busy", value: 4), .init(name: "failed.timedOut", value: 1),
            .init(name: "queued.decode", value: 4), .init(name: "coalesced.source", value: 7),
            .init(name: "refusedBusy", value: 4), .init(name: "fetches", value: 3),
            .init(name: "liveBytes.download", value: 1 << 20), .init(name: "dreams", value: 8),
            .init(name: "transfers.1.1", value: 5), .init(name: "reusedConnections", value: 2),
            .init(name: "transferredBytes", value: 6), .init(name: "continuations", value: 1),
        ]
        report.stages = [
            .init(
                stage: "decode", queued: 4, queuedCost: 1_000, running: 2,
                waits: histogram(100, 200, 5_000_000), works: histogram(90_000_000))
        ]
        report.requests = histogram(1_024)
        report.caches = [.sample]
        report.cancellations = [
            .init(stage: "decode", hard: 1, durations: histogram(2_000))
        ]
        report.transfers = [.init(phase: "tls", durations: histogram(3_000))]
        return report
    }

    @Test func everyFigureHasItsLine() {
        let lines = Set(MetricsText.text(report).split(separator: "\n").map(String.init))
        for line in [
            "# TYPE imagebus_uptime_seconds gauge", "imagebus_uptime_seconds 61.5",
            "imagebus_processes{kind=\"decode\",state=\"busy\"} 1",
            "imagebus_processes{kind=\"cache\",state=\"ready\"} 0",
            "imagebus_process_restarts{kind=\"decode\"} 3",
            "imagebus_cache_entries{tier=\"disk\"} 3", "imagebus_cache_disk_up 0",
            "imagebus_cache_bytes{tier=\"memory\"} 900", "imagebus_cache_disk_limit_bytes 0",
            "imagebus_cache_disk_overhead_bytes 70000", "imagebus_cache_entries_lost_total 4",
            "imagebus_cache_indexes_set_aside_total 1", "imagebus_cache_stores_skipped_total 2",
            "imagebus_cache_memory_limit_bytes 4096", "imagebus_cache_memory_shrinks_total 13",
            "imagebus_cache_memory_evictions_total 12", "imagebus_cache_disk_failures_total 20",
            "imagebus_cache_disk_degraded_since_seconds 1709294399",
            "imagebus_cache_disk_written_bytes_total 6144", "imagebus_cache_disk_trims_total 17",
            "imagebus_cache_disk_trimmed_entries_total 18",
            "imagebus_cache_disk_expired_entries_total 19",
            "imagebus_named_cache_entries{cache=\"hot\",tier=\"memory\"} 21",
            "imagebus_named_cache_bytes{cache=\"hot\",tier=\"disk\"} 24",
            "imagebus_named_cache_limit_entries{cache=\"hot\",tier=\"memory\"} 25",
            "imagebus_named_cache_limit_bytes{cache=\"hot\",tier=\"disk\"} 1048576",
            "imagebus_named_cache_hits_total{cache=\"hot\",tier=\"memory\"} 26",
            "imagebus_named_cache_hits_total{cache=\"hot\",tier=\"disk\"} 27",
            "imagebus_named_cache_misses_total{cache=\"hot\"} 28",
            "imagebus_named_cache_memory_evictions_total{cache=\"hot\"} 29",
            "imagebus_cache_read_only_up{cache=\"default\",path=\"/srv/a\"} 1",
            "imagebus_cache_read_only_up{cache=\"hot\",path=\"/srv/b\"} 0",
            "imagebus_cache_read_only_hits_total{cache=\"default\",path=\"/srv/a\"} 30",
            "imagebus_cache_read_only_damaged_total{cache=\"default\",path=\"/srv/a\"} 31",
            "imagebus_worker_credit{kind=\"decode\"} 2", "imagebus_worker_jobs{kind=\"decode\"} 1",
            "imagebus_stage_queued_jobs{stage=\"decode\"} 4",
            "imagebus_stage_queued_cost{stage=\"decode\"} 1000",
            "imagebus_stage_running_jobs{stage=\"decode\"} 2",
            "# TYPE imagebus_requests_total counter", "imagebus_requests_total 12",
            "imagebus_cache_requests_total{tier=\"memory\"} 9",
            "imagebus_cache_requests_total{tier=\"miss\"} 3",
            "imagebus_requests_failed_total{reason=\"busy\"} 4",
            "imagebus_requests_failed_total{reason=\"timedOut\"} 1",
            "imagebus_requests_refused_total{reason=\"busy\"} 4",
            "imagebus_coalesced_total{level=\"source\"} 7",
            "imagebus_jobs_started_total{stage=\"fetch\"} 3",
            "imagebus_live_bytes{kind=\"download\"} 1048576",
            "imagebus_socket_bytes_total{socket=\"front\",direction=\"out\"} 4",
            "imagebus_cancels_hard_total{stage=\"decode\"} 1",
            "imagebus_transfer_duration_seconds_count{phase=\"tls\"} 1",
            "imagebus_transfers_total{version=\"1.1\"} 5", "imagebus_transfers_reused_total 2",
            "imagebus_transferred_bytes_total 6", "imagebus_continuations_total 1",
            "imagebus_other{name=\"dreams\"} 8",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(!lines.contains { $0.contains("queued.decode") || $0.contains("pid") })
    }

    @Test func aHistogramIsWrittenInFull() {
        var family = MetricFamily("x_seconds", .histogram, "A time.")
        family.add(histogram(128, 129, 90_000_000), [("stage", "decode")])
        let lines = family.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 + 20 + 3)
        #expect(lines[0] == "# HELP x_seconds A time.")
        #expect(lines[1] == "# TYPE x_seconds histogram")
        #expect(lines[2] == "x_seconds_bucket{stage=\"decode\",le=\"0.000128\"} 1")
        #expect(lines[3] == "x_seconds_bucket{stage=\"decode\",le=\"0.000256\"} 2")
        #expect(lines[21] == "x_seconds_bucket{stage=\"decode\",le=\"67.108864\"} 2")
        #expect(lines[22] == "x_seconds_bucket{stage=\"decode\",le=\"+Inf\"} 3")
        #expect(lines[23] == "x_seconds_sum{stage=\"decode\"} 90.000257")
        #expect(lines[24] == "x_seconds_count{stage=\"decode\"} 3")
    }

    @Test func bucketsAreCumulativeAndTheLastCountsAll() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<50 {
            var histogram = LatencyHistogram()
            for _ in 0..<200 {
                histogram.record(microseconds: UInt64.random(in: 0...1 << 30, using: &random) >> 4)
            }
            var family = MetricFamily("x_seconds", .histogram, "A time.")
            family.add(histogram)
            let counts = family.lines.filter { $0.contains("_bucket") }.compactMap {
                UInt64($0.split(separator: " ")[1])
            }
            #expect(counts.count == 21)
            #expect(counts == counts.sorted())
            #expect(counts.last == 200)
        }
    }

    /// Compared with the parser of Prometheus' own Python client.
    @Test func anotherParserReadsNamesAndPathsAsTheyAre() throws {
        let names = ["a.b-c_1", "q\"uote", "back\\slash", "line\nend", "return\r\nline", "ü✓"]
        var status = CacheStatus()
        status.caches = names.enumerated().map { index, name in
            var cache = NamedCacheStatus(name: name)
            (cache.misses, cache.disk.bytes) = (UInt64(index), 100 + UInt64(index))
            return cache
        }
        status.readOnly = names.map { ReadOnlyDirectory(cache: "", path: "/srv/\($0)") }
        var report = StatusReport()
        // Equal values from two processes yield one sample.
        report.caches = [status, status]
        let samples = try PrometheusParser.samples(MetricsText.text(report))
        for (index, name) in names.enumerated() {
            let misses = samples.filter {
                $0.name == "imagebus_named_cache_misses_total" && $0.labels == ["cache": name]
            }
            #expect(misses.map(\.value) == [Double(index)], "\(name)")
            let bytes = samples.filter {
                $0.name == "imagebus_named_cache_bytes"
                    && $0.labels == ["cache": name, "tier": "disk"]
            }
            #expect(bytes.map(\.value) == [100 + Double(index)], "\(name)")
            let up = samples.filter {
                $0.labels == ["cache": "default", "path": "/srv/\(name)"]
                    && $0.name == "imagebus_cache_read_only_up"
            }
            #expect(up.map(\.value) == [1], "\(name)")
        }
    }

    @Test func thereAreAtMostSoManyNamedCaches() {
        var status = CacheStatus()
        status.caches = (0..<100).map { NamedCacheStatus(name: "c\($0)") }
        let family = NamedCacheMetrics.families([status]).last
        #expect(family?.lines.count == 64)
    }

    @Test func labelsCannotForgeALine() {
        var family = MetricFamily("x", .gauge, "A thing.")
        family.add(UInt64(1), [("name", "a\"b\\c\nd")])
        #expect(family.lines == ["x{name=\"a\\\"b\\\\c\\nd\"} 1"])
    }

    @Test(.enabled(if: Promtool.path != nil, "scripts/promtool gets promtool"))
    func promtoolHasNothingToSay() throws {
        #expect(try Promtool.check(MetricsText.text(report)) == "")
        #expect(try Promtool.check("x_total 1\n") != "", "it would be reported")
    }
}

import Model
import Testing

@testable import Reporting

/// The status as JSON and as tables.
@Suite struct StatusTests {
    private func sampleReport() throws -> StatusReport {
        var report = StatusReport()
        report.processes = [
            .init(
                kind: .decode, pid: 7, state: "busy", restarts: 2, jobs: 1,
                sandbox: [.noNewPrivileges, .seccomp], credit: 3)
        ]
        report.sockets = [
            .init(
                name: "back/decode", messagesReceived: 1, messagesSent: 2, bytesReceived: 3,
                bytesSent: 4, largestMessage: 5)
        ]
        report.counters = [
            .init(name: "memoryHits", value: 9), .init(name: "misses", value: 3),
        ]
        report.uptimeMilliseconds = 61_000
        var durations = LatencyHistogram()
        durations.record(microseconds: 1_024)
        report.cancellations = [.init(stage: "decode", hard: 1, durations: durations)]
        report.stages = [
            .init(
                stage: "decode", queued: 4, queuedCost: 5, running: 6, waits: durations,
                works: LatencyHistogram())
        ]
        report.requests = durations
        report.transfers = [.init(phase: "firstByte", durations: durations)]
        report.caches = [.sample]
        report.pools = [
            .init(
                name: try #require(PoolName("raw")), kind: .decode, isExternal: true, workers: 2,
                jobs: 1, credit: 3, queued: 9, outputBytes: 8)
        ]
        return report
    }

    @Test func hostsThatAreNotVerifiedAreNamed() throws {
        var report = StatusReport()
        #expect(!StatusTable.text(report).contains("TLS"))
        report.unverifiedHosts = ["127.0.0.1:8443", "nas.lan"]
        #expect(
            StatusTable.text(report).contains("\nTLS not verified: 127.0.0.1:8443, nas.lan\n"))
        let json = try JSONText.text(StatusAnswer.object(report))
        #expect(json.contains("\"unverifiedHosts\":[\"127.0.0.1:8443\",\"nas.lan\"]"))
    }

    @Test func theStatusIsOneObject() throws {
        var report = try sampleReport()
        #expect(
            try JSONText.text(StatusAnswer.object(report)) == """
                {"cacheStores":[{"disk":{"bytes":5000,"bytesWritten":6144,\
                "degradedSince":1709294399500,"entries":3,"entriesExpired":19,"entriesLost":4,\
                "entriesTrimmed":18,"failures":20,"hits":14,\
                "indexReason":"badIndex: malformed","indexUpgradedFrom":null,\
                "indexesSetAside":1,"limitBytes":null,"limitEntries":16,"misses":15,\
                "overheadBytes":70000,"reason":"full: no space","state":"degraded",\
                "storesSkipped":2,"trims":17},\
                "memory":{"bytes":900,"entries":2,"evictions":12,"hits":11,"limitBytes":4096,\
                "limitEntries":null,"shrinks":13},\
                "named":{"hot":{"disk":{"bytes":24,"entries":23,"hits":27,"limitBytes":1048576,\
                "limitEntries":null},"memory":{"bytes":22,"entries":21,"hits":26,\
                "limitBytes":null,"limitEntries":25},"memoryEvictions":29,"misses":28}},\
                "readOnly":[{"cache":"default","damaged":31,"hits":30,"path":"/srv/a",\
                "reason":null},{"cache":"hot","damaged":0,"hits":0,"path":"/srv/b",\
                "reason":"there is no such directory"}]}],\
                "caches":[{"requests":9,"share":0.75,"tier":"memory"},\
                {"requests":0,"share":0,"tier":"disk"},\
                {"requests":0,"share":0,"tier":"original"},\
                {"requests":3,"share":0.25,"tier":"miss"}],\
                "cancellations":[{"cancels":1,"hard":1,"p50_ms":1.024,"p99_ms":1.024,\
                "stage":"decode"}],"counters":{"memoryHits":9,"misses":3},\
                "pools":[{"credit":3,"jobs":1,"kind":"decode","name":"raw","outputBytes":8,\
                "queued":9,"trust":"foreign","workers":2}],\
                "processes":[{"credit":3,"jobs":1,"kind":"decode","pid":7,"pool":"decode",\
                "restarts":2,"sandbox":["noNewPrivileges","seccomp"],"state":"busy"}],\
                "requests":{"count":1,"p50_ms":1.024,"p90_ms":1.024,"p99_ms":1.024,\
                "sum_ms":1.024},\
                "sockets":[{"bytesReceived":3,"bytesSent":4,"largestMessage":5,\
                "messagesReceived":1,"messagesSent":2,"name":"back/decode"}],\
                "stages":[{"queued":4,"queuedCost":5,"running":6,"stage":"decode",\
                "waits":{"count":1,"p50_ms":1.024,"p90_ms":1.024,"p99_ms":1.024,\
                "sum_ms":1.024},\
                "works":{"count":0,"p50_ms":null,"p90_ms":null,"p99_ms":null,"sum_ms":0}}],\
                "transfers":{"firstByte":{"count":1,"p50_ms":1.024,"p90_ms":1.024,\
                "p99_ms":1.024,"sum_ms":1.024}},"unverifiedHosts":[],"uptimeMilliseconds":61000}

                """)
        let text = StatusTable.text(report, all: true)
        #expect(text.hasPrefix("up 1 min 1 s, "))
        #expect(text.contains("decode    7   busy         2     1       3"))
        #expect(text.contains("decode        4        6     0    1.0 ms  1.0 ms         -       -"))
        #expect(text.contains("memory           9  75.0 %"))
        #expect(text.contains("firstByte      1     1.0     1.0"))
        #expect(text.contains("disk    degraded        3     4.9 KB   68.4 KB       -     4"))
        #expect(text.contains("\ndisk cache: full: no space, since 2024-03-01T11:59:59Z\n"))
        let rebuilt = "\ndisk cache: index quarantined and rebuilt: badIndex: malformed\n"
        #expect(text.contains(rebuilt))
        report.caches[0].indexUpgradedFrom = 4
        report.caches[0].indexReason = ""
        let upgraded = StatusTable.text(report, all: true)
        #expect(upgraded.contains("\ndisk cache: index upgraded from version 4\n"))
        #expect(!upgraded.contains("rebuilt"))
        #expect(text.contains("decode       1     1     1.0     1.0"))
        #expect(text.contains("/srv/a     default   healthy    30       31\n"), "\(text)")
        #expect(text.contains("\n/srv/b: there is no such directory\n"))
    }

    /// A gateway, one process per core, and large numbers.
    @Test func theStatusOfADefaultStackFitsOneScreen() {
        var report = StatusReport()
        for kind in [WorkerKind.coordinator, .cache, .download, .decode, .transform] {
            let isPerCore = kind == .decode || kind == .transform
            for number in 0..<UInt32(isPerCore ? 128 : 1) {
                report.processes.append(
                    .init(
                        kind: kind, pid: 1_000 + number,
                        state: ["ready", "busy", "draining"][Int(number % 3)], restarts: 99_999,
                        jobs: 4_096, sandbox: [.noNewPrivileges, .seccomp], credit: 4_096))
            }
        }
        report.fronts = [.init(process: .init(name: "gateway"), pid: 9)]
        var durations = LatencyHistogram()
        durations.record(microseconds: 98_000)
        report.stages = ["store", "query", "fetch", "decode", "transform"].map {
            .init(
                stage: $0, queued: 16_384, queuedCost: 1, running: 16_384, waits: durations,
                works: durations)
        }
        report.requests = durations
        report.uptimeMilliseconds = 86_400_000 * 99
        report.caches = [CacheStatus()]
        report.caches[0].disk = .healthy
        (report.caches[0].diskEntries, report.caches[0].diskBytes) = (9_999_999, 1 << 40 - 1)
        report.caches[0].diskBytesMax = 1 << 40
        report.counters = [
            "clients", "liveRequests", "liveJobs", "memoryHits", "misses", "requests", "failed",
        ].map { .init(name: $0, value: $0.hasPrefix("live") ? 12_345 : 99_999_999) }
        var earlier = report
        earlier.uptimeMilliseconds -= 1_000
        for text in [StatusTable.text(report), StatusTable.text(report, since: earlier)] {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count - 1 <= 24, "\(text)")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(text)")
        }
        #expect(StatusTable.text(report, all: true).contains("SANDBOX\n"))
    }

    /// Compared with the dates of another program, `date -u`.
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_799, "2000-02-29T23:59:59Z"), (1_709_164_800, "2024-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] as [(UInt64, String)])
    func momentsAreThoseOfTheCalendar(seconds: UInt64, text: String) {
        #expect(CalendarText.text(seconds * 1_000 + 999) == text)
    }

    @Test func theFiguresOfTheCacheAreShort() throws {
        var report = StatusReport()
        report.caches = [.sample]
        let text = CacheMetrics.text(report)
        #expect(text.contains("bytes written                 -  6.0 KB\n"), "\(text)")
        let hot = "hot           21  22 bytes      -       23  24 bytes  1.0 MB"
        #expect(text.contains(hot), "\(text)")
        #expect(text.contains("trims                        13      17\n"), "\(text)")
        let json = try JSONText.text(CacheMetrics.object(report))
        #expect(json.hasPrefix("{\"caches\":[{\"disk\":{\"bytes\":5000,"))
        #expect(json.contains("\"requests\":{\"disk\":0,\"memory\":0,\"missed\":0,"))
    }

    @Test func ratesAreOfWhatHappenedSinceTheLastLook() {
        func report(_ uptime: UInt64, _ requests: UInt64, _ hits: UInt64) -> StatusReport {
            var report = StatusReport()
            report.uptimeMilliseconds = uptime
            report.counters = [
                .init(name: "requests", value: requests), .init(name: "memoryHits", value: hits),
                .init(name: "misses", value: requests - hits),
            ]
            return report
        }
        let (before, after) = (report(1_000, 100, 0), report(3_000, 140, 30))
        let text = StatusTable.text(after, since: before)
        #expect(text.contains("20.0 requests/s"))
        #expect(text.contains("memory          30  21.4 %  75.0 %"))
        #expect(!StatusTable.text(after).contains("requests/s"))
        let reborn = StatusTable.text(report(500, 4, 4), since: before)
        #expect(!reborn.contains("requests/s"), "the coordinator restarted")
        #expect(reborn.contains("memory           4  100.0 %  100.0 %"))
    }

    @Test func durationsHaveTheUnitThatFits() {
        #expect(
            [0.6, 999, 1_024, 99_949, 99_960, 999_499, 1_500_000].map(StatusTable.time) == [
                "1 us", "999 us", "1.0 ms", "99.9 ms", "100 ms", "999 ms", "1.5 s",
            ])
    }
}

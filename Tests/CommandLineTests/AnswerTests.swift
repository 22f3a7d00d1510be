import ImageModel
import Messages
import Reporting
import Testing

@testable import imagebus_cli

@Suite struct AnswerTests {
    @Test func aFailureHasEveryNameOfTheObject() throws {
        let failure = ImageError(
            .invalidDownloadStatusCode, "the origin says 404", details: ["httpStatus": "404"])
        let answer = GetAnswer(failure, token: "abc", totalMilliseconds: 1.23456)
        #expect(
            try JSONText.text(answer) == """
                {"bytes":null,"cacheType":"none","error":{"code":2001,\
                "details":{"httpStatus":"404"},"domain":"SDWebImageErrorDomain",\
                "message":"the origin says 404","name":"invalidDownloadStatusCode",\
                "retryable":false},"fallbackFor":null,"format":null,"height":null,\
                "key":null,"notes":[],"pages":null,"refreshed":null,"scale":null,"status":"error",\
                "timings":{"decode":0,"fetch":0,"query":0,"queue":0,"store":0,"total":1.235,\
                "transform":0},"token":"abc",\
                "width":null}

                """)
    }

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
        report.caches = [.sample]
        report.pools = [
            .init(
                name: try #require(PoolName("raw")), kind: .decode, isForeign: true, workers: 2,
                jobs: 1, credit: 3, queued: 9, outputBytes: 8)
        ]
        return report
    }

    @Test func theStatusIsOneObject() throws {
        let report = try sampleReport()
        #expect(
            try JSONText.text(StatusAnswer(report)) == """
                {"cacheStores":[{"disk":{"bytes":5000,"entries":3,"entriesLost":4,\
                "indexesSetAside":1,"limitBytes":null,"overheadBytes":70000,\
                "reason":"full: no space","state":"degraded","storesSkipped":2},\
                "memory":{"bytes":900,"entries":2}}],\
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
                "uptimeMilliseconds":61000}

                """)
        let text = StatusTable.text(report)
        #expect(text.hasPrefix("up 1 min 1 s, "))
        #expect(text.contains("decode    7   busy         2     1       3"))
        #expect(text.contains("decode        4        6     0    1.0 ms  1.0 ms         -       -"))
        #expect(text.contains("memory           9  75.0 %"))
        #expect(text.contains("disk    degraded        3     4.9 KB  68.4 KB      -     4"))
        #expect(text.contains("\ndisk cache: full: no space\n"))
        #expect(text.contains("decode       1     1     1.0     1.0"))
    }

    @Test func healthNeedsOneWorkerOfEachKind() {
        var report = StatusReport()
        func process(_ kind: WorkerKind, _ state: String) -> StatusReport.ProcessStatus {
            .init(kind: kind, pid: 1, state: state, restarts: 0, jobs: 0)
        }
        report.processes = [
            process(.coordinator, "ready"), process(.cache, "ready"), process(.download, "busy"),
            process(.decode, "draining"),
        ]
        #expect(
            HealthCommand.complaint(report) == "no decode, no transform process takes jobs")
        report.processes += [process(.decode, "ready"), process(.transform, "busy")]
        #expect(HealthCommand.complaint(report) == nil)
    }

    @Test func theHealthOfAKindIsWhatAllItsSupervisorsSay() {
        func complaint(_ answers: String?...) -> String? {
            let lines = answers.map { $0.map { Array($0.utf8) } }
            return HealthCommand.complaint(about: .decode, lines, in: "/run/i")
        }
        #expect(complaint(#"{"decode":"ok"}"#, #"{"cache":"shutting down","decode":"ok"}"#) == nil)
        #expect(complaint(#"{"decode":"ok"}"#, #"{"decode":"it is not"}"#) == "decode: it is not")
        #expect(complaint() == "no supervisor of decode runs in /run/i")
        #expect(complaint(#"{"cache":"ok"}"#) == "no supervisor of decode runs in /run/i")
        for odd in [nil, "", "ok", "[]", #"{"decode":1}"#] {
            #expect(complaint(odd) == "a supervisor in /run/i does not answer")
        }
    }

    @Test func aDrainIsOverWhenAllThatWereToldHaveSuccessors() {
        func report(_ rows: [(WorkerKind, String, UInt32)]) -> StatusReport {
            var report = StatusReport()
            report.processes = rows.map { kind, state, restarts in
                .init(kind: kind, pid: 1, state: state, restarts: restarts, jobs: 0)
            }
            return report
        }
        let before = report([
            (.coordinator, "ready", 0), (.decode, "ready", 0), (.decode, "busy", 0),
        ])
        func missing(_ rows: [(WorkerKind, String, UInt32)]) -> Int {
            DrainTool.missing(.decode, told: 2, before, report(rows))
        }
        #expect(missing([(.decode, "draining", 0), (.decode, "draining", 0)]) == 2)
        #expect(missing([(.decode, "ready", 1), (.decode, "draining", 0)]) == 1)
        #expect(missing([(.decode, "ready", 1)]) == 1)
        #expect(missing([(.decode, "ready", 1), (.decode, "ready", 1)]) == 0)
        #expect(DrainTool.missing(.coordinator, told: 1, before, before) == 1)
        let next = report([(.coordinator, "ready", 1)])
        #expect(DrainTool.missing(.coordinator, told: 1, before, next) == 0)
    }

    @Test func progressIsABarWhereTheLengthIsKnown() {
        let token = Token(Identifier128(high: 1, low: 2))
        #expect(
            ProgressBar.text(RequestProgress(token: token, received: 512, expected: 1024))
                == "[" + String(repeating: "#", count: 15) + String(repeating: ".", count: 15)
                + "] 50% of 1.0 KB")
        #expect(
            ProgressBar.text(RequestProgress(token: token, received: 2048, expected: 0))
                == "2.0 KB")
    }
}

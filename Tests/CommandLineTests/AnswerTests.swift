import Model
import Reporting
import Testing

@testable import imagebus_cli

@Suite struct AnswerTests {
    @Test func aFailureHasEveryNameOfTheObject() throws {
        let failure = ImageError(
            .invalidDownloadStatusCode, "the origin says 404", details: ["httpStatus": "404"])
        var spent = StageTimings()
        spent.total = 1.23456
        let answer = GetAnswer.object(
            nil, ImageProvenance(.none, spent), token: "abc", request: ImageRequest(url: ""),
            failure: GetAnswer.error(failure))
        #expect(
            try JSONText.text(answer) == """
                {"bits":null,"bytes":null,"cacheType":"none","damaged":null,"digest":null,\
                "error":{"code":2001,\
                "details":{"httpStatus":"404"},"domain":"SDWebImageErrorDomain",\
                "message":"the origin says 404","name":"invalidDownloadStatusCode",\
                "retryable":false},"explanation":null,"extendedData":null,"facts":null,\
                "fallbackFor":null,\
                "format":null,"freshness":null,"hdr":null,"height":null,"key":null,"notes":[],\
                "pages":null,"partials":null,"refreshed":null,"scale":null,"status":"error",\
                "stillOf":null,\
                "timings":{"decode":0,"fetch":0,"query":0,"queue":0,"store":0,"total":1.235,\
                "transform":0},"token":"abc",\
                "width":null}

                """)
    }

    /// The first load fetched an image in another format than the file name selects.
    @Test func theReportOfTwoLoadsCoversBoth() {
        var (first, second) = (StageTimings(), StageTimings())
        (first.queue, first.fetch, first.store, first.total) = (1, 60, 5, 80)
        (second.queue, second.query, second.transform, second.total) = (2, 3, 10, 36)
        let fetched = ImageProvenance(.none, first)
        let both = ImageProvenance(.disk, second, after: fetched)
        #expect(both.cacheType == .none && both.text == "loaded")
        var sums = StageTimings()
        (sums.queue, sums.query, sums.fetch, sums.transform) = (3, 3, 60, 10)
        (sums.store, sums.total) = (5, 116)
        #expect(both.timings == sums)
    }

    @Test(arguments: [
        (CacheTypes.disk, CacheTypes.disk, 10.0, "made from the original in disk"),
        (CacheTypes.memory, CacheTypes.disk, 10.0, "made from the original in disk"),
        (CacheTypes.memory, CacheTypes.memory, 0.0, "from memory"),
        (CacheTypes.none, CacheTypes.memory, 0.0, "loaded"),
    ])
    func whatIsWrittenCameFromTheLastLoadUnlessTheFirstOneFetchedIt(
        first: CacheTypes, second: CacheTypes, transform: Double, text: String
    ) {
        var timings = StageTimings()
        timings.transform = transform
        let earlier = ImageProvenance(first, StageTimings())
        #expect(ImageProvenance(second, timings, after: earlier).text == text)
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
            HealthCommand.complaint(report)
                == "no decode process accepts jobs; no transform process accepts jobs")
        report.processes += [process(.decode, "ready"), process(.transform, "busy")]
        #expect(HealthCommand.complaint(report) == nil)
    }

    @Test func healthAndStatusNamePoolsThatHaveNoWorker() throws {
        var report = StatusReport()
        report.processes = WorkerKind.allCases.map {
            .init(kind: $0, pid: 1, state: "ready", restarts: 0, jobs: 0)
        }
        func pool(
            _ name: String, isExternal: Bool = false, workers: UInt32 = 0, getsNoJob: Bool = false
        ) throws -> StatusReport.PoolStatus {
            .init(
                name: try #require(PoolName(name)), kind: .decode, isExternal: isExternal,
                workers: workers, jobs: 0, credit: 0, queued: 0, outputBytes: 0,
                getsNoJob: getsNoJob)
        }
        report.pools = [try pool("decode", workers: 1), try pool("idle", getsNoJob: true)]
        #expect(HealthCommand.complaint(report) == nil)
        report.pools += [try pool("heavy"), try pool("raw", isExternal: true)]
        let sentences = [
            "no worker of the pool 'heavy' is connected: start one with imagebus serve, whose "
                + "configuration sets the number, or with serve --only decode --pool heavy if "
                + "each kind runs separately",
            "no worker of the pool 'raw' is connected: start the plug-in, "
                + "which connects at back/raw",
        ]
        #expect(HealthCommand.complaint(report) == sentences[0], "plug-ins don't affect health")
        let text = StatusTable.text(report)
        for sentence in sentences { #expect(text.contains("\n\(sentence)\n")) }
        #expect(!text.contains("'idle'"))
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
            #expect(complaint(odd) == "a supervisor in /run/i is not answering")
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
            DrainTool.missing(DrainTarget(.decode), notified: 2, before, report(rows))
        }
        #expect(missing([(.decode, "draining", 0), (.decode, "draining", 0)]) == 2)
        #expect(missing([(.decode, "ready", 1), (.decode, "draining", 0)]) == 1)
        #expect(missing([(.decode, "ready", 1)]) == 1)
        #expect(missing([(.decode, "ready", 1), (.decode, "ready", 1)]) == 0)
        let coordinator = DrainTarget(.coordinator)
        #expect(DrainTool.missing(coordinator, notified: 1, before, before) == 1)
        let next = report([(.coordinator, "ready", 1)])
        #expect(DrainTool.missing(coordinator, notified: 1, before, next) == 0)
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

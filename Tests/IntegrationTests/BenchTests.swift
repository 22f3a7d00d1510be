import TestKit
import Testing

extension RealProcesses {
    @Suite struct BenchTests {
        /// A second for each kind of work: that there are figures, not what they are.
        @Test func cancelIsMeasuredInEveryStage() throws {
            let run = try CommandLineRun([
                "bench", "cancel", "--private", "--seconds", "1", "--json",
            ])
            let end = try run.end(timeout: .seconds(120))
            #expect(end.exitStatus == 0, "\(end)")
            let report = try end.json()
            #expect(report["name"]?.text == "cancel")
            #expect(report["errors"]?.integer == 0)
            let stages = try #require(report["stages"]?.array)
            #expect(stages.count == 6)
            let works = stages.compactMap { $0["work"]?.text }
            #expect(works.first == "download" && works.last == "encode WebP")
            #expect((stages.first?["cancels"]?.integer ?? 0) > 0, "\(end)")
            for stage in stages { #expect(stage["verdict"]?.text != nil) }
        }

        /// A moment of each: that all loads were hits, not how many there were.
        @Test(arguments: [1, 16]) func hitsAreMeasured(concurrency: Int) throws {
            let run = try CommandLineRun([
                "bench", "hit", "--private", "--seconds", "1", "--json", "--concurrency",
                "\(concurrency)",
            ])
            let end = try run.end(timeout: .seconds(60))
            #expect(end.exitStatus == 0, "\(end)")
            let report = try end.json()
            #expect(report["name"]?.text == "hit")
            #expect(report["errors"]?.integer == 0)
            let requests = try #require(report["requests"]?.integer)
            #expect(requests > concurrency)
            #expect((report["bytes"]?.integer ?? 0) / requests > 20_000)
            #expect(report["coordinator_us"] != nil && report["client_us"] != nil)
            #expect((report["async"] != nil) == (concurrency == 1))
        }

        @Test func aPictureThatIsNotKeptIsNoHit() throws {
            let run = try CommandLineRun([
                "bench", "hit", "--private", "--seconds", "1", "--context",
                "store-cache-type=none",
            ])
            #expect(try run.end(timeout: .seconds(60)).exitStatus == 64)
        }

        @Test func anOriginThatIsNotThereEndsTheMeasurement() throws {
            let closed = OriginServer()
            closed.stop()
            let run = try CommandLineRun([
                "bench", "cancel", closed.url("/a.jpg"), "--private", "--allow-address",
                closed.authority, "--seconds", "1",
            ])
            #expect(try run.end(timeout: .seconds(60)).exitStatus == 75)
        }
    }
}

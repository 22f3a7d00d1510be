import Reporting
import Testing

@testable import imagebus_bench

@Suite struct MixedReportTests {
    @Test func theMixIsTheSameInEveryRun() {
        let choices = (1...10_000).map { MixedLoad(number: $0) }
        #expect(choices == (1...10_000).map { MixedLoad(number: $0) })
        for work in MixedLoad.Work.allCases {
            let percent = choices.count { $0.work == work } / 100
            #expect(abs(percent - work.percent) <= 1, "\(work)")
        }
        #expect(choices.allSatisfy { (64..<512).contains($0.side) })
        #expect(Set(choices.map(\.image)) == Set(0..<MixedLoad.known))
        #expect(choices.allSatisfy { (1...20).contains($0.cancelMilliseconds) })
        #expect(MixedLoad.Work.allCases.reduce(0) { $0 + $1.percent } == 100)
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        var metrics = LoadMetrics()
        for bytes in [100, nil] {
            metrics.count(nanoseconds: 1_000_000, bytes: bytes, slice: 0)
        }
        var report = BenchReport("mixed", metrics, concurrency: 8)
        report["shares"] = MixedLoad.shares([.hit: metrics])
        report["cpu_us"] = ["client": 2.0]
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"mixed\"", "\"shares\":[{", "\"work\":\"hit\"", "\"percent\":100",
            "\"requests\":2", "\"errors\":1", "\"work\":\"cancel\"", "\"cpu_us\":{\"client\":2}",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }
}

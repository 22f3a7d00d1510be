import Reporting
import Testing

@testable import imagebus_bench

@Suite struct MixedReportTests {
    @Test func theMixIsTheSameInEveryRun() {
        let choices = (1...10_000).map { MixedChoice(number: $0) }
        #expect(choices == (1...10_000).map { MixedChoice(number: $0) })
        for work in MixedWork.allCases {
            let percent = choices.count { $0.work == work } / 100
            #expect(abs(percent - work.percent) <= 1, "\(work)")
        }
        #expect(choices.allSatisfy { (64..<512).contains($0.side) })
        #expect(Set(choices.map(\.image)) == Set(0..<MixedBench.known))
        #expect(choices.allSatisfy { (1...20).contains($0.cancelMilliseconds) })
        #expect(MixedWork.allCases.reduce(0) { $0 + $1.percent } == 100)
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        var metrics = LoadMetrics()
        var hits = MixedShare()
        for bytes in [100, nil] {
            metrics.count(nanoseconds: 1_000_000, bytes: bytes, slice: 0)
            hits.count(1_000_000, bytes)
        }
        let report = MixedReport(
            metrics, concurrency: 8, shares: [.hit: hits], processors: ["client": 2])
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"mixed\"", "\"shares\":[{", "\"work\":\"hit\"", "\"percent\":100",
            "\"requests\":2", "\"errors\":1", "\"work\":\"cancel\"", "\"cpu_us\":{\"client\":2}",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }
}

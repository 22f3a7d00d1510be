import Reporting
import Testing

@testable import imagebus_bench

@Suite struct HitReportTests {
    private var metrics: LoadMetrics {
        var metrics = LoadMetrics()
        for slice in 0..<10 { metrics.count(nanoseconds: 100_000, bytes: 37_000, slice: slice) }
        metrics.count(nanoseconds: 1, bytes: nil, slice: 0)
        metrics.seconds = 5
        return metrics
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        let report = Bench.hitReport(
            metrics, [("async", LoadMetrics())], concurrency: 64, ["coordinator": 3.5])
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"hit\"", "\"requests\":11", "\"errors\":1", "\"rps\":2", "\"p50_ms\":0.10",
            "\"p99_ms\":0.10", "\"bytes\":370000", "\"concurrency\":64", "\"coordinator_us\":3.5",
            "\"rps_least\":2", "\"rps_median\":2", "\"rps_most\":2", "\"seconds\":5",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(!text.contains("client_us"))
    }

    @Test func allCallsAreShown() throws {
        let report = Bench.hitReport(
            metrics, [("executor", metrics), ("async", metrics)], concurrency: 1,
            ["coordinator": 3.5, "client": 20])
        let json = try JSONText.text(report)
        #expect(json.contains("\"executor\":{"))
        #expect(json.contains("\"async\":{"))
        #expect(report.text.contains("hit (executor)"))
        #expect(report.text.contains("hit (async)"))
        #expect(report.text.contains("COORDINATOR US  CLIENT US"))
        #expect(report.text.contains("3.500     20.000"))
    }

    @Test(arguments: [(0.0, "0.000"), (0.0724, "0.072"), (1.9999, "2.000"), (12.05, "12.050")])
    func threeDecimalsAreEnough(value: Double, text: String) {
        #expect(BenchReport.thousandths(value) == text)
    }
}

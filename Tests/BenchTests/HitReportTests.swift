import Reporting
import Testing

@testable import imagebus_bench

@Suite struct HitReportTests {
    private var figures: LoadFigures {
        var figures = LoadFigures()
        for slice in 0..<10 { figures.count(nanoseconds: 100_000, bytes: 37_000, slice: slice) }
        figures.count(nanoseconds: 1, bytes: nil, slice: 0)
        figures.seconds = 5
        return figures
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        let report = HitReport(
            figures, onExecutor: nil, tasks: LoadFigures(), concurrency: 64,
            coordinatorMicroseconds: 3.5, clientMicroseconds: nil)
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"hit\"", "\"requests\":11", "\"errors\":1", "\"rps\":2", "\"p50_ms\":0.10",
            "\"p99_ms\":0.10", "\"bytes\":370000", "\"concurrency\":64", "\"coordinator_us\":3.5",
            "\"rps_least\":2", "\"rps_median\":2", "\"rps_most\":2", "\"seconds\":5",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(!text.contains("client_us"))
    }

    @Test func allCallsAreShown() throws {
        let report = HitReport(
            figures, onExecutor: figures, tasks: figures, concurrency: 1,
            coordinatorMicroseconds: 3.5, clientMicroseconds: 20)
        let json = try JSONText.text(report)
        #expect(json.contains("\"executor\":{"))
        #expect(json.contains("\"async\":{"))
        #expect(report.text.contains("hit (executor)"))
        #expect(report.text.contains("hit (async)"))
        #expect(report.text.contains("coordinator 3.5 us, client 20.0 us"))
    }

    @Test(arguments: [(0.0, "0.000"), (0.0724, "0.072"), (1.9999, "2.000"), (12.05, "12.050")])
    func threeDecimalsAreEnough(value: Double, text: String) {
        #expect(LoadReport.thousandths(value) == text)
    }
}

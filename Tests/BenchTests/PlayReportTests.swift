import Reporting
import Testing

@testable import imagebus_bench

@Suite struct PlayReportTests {
    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        var (first, again) = (LoadMetrics(), LoadMetrics())
        for _ in 0..<6 { first.count(nanoseconds: 2_000_000, bytes: 400, slice: 0) }
        again.count(nanoseconds: 1_000_000, bytes: 400, slice: 9)
        (first.seconds, again.seconds) = (2, 1)
        let report = PlayReport(
            first: first, again: again, players: 2, frames: 3, animations: 1, decodes: 4)
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"play\"", "\"rps\":3", "\"again\":{", "\"players\":2", "\"frames\":3",
            "\"animations\":1", "\"decodes\":4",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(report.text.contains("2 players of 1 animations of 3 frames"))
    }
}

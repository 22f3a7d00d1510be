import Imagebus
import Model
import Reporting
import Testing

@testable import imagebus_bench

@Suite struct CancelReportTests {
    private func row(_ milliseconds: [UInt64], hard: UInt64 = 0) -> StatusReport.Cancellations {
        var durations = LatencyHistogram()
        for value in milliseconds { durations.record(microseconds: value * 1_000) }
        return .init(stage: "decode", hard: hard, durations: durations)
    }

    private var decode: CancelPhase {
        get throws { try #require(CancelPhase.all.first { $0.stage == "decode" }) }
    }

    @Test(arguments: [([], "none"), ([1, 2, 3], "met"), ([1, 2, 300], "missed")])
    func theVerdictIsThatOfTheSlowest(milliseconds: [UInt64], verdict: String) throws {
        let stage = try decode.report(row(milliseconds))
        #expect(stage["verdict"] as? String == verdict)
        #expect(stage["cancels"] as? Int == milliseconds.count)
        #expect(stage["target_ms"] as? Double == 20)
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        let row = row([4, 4], hard: 1)
        var loads = LoadMetrics()
        for code in [ErrorCode.cancelled, .busy] {
            let result = Result<ImageResponse, ImageError>.failure(ImageError(code, ""))
            loads.count(
                nanoseconds: 1, bytes: result.byteCount(permitsCancel: true), slice: 0)
        }
        loads.seconds = 4
        let report = Bench.cancelReport(loads, row.durations, [try decode.report(row)])
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"cancel\"", "\"requests\":2", "\"errors\":1", "\"rps\":0.5", "\"bytes\":0",
            "\"p50_ms\":4.", "\"p99_ms\":4.", "\"stage\":\"decode\"", "\"work\":\"decode JPEG\"",
            "\"cancels\":2", "\"hard_cancels\":1", "\"target_ms\":20", "\"verdict\":\"met\"",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(report.text.contains("REQUESTS  ERRORS") && report.text.contains("decode JPEG"))
    }

    @Test func aLoadIsCancelledWithinItsStage() throws {
        var timings = StageTimings()
        (timings.queue, timings.fetch) = (1, 10)
        (timings.decode, timings.transform) = (100, 1_000)
        (timings.store, timings.total) = (5, 1_116)
        let windows = CancelPhase.all.filter { ![.stalled, .arriving].contains($0.source) }.map {
            ($0.stage, $0.window(timings))
        }
        #expect(windows.count == 5)
        for (stage, window) in windows {
            #expect(window == (stage == "decode" ? 11...111 : 111...1_111))
        }
    }

    /// The needs declared by a phase match what the scheduler and the stages derive from its
    /// request.
    @Test(arguments: CancelPhase.all + CancelPhase.external)
    func aPhaseAsksForItsStageAndForNoCache(phase: CancelPhase) {
        let request = phase.request(url: "http://a/b")
        let isArriving = phase.source == .arriving
        let wanted: RequestOptions =
            isArriving ? [.fromLoaderOnly, .progressiveLoad] : .fromLoaderOnly
        #expect(request.options == wanted)
        #expect(request.storeCacheTypes == .none && request.originalStoreCacheTypes == .none)
        let source = PixelSize(width: 4_899, height: 3_674)
        let shrink = DecodeNeed(request).shrink(for: source, permitted: [1, 2, 4, 8])
        #expect(shrink == 1, "the decoder has all pixels to do")
        #expect(DecodeNeed(request) != .header)
        #expect(stages.contains(phase.stage))
    }

    private let stages = ["fetch", "query", "decode", "transform", "store"]
}

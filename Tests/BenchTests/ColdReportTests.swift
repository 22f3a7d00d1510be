import Linux
import Model
import Reporting
import Testing

@testable import imagebus_bench

@Suite struct ColdReportTests {
    private var stages: StageMetrics {
        var stages = StageMetrics()
        for milliseconds in [9.0, 10, 100] {
            var timings = StageTimings()
            (timings.decode, timings.total) = (milliseconds, 2 * milliseconds)
            stages.record(timings)
        }
        return stages
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        var metrics = LoadMetrics()
        metrics.count(nanoseconds: 1_000, bytes: 200, slice: 0)
        metrics.seconds = 1
        let report = ColdReport(
            metrics, concurrency: 8, bytesEach: 200, processors: ["decode": 1.5], stages: stages)
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"cold\"", "\"requests\":1", "\"bytes_each\":200",
            "\"cpu_us\":{\"decode\":1.5}",
            "\"timings_ms\":{", "\"concurrency\":8", "\"rps\":1",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(report.text.contains("decode 1.5"))
    }

    @Test func theMedianOfEachStageIsSaid() throws {
        let medians = stages.medians
        let decode = try #require(medians["decode"])
        #expect(decode >= 10 && decode < 11)
        #expect(try #require(medians["total"]) >= 20)
        #expect(medians["fetch"] == 0 && medians.count == 7)
    }

    @Test func processorTimeIsThatOfAllProcessesOfAKind() {
        var report = StatusReport()
        let own = UInt32(CurrentProcess.processID)
        for kind in [WorkerKind.decode, .decode, .transform] {
            report.processes.append(
                .init(kind: kind, pid: own, state: "ready", restarts: 0, jobs: 0))
        }
        // A process ID that no process has, as after an exit.
        report.processes.append(
            .init(kind: .cache, pid: 0x7FFF_FFFF, state: "ready", restarts: 0, jobs: 0))
        let processors = ProcessorsByKind(report) { ProcessID($0.pid) }
        var sum: UInt64 = 0
        let start = MonotonicClock.now()
        while MonotonicClock.now() - start < 50_000_000 { sum &+= MonotonicClock.now() }
        let costs = processors.microseconds(each: 2)
        #expect(Set(costs.keys) == ["decode", "transform", "client"], "\(sum)")
        #expect((costs["transform"] ?? 0) > 1_000)
        #expect((costs["decode"] ?? 0) > (costs["transform"] ?? 0) * 1.5)
    }
}

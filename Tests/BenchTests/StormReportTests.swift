import Linux
import Model
import Reporting
import Testing

@testable import imagebus_bench

@Suite struct StormReportTests {
    private func report(_ counters: [(String, UInt64)]) -> StatusReport {
        var report = StatusReport()
        report.counters = counters.map { .init(name: $0, value: $1) }
        return report
    }

    private var metrics: StormMetrics {
        var metrics = StormMetrics()
        metrics.count(.init(nanoseconds: 1_000_000, bytes: 10, isRight: true))
        metrics.count(.init(nanoseconds: 1_000_000, bytes: 10, isRight: false))
        metrics.count(.init(nanoseconds: 1_000_000, bytes: nil, isRight: false))
        metrics.count(
            report([("fetches", 4), ("decodes", 5), ("retries", 1)]),
            report([("fetches", 6), ("decodes", 8), ("retries", 4)]))
        metrics.seconds = 2
        return metrics
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        var metrics = metrics
        metrics.memory = [StackMemory(kind: "decode", pid: 7, peak: 9, own: 5)]
        let text = try JSONText.text(StormReport(metrics, many: metrics))
        for part in [
            "\"name\":\"storm\"", "\"requests\":3", "\"errors\":1", "\"right\":1", "\"gets\":2",
            "\"decodes\":3", "\"rps\":1", "\"many\":{", "\"peak_bytes\":9", "\"own_bytes\":5",
            "\"kind\":\"decode\"", "\"p50_ms\":1", "\"retries\":3", "\"requeued\":0",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(try !JSONText.text(StormReport(metrics, many: nil)).contains("many"))
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 31])
    func aReplyIsRightWhereAllItsBytesAre(count: Int) {
        let bytes = (0..<count).map { UInt8($0) }
        func areEqual(_ other: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { a in other.withUnsafeBytes { StormFlight.areEqual(a, $0) } }
        }
        #expect(areEqual(bytes))
        #expect(!areEqual(bytes + [0]))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(!areEqual(other), "byte \(place)")
        }
    }

    @Test func memoryIsThatOfEveryProcessAndOfThisOne() {
        var status = StatusReport()
        status.processes = [
            .init(
                kind: .cache, pid: UInt32(CurrentProcess.processID), state: "ready", restarts: 0,
                jobs: 0)
        ]
        let memory = StackMemory.read(status) { ProcessID($0.pid) }
        #expect(memory.map(\.kind) == ["cache", "client"])
        for one in memory { #expect(one.peak > 1 << 20 && one.own > 1 << 20) }
    }
}

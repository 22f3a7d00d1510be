import Linux
import Model
import Reporting
import Testing

@testable import imagebus_bench

@Suite struct StackReportTests {
    private func status(
        _ counters: [(String, UInt64)] = [], _ kinds: [WorkerKind] = [],
        pid: ProcessID = CurrentProcess.processID
    ) -> StatusReport {
        var report = StatusReport()
        report.counters = counters.map { .init(name: $0, value: $1) }
        report.processes = kinds.map {
            .init(kind: $0, pid: UInt32(pid), state: "ready", restarts: 0, jobs: 0)
        }
        return report
    }

    private var loads: LoadMetrics {
        var loads = LoadMetrics()
        for bytes in [10, 10, nil] {
            loads.count(nanoseconds: 1_000_000, bytes: bytes, slice: 0)
        }
        loads.seconds = 2
        return loads
    }

    @Test func theJSONHasTheNamesThatScriptsKnow() throws {
        let before = status([("fetches", 4), ("decodes", 5), ("retries", 1)])
        let after = status([("fetches", 6), ("decodes", 8), ("retries", 4)])
        var report = BenchReport("storm", loads)
        report.add(before, after, ProcessorMeter(before))
        report["many"] = report
        let text = try JSONText.text(report)
        for part in [
            "\"name\":\"storm\"", "\"requests\":3", "\"errors\":1", "\"gets\":2", "\"decodes\":3",
            "\"rps\":1", "\"many\":{", "\"peak_bytes\":", "\"own_bytes\":", "\"kind\":\"client\"",
            "\"p50_ms\":1", "\"retries\":3", "\"requeued\":0", "\"cpu_us\":{\"client\":0}",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        for part in ["GETS", "cpu_us: client 0.0", "PEAK BYTES"] {
            #expect(report.text.contains(part), "\(part) in \(report.text)")
        }
    }

    @Test func theMedianOfEachStageIsSaid() throws {
        var stages = StageMetrics()
        for milliseconds in [9.0, 10, 100] {
            var timings = StageTimings()
            (timings.decode, timings.total) = (milliseconds, 2 * milliseconds)
            stages.record(timings)
        }
        let medians = stages.medians
        let decode = try #require(medians["decode"])
        #expect(decode >= 10 && decode < 11)
        #expect(try #require(medians["total"]) >= 20)
        #expect(medians["fetch"] == 0 && medians.count == 7)
    }

    @Test func processorTimeIsThatOfAllProcessesOfAKind() {
        var report = status([], [.decode, .decode, .transform])
        // A process ID that no process has, as after an exit.
        report.processes += status([], [.cache], pid: 0x7FFF_FFFF).processes
        var meter = ProcessorMeter(report) { ProcessID($0.pid) }
        meter.start()
        var sum: UInt64 = 0
        let start = MonotonicClock.now()
        while MonotonicClock.now() - start < 50_000_000 { sum &+= MonotonicClock.now() }
        meter.stop(after: 2)
        let costs = meter.microseconds
        #expect(Set(costs.keys) == ["decode", "transform", "client"], "\(sum)")
        #expect((costs["transform"] ?? 0) > 1_000)
        #expect((costs["decode"] ?? 0) > (costs["transform"] ?? 0) * 1.5)
    }

    @Test func memoryIsThatOfEveryProcessAndOfThisOne() {
        let memory = StackMemory.read(status([], [.cache])) { ProcessID($0.pid) }
        #expect(memory.map { $0["kind"] as? String } == ["cache", "client"])
        for one in memory {
            #expect((one["peak_bytes"] as? Int ?? 0) > 1 << 20)
            #expect((one["own_bytes"] as? Int ?? 0) > 1 << 20)
        }
    }

    /// A containerized stack reports process IDs that belong to other processes in this namespace.
    @Test func aProcessOfAnotherNameIsNotLookedAt() {
        #expect(status([], [.decode]).processes.allSatisfy { VisibleProcess.id(of: $0) == nil })
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 31])
    func aReplyIsRightWhereAllItsBytesAre(count: Int) {
        let bytes = (0..<count).map { UInt8($0) }
        func areEqual(_ other: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { a in other.withUnsafeBytes { Bench.areEqual(a, $0) } }
        }
        #expect(areEqual(bytes))
        #expect(!areEqual(bytes + [0]))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(!areEqual(other), "byte \(place)")
        }
    }
}

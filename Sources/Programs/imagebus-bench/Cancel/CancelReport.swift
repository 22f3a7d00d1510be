import Messages
import Reporting

/// What `bench cancel` found; its JSON is one object (SEMANTICS §15.5).
struct CancelReport: BenchReport {
    /// One kind of work.
    struct Stage: Encodable, Sendable {
        let stage: String
        let work: String
        let cancels: UInt64
        let p50: Double
        let p99: Double
        let hardCancels: UInt64
        let target: Double
        let verdict: String

        enum CodingKeys: String, CodingKey {
            case stage, work, cancels, verdict
            case p50 = "p50_ms"
            case p99 = "p99_ms"
            case hardCancels = "hard_cancels"
            case target = "target_ms"
        }

        init(_ phase: CancelPhase, _ cancelled: StatusReport.Cancellations) {
            (stage, work, target) = (phase.stage, phase.work, phase.targetMilliseconds)
            (cancels, hardCancels) = (cancelled.durations.count, cancelled.hard)
            p50 = (cancelled.durations.microseconds(at: 0.5) ?? 0) / 1_000
            p99 = (cancelled.durations.microseconds(at: 0.99) ?? 0) / 1_000
            verdict = cancels == 0 ? "none" : p99 <= target ? "met" : "missed"
        }
    }

    let name = CancelBench.name
    let requests: Int
    let errors: Int
    let rps: Double
    let p50: Double
    let p99: Double
    let bytes: Int
    let stages: [Stage]

    enum CodingKeys: String, CodingKey {
        case name, requests, errors, rps, bytes, stages
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    /// `all` are the cancels of all stages together.
    init(
        _ tally: CancelTally, seconds: Double, all: LatencyHistogram, stages: [Stage]
    ) {
        (requests, errors, bytes, self.stages) = (tally.requests, tally.errors, tally.bytes, stages)
        rps = seconds > 0 ? Double(tally.requests) / seconds : 0
        p50 = (all.microseconds(at: 0.5) ?? 0) / 1_000
        p99 = (all.microseconds(at: 0.99) ?? 0) / 1_000
    }

    /// For people.
    var text: String {
        TextTable.text(
            ["WORK", "STAGE", "CANCELS", "P50 MS", "P99 MS", "HARD", "TARGET MS", "VERDICT"],
            stages.map {
                [
                    $0.work, $0.stage, "\($0.cancels)", TextTable.tenths($0.p50),
                    TextTable.tenths($0.p99), "\($0.hardCancels)", TextTable.tenths($0.target),
                    $0.verdict,
                ]
            }) + "\n\(requests) loads, \(errors) errors\n"
    }
}

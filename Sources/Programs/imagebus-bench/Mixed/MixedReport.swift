import Reporting

/// What `bench mixed` found; its JSON is one object (SEMANTICS §15.5).
struct MixedReport: BenchReport {
    private struct Share: Encodable {
        let work: MixedWork
        let requests: Int
        let errors: Int
        let percent: Double
        let p50: Double
        let p99: Double

        enum CodingKeys: String, CodingKey {
            case work, requests, errors, percent
            case p50 = "p50_ms"
            case p99 = "p99_ms"
        }
    }

    private let loads: LoadReport
    private let shares: [Share]
    private let processors: [String: Double]

    init(
        _ figures: LoadFigures, concurrency: Int, shares: [MixedWork: MixedShare],
        processors: [String: Double]
    ) {
        loads = LoadReport(MixedBench.name, figures, concurrency: concurrency)
        self.processors = processors
        self.shares = MixedWork.allCases.map { work in
            let share = shares[work] ?? MixedShare()
            return Share(
                work: work, requests: share.requests, errors: share.errors,
                percent: Double(share.requests * 100) / Double(max(1, figures.requests)),
                p50: share.latencies.milliseconds(at: 0.5),
                p99: share.latencies.milliseconds(at: 0.99))
        }
    }

    enum CodingKeys: String, CodingKey {
        case shares
        case processors = "cpu_us"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(shares, forKey: .shares)
        try own.encode(processors, forKey: .processors)
    }

    var text: String {
        TextTable.text(LoadReport.header, [loads.row]) + "\n"
            + TextTable.text(
                ["WORK", "LOADS", "ERRORS", "PERCENT", "P50 MS", "P99 MS"],
                shares.map {
                    [
                        $0.work.rawValue, "\($0.requests)", "\($0.errors)",
                        TextTable.tenths($0.percent), LoadReport.thousandths($0.p50),
                        LoadReport.thousandths($0.p99),
                    ]
                })
    }
}

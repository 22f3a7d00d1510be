import Reporting

/// What `bench cold` found; its JSON is one object (SEMANTICS §15.5).
struct ColdReport: BenchReport {
    private let loads: LoadReport
    private let bytesEach: Int
    private let processors: [String: Double]
    private let stages: StageFigures

    init(
        _ figures: LoadFigures, concurrency: Int, bytesEach: Int, processors: [String: Double],
        stages: StageFigures
    ) {
        loads = LoadReport(ColdBench.name, figures, concurrency: concurrency)
        (self.bytesEach, self.processors, self.stages) = (bytesEach, processors, stages)
    }

    enum CodingKeys: String, CodingKey {
        case bytesEach = "bytes_each"
        case processors = "cpu_us"
        case timings = "timings_ms"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(bytesEach, forKey: .bytesEach)
        try own.encode(processors, forKey: .processors)
        try own.encode(stages.medians, forKey: .timings)
    }

    var text: String {
        let costs = processors.sorted { $0.value > $1.value }.map {
            "\($0.key) \(TextTable.tenths($0.value))"
        }
        return TextTable.text(LoadReport.header, [loads.row])
            + "\nprocessor time for each load, us: \(costs.joined(separator: ", "))\n"
            + "stages, median ms: \(stages.text)\n"
    }
}

import Reporting

/// Hits without and with a flood, one after the other.
struct FloodTurn: Sendable {
    let alone: LoadFigures
    let flooded: LoadFigures
    /// Requests without an answer when the hits had ended.
    let queued: Int

    /// How much longer the slowest hundredth of the hits takes under the flood.
    var ratio: Double {
        let p99 = alone.latencies.milliseconds(at: 0.99)
        return p99 > 0 ? flooded.latencies.milliseconds(at: 0.99) / p99 : 0
    }
}

/// What `bench flood` found; its JSON is one object (SEMANTICS §15.5): the hits under the flood,
/// and beside them those without.
struct FloodReport: BenchReport {
    /// The most by which a flood may raise another client's p99.
    static let ratioMax = 3.0

    private let flooded: LoadReport
    private let alone: LoadReport
    private let queued: Int
    /// The median of the turns.
    private let ratio: Double

    init(_ turns: [FloodTurn], concurrency: Int) {
        func report(_ name: String, _ figures: (FloodTurn) -> LoadFigures) -> LoadReport {
            let all = turns.reduce(into: LoadFigures()) { $0.append(figures($1)) }
            return LoadReport(name, all, concurrency: concurrency)
        }
        flooded = report(FloodBench.name, \.flooded)
        alone = report("alone", \.alone)
        queued = turns.map(\.queued).min() ?? 0
        let ratios = turns.map(\.ratio).sorted()
        ratio = ratios.isEmpty ? 0 : ratios[ratios.count / 2]
    }

    private var verdict: String {
        ratio == 0 ? "none" : ratio <= Self.ratioMax ? "met" : "missed"
    }

    enum CodingKeys: String, CodingKey {
        case alone, queued, verdict
        case ratio = "p99_ratio"
        case ratioMax = "p99_ratio_max"
    }

    func encode(to encoder: any Encoder) throws {
        try flooded.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(alone, forKey: .alone)
        try own.encode(queued, forKey: .queued)
        try own.encode(ratio, forKey: .ratio)
        try own.encode(Self.ratioMax, forKey: .ratioMax)
        try own.encode(verdict, forKey: .verdict)
    }

    var text: String {
        TextTable.text(LoadReport.header, [alone.row, flooded.row])
            + "\n\(queued) requests of another client waited; p99 is "
            + "\(TextTable.tenths(ratio)) times as long (median of the turns), "
            + "at most \(TextTable.tenths(Self.ratioMax)): \(verdict)\n"
    }
}

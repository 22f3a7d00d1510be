import Messages

/// How long loads were in each stage.
struct StageFigures: Sendable {
    private static let stages: [(name: String, time: @Sendable (StageTimings) -> Double)] = [
        ("queue", { $0.queue }), ("query", { $0.query }), ("fetch", { $0.fetch }),
        ("decode", { $0.decode }), ("transform", { $0.transform }), ("store", { $0.store }),
        ("total", { $0.total }),
    ]

    private var counts = [LatencyCounts](repeating: LatencyCounts(), count: stages.count)

    mutating func record(_ timings: StageTimings) {
        for (place, stage) in Self.stages.enumerated() {
            counts[place].record(nanoseconds: UInt64(max(0, stage.time(timings)) * 1e6))
        }
    }

    /// Milliseconds by the name of the stage.
    var medians: [String: Double] {
        Dictionary(
            zip(Self.stages.map(\.name), counts.map { $0.milliseconds(at: 0.5) }),
            uniquingKeysWith: { first, _ in first })
    }

    /// For people.
    var text: String {
        zip(Self.stages, counts).map { stage, counts in
            "\(stage.name) \(LoadReport.thousandths(counts.milliseconds(at: 0.5)))"
        }.joined(separator: ", ")
    }
}

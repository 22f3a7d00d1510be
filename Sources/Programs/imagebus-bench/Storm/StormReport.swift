import Reporting

/// What `bench storm` found; its JSON is one object (SEMANTICS §15.5).
struct StormReport: BenchReport {
    private let one: StormFigures
    private let many: StormFigures?

    init(_ one: StormFigures, many: StormFigures?) {
        (self.one, self.many) = (one, many)
    }

    enum CodingKeys: String, CodingKey {
        case name, many
    }

    func encode(to encoder: any Encoder) throws {
        try one.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(StormBench.name, forKey: .name)
        try own.encodeIfPresent(many, forKey: .many)
    }

    var text: String {
        let storms = [one] + (many.map { [$0] } ?? [])
        return TextTable.text(StormFigures.header, storms.map(\.row))
            + storms.map { "\n" + Self.memory($0) }.joined()
    }

    private static func memory(_ figures: StormFigures) -> String {
        TextTable.text(
            ["PROCESS", "PID", "PEAK", "ITS OWN THEN"],
            figures.memory.map {
                [$0.kind, "\($0.pid)", ByteText.text($0.peak), ByteText.text($0.own)]
            })
    }
}

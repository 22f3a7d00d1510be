package import Messages

extension StageTimings {
    /// The field `Server-Timing` (W3C Server Timing): stages that took time, in milliseconds.
    package var serverTiming: String {
        let stages = [
            ("queue", queue), ("query", query), ("fetch", fetch), ("decode", decode),
            ("transform", transform), ("store", store),
        ].filter { $0.1 > 0 }
        return (stages + [("total", total)]).map { "\($0.0);dur=\(Self.tenths($0.1))" }
            .joined(separator: ", ")
    }

    private static func tenths(_ milliseconds: Double) -> String {
        let tenths = Int((min(max(0, milliseconds), 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

package import Model

extension StageTimings {
    /// The times by their names in the output.
    package static var parts: [(name: String, path: WritableKeyPath<StageTimings, Double>)] {
        [
            ("queue", \.queue), ("query", \.query), ("fetch", \.fetch), ("decode", \.decode),
            ("transform", \.transform), ("store", \.store), ("total", \.total),
        ]
    }
}

import Reporting

/// What `bench hit` found; its JSON is one object (SEMANTICS §15.5).
struct HitReport: BenchReport {
    let loads: LoadReport
    /// Through tasks on the client's executor, beside it; nil: not measured.
    let onExecutor: LoadReport?
    /// The same through tasks that run anywhere.
    let tasks: LoadReport?
    /// Processor time of all threads for each hit; without those of tasks.
    let coordinatorMicroseconds: Double?
    let clientMicroseconds: Double?

    init(
        _ figures: LoadFigures, onExecutor: LoadFigures?, tasks: LoadFigures?, concurrency: Int,
        coordinatorMicroseconds: Double?, clientMicroseconds: Double?
    ) {
        loads = LoadReport(HitBench.name, figures, concurrency: concurrency)
        self.onExecutor = onExecutor.map {
            LoadReport("hit (executor)", $0, concurrency: concurrency)
        }
        self.tasks = tasks.map { LoadReport("hit (async)", $0, concurrency: concurrency) }
        self.coordinatorMicroseconds = coordinatorMicroseconds
        self.clientMicroseconds = clientMicroseconds
    }

    enum CodingKeys: String, CodingKey {
        case onExecutor = "executor"
        case tasks = "async"
        case coordinatorMicroseconds = "coordinator_us"
        case clientMicroseconds = "client_us"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encodeIfPresent(onExecutor, forKey: .onExecutor)
        try own.encodeIfPresent(tasks, forKey: .tasks)
        try own.encodeIfPresent(coordinatorMicroseconds, forKey: .coordinatorMicroseconds)
        try own.encodeIfPresent(clientMicroseconds, forKey: .clientMicroseconds)
    }

    var text: String {
        TextTable.text(
            LoadReport.header, [loads, onExecutor, tasks].compactMap { $0?.row })
            + "\nprocessor time for each hit: coordinator \(Self.text(coordinatorMicroseconds)), "
            + "client \(Self.text(clientMicroseconds))\n"
    }

    private static func text(_ microseconds: Double?) -> String {
        microseconds.map { TextTable.tenths($0) + " us" } ?? "unknown"
    }
}

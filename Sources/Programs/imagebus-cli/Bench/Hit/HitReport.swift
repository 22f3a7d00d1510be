/// What `bench hit` found; its JSON is one object (DESIGN §11).
struct HitReport: BenchReport {
    let loads: LoadReport
    /// One at a time through a task, beside the blocking call.
    let tasks: LoadReport?
    /// Processor time of all threads for each hit.
    let coordinatorMicroseconds: Double?
    let clientMicroseconds: Double?

    init(
        _ figures: LoadFigures, concurrency: Int, coordinatorMicroseconds: Double?,
        clientMicroseconds: Double?, tasks: LoadFigures? = nil
    ) {
        loads = LoadReport(HitBench.name, figures, concurrency: concurrency)
        self.tasks = tasks.map { LoadReport("hit (async)", $0, concurrency: concurrency) }
        self.coordinatorMicroseconds = coordinatorMicroseconds
        self.clientMicroseconds = clientMicroseconds
    }

    enum CodingKeys: String, CodingKey {
        case tasks = "async"
        case coordinatorMicroseconds = "coordinator_us"
        case clientMicroseconds = "client_us"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encodeIfPresent(tasks, forKey: .tasks)
        try own.encodeIfPresent(coordinatorMicroseconds, forKey: .coordinatorMicroseconds)
        try own.encodeIfPresent(clientMicroseconds, forKey: .clientMicroseconds)
    }

    var text: String {
        let rows = [loads.row] + (tasks.map { [$0.row] } ?? [])
        return StatusTable.table(LoadReport.header, rows)
            + "\nprocessor time for each hit: coordinator \(Self.text(coordinatorMicroseconds)), "
            + "client \(Self.text(clientMicroseconds))\n"
    }

    private static func text(_ microseconds: Double?) -> String {
        microseconds.map { StatusTable.tenths($0) + " us" } ?? "unknown"
    }
}

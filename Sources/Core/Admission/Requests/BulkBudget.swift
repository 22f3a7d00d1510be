/// How much of what concerns many requests one event may do.
struct BulkBudget {
    /// Steps that end a request, or tell a client.
    private var longLeft: Int
    /// Steps of all kinds.
    private var left: Int

    init(_ limits: SchedulerLimits) {
        longLeft = limits.bulkStepsMax
        left = limits.bulkMovesMax
    }

    var isSpent: Bool { longLeft <= 0 || left <= 0 }

    mutating func spend(isLong: Bool) {
        left -= 1
        if isLong { longLeft -= 1 }
    }
}

import Tables

/// Requests that are to go on.
struct Agenda: Sendable {
    /// What concerns many requests, and is not done to all of them.
    var bulk = Fifo<BulkWork>()
    /// Requests on their way to their next node; they move once nothing is being torn down.
    var moving = Fifo<Move>()

    var isEmpty: Bool { bulk.count == 0 && moving.count == 0 }
}

import ImageModel
import Messages
import Tables

/// One query of a result's key, for all who ask the same tiers for it.
struct LookupNode: Node {
    /// What is asked; equal queries are one.
    let query: QueryWork
    var waiters = WaiterList<Waiter>()
    var job: JobID
    /// Of the request that began it.
    let trace: TraceContext?
    var key: String { query.key }
    /// The key was stored while the question was under way: a miss means nothing then.
    private(set) var isOvertaken = false
    /// What was stored replaced another result: a hit may be the old one.
    private(set) var isOutdated = false

    /// Its key was stored by somebody.
    mutating func overtake() { isOvertaken = true }

    /// What its key had was replaced.
    mutating func outdate() { isOutdated = true }

    /// It is asked again.
    mutating func askAgain(_ job: JobID) {
        self.job = job
        isOvertaken = false
        isOutdated = false
    }
}

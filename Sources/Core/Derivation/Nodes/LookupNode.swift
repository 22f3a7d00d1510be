import ImageModel
import Messages
import Tables

/// One query of a result's key, for all waiters that ask the same tiers for it.
struct LookupNode: Node {
    typealias Provider = LookupNode
    static var table: WritableKeyPath<Deriver, NodeTable<LookupNode>> { \.lookups }

    /// What is asked; equal queries are one.
    let query: QueryWork
    var consumers = WaiterList<Waiter>()
    private(set) var job: JobID?
    /// Of the request that began it.
    let logContext: LogContext
    var key: String { query.key }
    /// The key was stored while the question was under way: a miss means nothing then.
    private(set) var isOvertaken = false
    /// What was stored replaced another result: a hit may be the old one.
    private(set) var isOutdated = false

    init(query: QueryWork, _ logContext: LogContext) {
        self.query = query
        self.logContext = logContext
    }

    /// Its key was stored by somebody.
    mutating func overtake() { isOvertaken = true }

    /// What its key had was replaced.
    mutating func outdate() { isOutdated = true }

    /// It is asked, or asked again.
    mutating func asked(_ job: JobID) {
        self.job = job
        isOvertaken = false
        isOutdated = false
    }

    var remains: Remains { .nothing }
}

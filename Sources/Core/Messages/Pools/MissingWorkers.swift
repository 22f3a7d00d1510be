/// A pool of which no worker is connected: the jobs that it gets wait until one is.
package struct MissingWorkers: Hashable, Sendable, CustomStringConvertible {
    /// The pool.
    package let pool: PoolName
    private let kind: WorkerKind
    /// Whether its workers are somebody else's program.
    package let isForeign: Bool

    /// Of that pool none is connected.
    package init(_ pool: PoolName, kind: WorkerKind, isForeign: Bool) {
        (self.pool, self.kind, self.isForeign) = (pool, kind, isForeign)
    }

    /// One sentence, which says what to do.
    package var description: String { "no worker of the pool '\(pool)' is connected: \(advice)" }

    private var advice: String {
        guard !isForeign else {
            return "start one; it is somebody else's program, and connects at back/\(pool)"
        }
        guard pool != PoolName(kind) else {
            return "start one with imagebus serve, or with serve --only \(kind.name) where each "
                + "kind is served apart"
        }
        return "start one with imagebus serve, whose configuration says how many, or with serve "
            + "--only \(kind.name) --pool \(pool) where each kind is served apart"
    }
}

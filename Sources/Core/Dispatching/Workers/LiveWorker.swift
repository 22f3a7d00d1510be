package import Messages

/// A worker that is connected.
package struct LiveWorker: Sendable {
    package let kind: WorkerKind
    package let pool: PoolID
    /// Jobs that it takes at a time, queued in it or running; an outcome frees its place.
    package internal(set) var window: Int
    /// Jobs that it holds, cancelled ones included until their outcome.
    package internal(set) var jobs = 0
    /// Those among them that it was told are of class low, without expendable ones.
    private(set) var lowJobs = 0
    /// Those among them that are expendable.
    private(set) var expendableJobs = 0
    package internal(set) var isDraining = false

    init(kind: WorkerKind, pool: PoolID, window: Int) {
        self.kind = kind
        self.pool = pool
        self.window = window
    }

    /// So many more, or fewer, jobs count as that.
    mutating func count(_ change: Int, as share: PlaceShare) {
        switch share {
        case .full: break
        case .low: lowJobs += change
        case .expendable: expendableJobs += change
        }
    }

    /// How many more jobs it takes.
    var free: Int { isDraining ? 0 : max(0, window - jobs) }
}

import Messages

/// A worker that is connected.
struct LiveWorker: Sendable {
    let kind: WorkerKind
    /// Jobs that it takes at a time, queued in it or running; an outcome frees its place.
    var window: Int
    /// Jobs that it holds, cancelled ones included until their outcome.
    var jobs = 0
    /// Those among them that it was told are of class low.
    var lowJobs = 0
    var isDraining = false

    init(kind: WorkerKind, window: Int) {
        self.kind = kind
        self.window = window
    }

    /// How many more jobs it takes.
    var free: Int { isDraining ? 0 : max(0, window - jobs) }
}

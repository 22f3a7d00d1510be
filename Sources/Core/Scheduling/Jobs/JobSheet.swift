import Messages

/// What a worker is to do, written once and shared by every attempt.
final class JobSheet: Sendable {
    let work: JobWork
    let kind: WorkerKind
    let stage: JobStage
    /// In the unit of its stage.
    let cost: UInt64
    /// Where a transfer goes.
    let host: HostName?

    init(_ work: JobWork, host: HostName? = nil) {
        self.work = work
        kind = work.kind
        stage = work.stage
        cost = work.cost
        self.host = host
    }
}

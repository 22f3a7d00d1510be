package import Messages

/// What a worker is to do, written once and shared by every attempt.
package final class JobSpec: Sendable {
    package let work: JobWork
    package let kind: WorkerKind
    package let stage: JobStage
    /// In the unit of its stage.
    package let cost: UInt64
    /// Where a transfer goes.
    package let host: HostName?

    package init(_ work: JobWork, host: HostName? = nil) {
        self.work = work
        kind = work.kind
        stage = work.stage
        cost = work.cost
        self.host = host
    }
}

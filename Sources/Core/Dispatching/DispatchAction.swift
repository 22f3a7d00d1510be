package import ImageModel
package import Messages

/// What a worker is to be told.
package indirect enum DispatchAction: Sendable {
    /// Give a job to a worker.
    case assign(WorkerID, Job)
    /// Tell a worker that nobody wants a job any more.
    case cancelJob(WorkerID, JobID)
    /// Tell a worker the new deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Tell a producer that blocks are free; at once, or together with what it is told next.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// End a session: its worker broke the protocol.
    case expel(WorkerID, ImageError)
}

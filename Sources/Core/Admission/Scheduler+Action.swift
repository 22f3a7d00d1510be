public import ImageModel
public import Messages

/// What the runtime is to do, in order.
public indirect enum SchedulerAction: Hashable, Sendable {
    /// Give a job to a worker.
    case assign(WorkerID, Job)
    /// Tell a worker that nobody wants a job any more.
    case cancelJob(WorkerID, JobID)
    /// Tell a worker the new deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Tell a producer that blocks are free; at once, or together with what it is told next.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// Tell the cache what was used.
    case touched(WorkerID, [BlockID])
    /// End a session: its worker broke the protocol.
    case expel(WorkerID, ImageError)
    /// Answer a request for good.
    case reply(ClientID, Reply)
    /// Say in the log how a request ended; its reply comes before.
    case record(RequestRecord)
    /// Tell a client how far a request is.
    case progress(ClientID, RequestProgress)
    /// Tell a client how far a batch is; a final report is the last word about it.
    case prefetched(ClientID, PrefetchReport)
    /// Tell a client that a batch is not done, as the last word about it.
    case refused(ClientID, ImageError, Token)
    /// Answer an operator.
    case blacklist(ClientID, BlacklistReport)
    /// Answer an operator about an entry.
    case cache(ClientID, CacheReport)
    /// Everything admitted has ended after `drain`.
    case drained
}

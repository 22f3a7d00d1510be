public import ImageModel

/// What the coordinator says to a worker (PROTOCOL §8.1).
public enum WorkerCommand: Hashable, Sendable {
    /// Answers `hello`.
    case welcome(WorkerWelcome)
    /// The sender is unknown: introduce yourself first.
    case helloRequired
    /// Do this.
    case job(Job)
    /// New deadline or class of a job.
    case adjust(JobAdjustment)
    /// Nobody wants this any more. Answered by the job's outcome, which may cross it.
    case cancelJob(JobID)
    /// These blocks are free, or, for the cache, no receiver reads them any more.
    case release([BlockID])
    /// Cache: these blocks were used; in batches.
    case touched([BlockID])
    /// Cache: what the configuration sets of the caches, all of it.
    case cacheSettings([NamedCacheSettings])
    /// Download: what the configuration sets of transfers, all of it.
    case downloadSettings(DownloadSettings)
    /// Take nothing new, finish what you have, write what is unwritten, end.
    case drain
    /// The session is over: you broke the protocol.
    case refused(ImageError)
}

/// The coordinator accepts a worker.
public struct WorkerWelcome: Hashable, Sendable {
    /// This life of the coordinator. Under another epoch than before a worker abandons its jobs and
    /// frees every block held for the old one.
    public var epoch: Epoch

    /// An acceptance.
    public init(epoch: Epoch) { self.epoch = epoch }
}

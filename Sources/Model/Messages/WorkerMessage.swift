/// A message from a worker to the coordinator (PROTOCOL §8.1).
public enum WorkerMessage: Hashable, Sendable {
    /// The first message after every handshake.
    case hello(WorkerHello)
    /// Increases the number of concurrent jobs by this amount. An outcome frees the credit of its
    /// job implicitly.
    case credit(UInt32)
    /// Announces new segments, before any reference into them.
    case segmentsOpened([SegmentAnnouncement])
    /// Announces that segments were unlinked.
    case segmentsClosed([SegmentAnnouncement])
    /// Reports the progress of a job.
    case progress(JobProgress)
    /// Reports the outcome of a job.
    case outcome(JobOutcome)
    /// Cache: an entry was stored in memory and can be served from now on.
    case stored(StoredNotice)
    /// Cache: these blocks of `results/` no longer hold their keys.
    case evicted([BlockID])
    /// Cache: usage and disk state, about once per second if changed.
    case cacheStatus(CacheStatus)
    /// Announces that the worker exits.
    case goodbye(GoodbyeReason)
}

/// The introduction of a worker.
public struct WorkerHello: Hashable, Sendable {
    /// The incarnation of the process, which is part of the names of its segments.
    public var incarnation: Incarnation
    /// The process ID, for people.
    public var pid: UInt32
    /// The number of restarts by its supervisor, for people.
    public var restarts: UInt32
    /// The program version, for people.
    public var version: String
    /// The initial number of concurrent jobs.
    public var credit: UInt32
    /// The active sandbox layers.
    public var sandbox: SandboxLayers
    /// The secret that proves that it was started by the coordinator's supervisor; nil if it
    /// received none.
    public var secret: ListenerSecret?
    /// The supported capabilities. The worker is used for those also granted to its pool; a `nil`
    /// list means everything granted.
    public var capabilities: WorkerCapabilities
    /// Whether the worker reads `Job.released`; otherwise releases are sent as separate messages.
    public var takesReleases: Bool

    /// Creates an introduction.
    public init(
        incarnation: Incarnation, pid: UInt32, restarts: UInt32, version: String, credit: UInt32,
        sandbox: SandboxLayers = [], secret: ListenerSecret? = nil,
        capabilities: WorkerCapabilities = .all, takesReleases: Bool = false
    ) {
        self.takesReleases = takesReleases
        self.incarnation = incarnation
        self.pid = pid
        self.restarts = restarts
        self.version = version
        self.credit = credit
        self.sandbox = sandbox
        self.secret = secret
        self.capabilities = capabilities
    }
}

/// The progress of a job.
public struct JobProgress: Hashable, Sendable {
    /// The job.
    public var id: JobID
    /// The attempt.
    public var attempt: UInt32
    /// Bytes received so far.
    public var received: UInt64
    /// Total bytes; 0 if the origin did not state them (SEMANTICS §10.5).
    public var expected: UInt64
    /// The bytes received so far, if requested: under a separate block ID, though they are in the
    /// block in which the body grows. The next update follows when this one has been released.
    public var arrived: BlockReference?
    /// The format of the received bytes, by their signature.
    public var format: ImageFormat?
    /// Whether the received bytes are a complete preview image rather than the beginning of the
    /// final one.
    public var isPreview: Bool

    /// Creates a progress report.
    public init(
        id: JobID, attempt: UInt32, received: UInt64, expected: UInt64,
        arrived: BlockReference? = nil, format: ImageFormat? = nil, isPreview: Bool = false
    ) {
        self.isPreview = isPreview
        self.id = id
        self.attempt = attempt
        self.received = received
        self.expected = expected
        self.arrived = arrived
        self.format = format
    }
}

/// An entry of the memory tier that the coordinator may serve by itself.
public struct StoredNotice: Hashable, Sendable {
    /// The stored text of the cache key.
    public var key: String
    /// The bytes in `results/`.
    public var reference: BlockReference
    /// The properties of the image.
    public var info: ImageInfo
    /// Milliseconds until the entry expires; `nil` if only eviction ends it.
    public var expiresInMilliseconds: UInt64?
    /// The caching information of its origin; `nil` if unknown.
    public var validity: Validity?
    /// The digest of its bytes; `nil` if unknown.
    public var digest: ContentDigest?

    /// Creates a notice.
    public init(
        key: String, reference: BlockReference, info: ImageInfo, expiresInMilliseconds: UInt64?,
        validity: Validity? = nil
    ) {
        self.validity = validity
        self.key = key
        self.reference = reference
        self.info = info
        self.expiresInMilliseconds = expiresInMilliseconds
    }
}

/// Why a worker exits.
public enum GoodbyeReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The worker was drained.
    case drained = 0
    /// Native code did not respond to a cancellation within the grace period.
    case cancelledHard = 1
    /// The worker reached its limit of jobs or memory; a new process replaces it.
    case recycled = 2
    /// The supervisor terminated it.
    case terminated = 3
}

/// A message from the coordinator to a worker (PROTOCOL §8.1).
public enum WorkerCommand: Hashable, Sendable {
    /// The answer to `hello`.
    case welcome(WorkerWelcome)
    /// The sender is unknown and must introduce itself first.
    case helloRequired
    /// Assigns a job.
    case job(Job)
    /// Changes the deadline or priority class of a job.
    case adjust(JobAdjustment)
    /// Cancels a job. Answered by the job's outcome, which may already be in flight.
    case cancelJob(JobID)
    /// Releases blocks: they are free, or, for the cache, no recipient reads them any more.
    case release([BlockID])
    /// Cache: these blocks were used; sent in batches.
    case touched([BlockID])
    /// Cache: the complete configuration of the caches.
    case cacheSettings([NamedCacheSettings])
    /// Download: the complete configuration of transfers.
    case downloadSettings(DownloadSettings)
    /// Drains the worker: accept no jobs, finish the current ones, complete pending writes, exit.
    case drain
    /// Ends the session because of a protocol violation.
    case refused(ImageError)
}

/// The acceptance of a worker.
public struct WorkerWelcome: Hashable, Sendable {
    /// The epoch of the coordinator. If it has changed, the worker abandons its jobs and frees
    /// every block held for the old one.
    public var epoch: Epoch

    /// Creates an acceptance.
    public init(epoch: Epoch) { self.epoch = epoch }
}

/// A record of a worker's abnormal exit, written by its crash handler, by itself, or by the
/// watchdog of its loop.
///
/// The process is not trusted: the record is accepted only for a job that this process held.
public struct CrashRecord: Hashable, Sendable {
    /// The only job that it held or worked on; `nil` if there was none, or several.
    public var job: JobID?
    /// The attempt of that job.
    public var attempt: UInt32
    /// The cause.
    public var cause: Cause

    /// The cause of an abnormal exit.
    public enum Cause: Hashable, Sendable {
        /// A signal raised in the process, such as 11 for SIGSEGV.
        case signal(Int32)
        /// Its loop stalled, and `serve` killed it.
        case stoodStill
        /// Its native code used more resources than any image needs and did not respond to a
        /// cancellation, so it exited.
        case didNotStop
        /// The same without exceeding the processor time that any image needs.
        case cancelledHard
    }

    /// Creates a record.
    public init(job: JobID?, attempt: UInt32, cause: Cause) {
        self.job = job
        self.attempt = attempt
        self.cause = cause
    }

    /// Creates a record of a crash.
    public init(job: JobID?, attempt: UInt32, signal: Int32) {
        self.init(job: job, attempt: attempt, cause: .signal(signal))
    }
}

extension CrashRecord.Cause: CustomStringConvertible {
    /// The description for the log.
    public var description: String {
        switch self {
        case .signal(let number): "signal \(number)"
        case .stoodStill: "its event loop stalled"
        case .didNotStop: "it exceeded a resource limit and ignored the request to stop"
        case .cancelledHard: "it ignored the request to stop"
        }
    }
}

public import ImageModel

/// What a worker says to the coordinator (PROTOCOL §8.1).
public enum WorkerMessage: Hashable, Sendable {
    /// First after every handshake.
    case hello(WorkerHello)
    /// Takes that many more jobs at a time than it said before. An outcome frees its job's place
    /// without a word.
    case credit(UInt32)
    /// Made these segments; before any reference into them.
    case segmentsOpened([SegmentAnnouncement])
    /// Unlinked these segments.
    case segmentsClosed([SegmentAnnouncement])
    /// How far a job is.
    case progress(JobProgress)
    /// The end of a job.
    case outcome(JobOutcome)
    /// Cache: answers this key from memory from now on.
    case stored(StoredNotice)
    /// Cache: these blocks of `results/` hold their keys no longer.
    case evicted([BlockID])
    /// Cache: what it keeps and how its disk is; about once a second, where that has changed.
    case cacheStatus(CacheStatus)
    /// Ends by itself.
    case goodbye(GoodbyeReason)
}

/// A worker introduces itself.
public struct WorkerHello: Hashable, Sendable {
    /// This life of the process; names its segments.
    public var incarnation: Incarnation
    /// Its process id, for people.
    public var pid: UInt32
    /// How often its supervisor restarted it, for people.
    public var restarts: UInt32
    /// Program version, for people.
    public var version: String
    /// Jobs at a time at first.
    public var credit: UInt32
    /// What it cannot do any more.
    public var sandbox: SandboxLayers
    /// What shows that its supervisor is that of the coordinator; nil where it was given none.
    public var secret: ListenerSecret?
    /// What it can do. It takes part with as much of it as its pool is granted; lists that it does
    /// not name are all of that.
    public var capabilities: WorkerCapabilities
    /// Whether it reads `Job.released`; to others releases go by themselves.
    public var takesReleases: Bool

    /// An introduction.
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

/// How far a job is.
public struct JobProgress: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Which attempt.
    public var attempt: UInt32
    /// Bytes so far.
    public var received: UInt64
    /// Bytes in all; 0 where the origin did not say (SEMANTICS §10.5).
    public var expected: UInt64
    /// What has arrived, where somebody wants to look at it: under a block id of its own, though
    /// the bytes are those that the body grows in. The next one comes once this one was released.
    public var arrived: BlockReference?
    /// What the bytes that have arrived look like, by their signature.
    public var format: ImageFormat?
    /// Whether what has arrived is a whole image that stands in for the one to come, and not the
    /// first bytes of that.
    public var isPreview: Bool

    /// Describes progress.
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

/// An entry of the memory tier that the coordinator may answer by itself.
public struct StoredNotice: Hashable, Sendable {
    /// The text of the cache key.
    public var key: String
    /// The bytes in `results/`.
    public var reference: BlockReference
    /// What they are.
    public var info: ImageInfo
    /// Milliseconds for which it may be used; `nil` until it is evicted.
    public var expiresInMilliseconds: UInt64?
    /// What is known of its origin's answer; `nil` where nothing is.
    public var validity: Validity?
    /// Of its bytes; `nil` where that is not known.
    public var digest: ContentDigest?

    /// Describes an entry.
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

/// Why a worker ends.
public enum GoodbyeReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Drained.
    case drained = 0
    /// Native code did not heed a cancel within the grace.
    case cancelledHard = 1
    /// Enough jobs or memory; a fresh process takes over.
    case recycled = 2
    /// Its supervisor told it to.
    case terminated = 3
}

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

/// What is written down of a worker's end that it brought upon itself: by its fault handler, by
/// itself, or by who watches its loop.
///
/// The word of a process that is not trusted: it counts only for a job that this very process held.
public struct CrashRecord: Hashable, Sendable {
    /// The one job that it held, or worked on; `nil` where it held none, or several.
    public var job: JobID?
    /// The attempt of that job.
    public var attempt: UInt32
    /// How it ended.
    public var cause: Cause

    /// How a worker brings its end about.
    public enum Cause: Hashable, Sendable {
        /// A signal of its own, such as 11 for SIGSEGV.
        case signal(Int32)
        /// Its loop stood still, and `serve` killed it.
        case stoodStill
        /// Its native code used more than any image takes, ran on after it was told to stop, and it
        /// ended itself.
        case didNotStop
        /// The same of one that had not used as much of the processors as no image takes.
        case cancelledHard
    }

    /// Describes an end.
    public init(job: JobID?, attempt: UInt32, cause: Cause) {
        self.job = job
        self.attempt = attempt
        self.cause = cause
    }

    /// Describes a crash.
    public init(job: JobID?, attempt: UInt32, signal: Int32) {
        self.init(job: job, attempt: attempt, cause: .signal(signal))
    }
}

extension CrashRecord.Cause: CustomStringConvertible {
    /// For the log.
    public var description: String {
        switch self {
        case .signal(let number): "signal \(number)"
        case .stoodStill: "its loop stood still"
        case .didNotStop: "it used too much and did not stop when it was told to"
        case .cancelledHard: "it did not stop when it was told to"
        }
    }
}

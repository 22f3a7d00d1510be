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

/// The first frame of every message: 8 fixed bytes, permanently frozen (PROTOCOL §3): `I` `B` `U`
/// `S`, major version, kind, flags, 0. Messages of foreign programs and old versions are rejected
/// by it without further parsing.
public struct FrameHeader: Hashable, Sendable {
    /// The protocol's major version.
    public var version: UInt8
    /// The message in the second frame.
    public var kind: MessageKind
    /// No flag is defined in version 1; receivers ignore unknown ones.
    public var flags: UInt8

    /// The size in bytes of the frame.
    public static let byteCount = 8
    /// The protocol version of this code, both the lowest and the highest supported.
    public static let currentVersion: UInt8 = 1

    /// Creates a header of the current version.
    public init(kind: MessageKind, version: UInt8 = currentVersion, flags: UInt8 = 0) {
        self.version = version
        self.kind = kind
        self.flags = flags
    }
}

/// Message kinds, named as their messages in the protocol unless a comment gives another name.
/// Numbers are part of the protocol and never reused.
public enum MessageKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Rejection of a version, fixed bytes.
    case versions = 0
    case workerHello = 1
    case workerWelcome = 2
    /// An empty message.
    case helloRequired = 3
    case credit = 4
    case job = 5
    case adjustJob = 6
    case progress = 7
    case outcome = 9
    case cancelJob = 10
    case release = 11
    case stored = 12
    case evicted = 13
    case touched = 14
    case drain = 15
    case goodbye = 16
    /// `Segments`, opened
    case segmentsOpened = 17
    /// `Segments`, closed
    case segmentsClosed = 18
    case refused = 19
    case cacheStatus = 20
    case cacheSettings = 21
    case downloadSettings = 22
    case clientHello = 32
    case clientWelcome = 33
    case load = 34
    case cancel = 35
    case status = 36
    /// `BlacklistCommand`
    case failureCacheCommand = 37
    /// `Piece`
    case chunk = 38
    case taken = 39
    case event = 40
    case reply = 41
    case statusReport = 42
    /// `BlacklistReport`
    case failureCacheReport = 43
    case drainCommand = 44
    case drainReport = 45
    /// `Reprioritise`
    case reprioritize = 46
    case prefetch = 47
    case prefetchReport = 48
    case cacheCommand = 49
    case cacheReport = 50
    /// `DownloadCommand`
    case downloadsCommand = 53
    case used = 54
    /// `Batch` of `Load`
    case loads = 55
    /// `Batch` of `Reply`
    case replies = 56
}

/// Limits of messages (PROTOCOL §2, §7).
public enum MessageLimits {
    /// `MAXMSGSIZE` of the sockets in `back/`, small enough that no payload can be sent there by
    /// mistake.
    public static let backFrameBytesMax = 32 * 1024
    /// `MAXMSGSIZE` of the sockets in `front/` and `admin/`.
    public static let frontFrameBytesMax = 96 * 1024
    /// The maximum number of frames per message.
    public static let framesMax = 3
    /// The maximum number of bytes of an inline payload.
    public static let inlineBytesMax = 4 * 1024
    /// The maximum number of IDs in one `Release`, `Touched` or `Evicted`, and in `Job.released`.
    public static let idsMax = 1024
    /// The maximum number of blocks that one outcome transfers: their references and pixel layouts
    /// fit into a frame in `back/`.
    public static let blocksPerOutcomeMax = 64
    /// The maximum number of segments in one announcement.
    public static let segmentsMax = 256
    /// The maximum number of details of an error.
    public static let detailsMax = 16
    /// The maximum number of bytes of an error's message and of each detail.
    public static let textBytesMax = 1024
    /// The maximum number of bytes of a cache key: a URL and all suffixes.
    public static let keyBytesMax = 12 * 1024
    /// The maximum number of bytes of each forwarded header of the origin.
    public static let originHeaderBytesMax = 1024
    /// The maximum number of permitted source patterns sent with a fetch.
    public static let sourcesMax = 64
    /// The maximum total size of these patterns in bytes.
    public static let sourcesBytesMax = 4 * 1024
    /// The maximum number of entries in one report of the failure cache.
    public static let failureCacheEntriesMax = 256
    /// The maximum total size of their URLs in bytes.
    public static let failureCacheBytesMax = 48 * 1024
    /// The maximum number of payload bytes in one chunk: the whole frame stays below 64 KB.
    public static let chunkBytesMax = 60 * 1024
    /// The maximum number of unacknowledged chunk bytes in flight to or from one client.
    public static let chunkWindowBytes = 4 << 20
    /// The maximum number of URLs in one part of a prefetch; also limited by the size of a frame.
    public static let prefetchURLsMax = 1_024
    /// The maximum number of loads or replies in one message.
    public static let batchMax = 64
    /// The maximum body size of each of them in bytes: a full batch fits into a frame.
    public static let batchedBodyBytesMax = 1_200
    /// The maximum number of unanswered loads of one client.
    public static let windowMax = 4_096
}

/// The version of all programs and of the client library, which are released together.
public enum ProductVersion {
    /// Semantic version.
    public static let text = "0.9.0"
}

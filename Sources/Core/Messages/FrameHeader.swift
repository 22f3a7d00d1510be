/// The first frame of every message: 8 fixed bytes, frozen for ever (PROTOCOL §3):
/// `I` `B` `U` `S`, major version, kind, flags, 0. A stranger or an old version is refused by it
/// without parsing anything.
public struct FrameHeader: Hashable, Sendable {
    /// The protocol's major version.
    public var version: UInt8
    /// Which message the second frame holds.
    public var kind: MessageKind
    /// No flag is defined in version 1; receivers ignore unknown ones.
    public var flags: UInt8

    /// Bytes of the frame.
    public static let byteCount = 8
    /// The version that this code speaks, lowest and highest.
    public static let currentVersion: UInt8 = 1

    /// A header of the current version.
    public init(kind: MessageKind, version: UInt8 = currentVersion, flags: UInt8 = 0) {
        self.version = version
        self.kind = kind
        self.flags = flags
    }
}

/// Message kinds; numbers are part of the protocol and never reused.
public enum MessageKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Refusal of a version, fixed bytes.
    case versions = 0
    /// `WorkerHello`
    case workerHello = 1
    /// `WorkerWelcome`
    case workerWelcome = 2
    /// Empty
    case helloRequired = 3
    /// `Credit`
    case credit = 4
    /// `Job`
    case job = 5
    /// `AdjustJob`
    case adjustJob = 6
    /// `Progress`
    case progress = 7
    /// `Outcome`
    case outcome = 9
    /// `CancelJob`
    case cancelJob = 10
    /// `Release`
    case release = 11
    /// `Stored`
    case stored = 12
    /// `Evicted`
    case evicted = 13
    /// `Touched`
    case touched = 14
    /// `Drain`
    case drain = 15
    /// `Goodbye`
    case goodbye = 16
    /// `Segments`, opened
    case segmentsOpened = 17
    /// `Segments`, closed
    case segmentsClosed = 18
    /// `Refused`
    case refused = 19
    /// `CacheStatus`
    case cacheStatus = 20
    /// `CacheSettings`
    case cacheSettings = 21
    /// `DownloadSettings`
    case downloadSettings = 22
    /// `ClientHello`
    case clientHello = 32
    /// `ClientWelcome`
    case clientWelcome = 33
    /// `Load`
    case load = 34
    /// `Cancel`
    case cancel = 35
    /// `Status`
    case status = 36
    /// `BlacklistCommand`
    case blacklistCommand = 37
    /// `Piece`
    case piece = 38
    /// `Taken`
    case taken = 39
    /// `Event`
    case event = 40
    /// `Reply`
    case reply = 41
    /// `StatusReport`
    case statusReport = 42
    /// `BlacklistReport`
    case blacklistReport = 43
    /// `DrainCommand`
    case drainCommand = 44
    /// `DrainReport`
    case drainReport = 45
    /// `Reprioritise`
    case reprioritise = 46
    /// `Prefetch`
    case prefetch = 47
    /// `PrefetchReport`
    case prefetchReport = 48
    /// `CacheCommand`
    case cacheCommand = 49
    /// `CacheReport`
    case cacheReport = 50
    /// `DownloadCommand`
    case downloadsCommand = 53
    /// `Used`
    case used = 54
    /// `Batch` of `Load`
    case loads = 55
    /// `Batch` of `Reply`
    case replies = 56
}

/// Limits of messages (PROTOCOL §2, §7).
public enum MessageLimits {
    /// `MAXMSGSIZE` of the sockets in `back/`: no payload can travel there by mistake.
    public static let backFrameBytesMax = 32 * 1024
    /// `MAXMSGSIZE` of the sockets in `front/` and `admin/`.
    public static let frontFrameBytesMax = 96 * 1024
    /// Frames of a message.
    public static let framesMax = 3
    /// Bytes of a payload that may travel inline.
    public static let inlineBytesMax = 4 * 1024
    /// Ids in one `Release`, `Touched` or `Evicted`, and in `Job.released`.
    public static let idsMax = 1024
    /// Blocks that one outcome hands over: with everything around them, the references of so many
    /// and the layouts of their pixels fit a frame in `back/`.
    public static let blocksPerOutcomeMax = 64
    /// Segments in one announcement.
    public static let segmentsMax = 256
    /// Details of an error.
    public static let detailsMax = 16
    /// Bytes of an error's message and of each detail.
    public static let textBytesMax = 1024
    /// Bytes of a cache key: a URL and all that is put into it.
    public static let keyBytesMax = 12 * 1024
    /// Bytes of each header that the origin sent and that travels on.
    public static let originHeaderBytesMax = 1024
    /// Patterns of permitted sources that go along with a fetch, and bytes of all of them.
    public static let sourcesMax = 64
    /// See `sourcesMax`.
    public static let sourcesBytesMax = 4 * 1024
    /// Entries in one report of the blacklist, and bytes of their URLs in all.
    public static let blacklistEntriesMax = 256
    /// See `blacklistEntriesMax`.
    public static let blacklistBytesMax = 48 * 1024
    /// Bytes of a payload in one piece: with all around it the frame stays below 64 KB.
    public static let pieceBytesMax = 60 * 1024
    /// Bytes of pieces on the way to or from one client that were not said to be taken.
    public static let pieceWindowBytes = 4 << 20
    /// URLs in one part of a prefetch; the bytes of a frame limit them as well.
    public static let prefetchURLsMax = 1_024
    /// Loads or replies in one message.
    public static let batchMax = 64
    /// Bytes of the body of each of them: a batch that is full fits a frame.
    public static let batchedBodyBytesMax = 1_200
    /// Loads of one client without a reply.
    public static let windowMax = 4_096
}

/// The version of all programs and of the client library; they are released together.
public enum ProductVersion {
    /// Semantic version.
    public static let text = "0.1.0"
}

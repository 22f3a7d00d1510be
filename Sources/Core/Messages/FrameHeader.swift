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

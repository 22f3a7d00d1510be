public import ImageModel

/// What a client says to the coordinator (PROTOCOL §8.2).
public enum ClientMessage: Hashable, Sendable {
    /// First after every handshake.
    case hello(ClientHello)
    /// Load an image.
    case load(LoadRequest)
    /// End a request with `cancelled`.
    case cancel(Token)
    /// End all requests of a group that were admitted before on this connection.
    case cancelGroup(GroupID)
    /// A request is wanted more or less than before.
    case reprioritise(Token, Priority)
    /// The same for all requests of a group that were admitted before on this connection.
    case reprioritiseGroup(GroupID, Priority)
    /// Load images that will be wanted.
    case prefetch(PrefetchRequest)
    /// These large blocks of `results/` are no longer read.
    case release([BlockID])
    /// Report processes, queues and counters.
    case status
    /// List or change what is not tried; on `admin/` only.
    case blacklist(BlacklistCommand)
    /// Look for one entry of a cache, or remove it; on `admin/` only.
    case cache(CacheCommand)
    /// A part of the bytes that a load brings along.
    case piece(Piece)
    /// So many bytes of pieces were taken.
    case taken(UInt64)
    /// The processes of a kind, or of one pool of it, finish what they have and end; on `admin/`
    /// only.
    case drain(WorkerKind, PoolName? = nil)
    /// Begin no transfers until `resume`, or begin them again; on `admin/` only. Answered by a
    /// status.
    case downloads(DownloadCommand)
    /// Loads that were answered by vouchers.
    case used(UsedVouchers)
    /// The client ends in order; whose connection ends without it has died.
    case goodbye
}

/// A client introduces itself.
public struct ClientHello: Hashable, Sendable {
    /// This life of the client; tokens belong to it.
    public var incarnation: Incarnation
    /// Its process id, for people.
    public var pid: UInt32
    /// Library version, for people.
    public var version: String
    /// Whether it cannot open `results/` and wants the bytes of all its loads in pieces.
    public var wantsPieces: Bool
    /// What an operator of a stack found beside the socket; nil where there is none.
    public var secret: ListenerSecret?
    /// What it is, where it is a program of the stack.
    public var front: FrontProcess?
    /// Whether it reads messages of several replies.
    public var takesBatches: Bool

    /// An introduction.
    public init(
        incarnation: Incarnation, pid: UInt32, version: String, wantsPieces: Bool = false,
        secret: ListenerSecret? = nil, front: FrontProcess? = nil, takesBatches: Bool = false
    ) {
        self.front = front
        self.takesBatches = takesBatches
        self.incarnation = incarnation
        self.pid = pid
        self.version = version
        self.wantsPieces = wantsPieces
        self.secret = secret
    }
}

/// A request on the wire.
public struct LoadRequest: Hashable, Sendable {
    /// Names it for cancelling and replies.
    public var token: Token
    /// A set it belongs to.
    public var group: GroupID?
    /// What is wanted.
    public var image: ImageRequest
    /// Whether progress events are wanted.
    public var wantsProgress: Bool
    /// Whether they are to say what the header says, as soon as it is there
    /// (`RequestProgress.info`). Such a load is told of progress, too.
    public var wantsInfo: Bool
    /// Counts how often the client found the bytes of a reply reused; from 1 on, the copy in
    /// memory is not trusted and is made anew.
    public var staleRetries: UInt8
    /// Whether the request goes on when the client's connection ends (SEMANTICS §8.5). A client of
    /// the same incarnation attaches to it again with the same token.
    public var detach: Bool
    /// Whether the bytes are wanted in pieces, and not by reference.
    public var wantsPieces: Bool
    /// Bytes that the client brings along in pieces, instead of a URL; 0: none.
    public var uploadBytes: UInt64
    /// The slot of this client that the image is for, up to `RequestLimits.nameBytesMax` bytes: an
    /// older load of the slot is cancelled first, and its reply comes first
    /// (SEMANTICS §8.7).
    public var slot: String?
    /// What logs say of it.
    public var logContext: LogContext
    /// Whom of its own users the client loads it for: any number that tells them apart; 0: nobody
    /// in particular. Their loads take turns in what the client has (SEMANTICS §9.1).
    public var visitor: UInt64

    /// Describes a load.
    @inlinable
    public init(
        token: Token, group: GroupID? = nil, image: ImageRequest, wantsProgress: Bool = false,
        wantsInfo: Bool = false, staleRetries: UInt8 = 0, detach: Bool = false,
        wantsPieces: Bool = false,
        uploadBytes: UInt64 = 0, slot: String? = nil,
        logContext: LogContext = LogContext(), visitor: UInt64 = 0
    ) {
        self.visitor = visitor
        self.token = token
        self.group = group
        self.image = image
        self.wantsProgress = wantsProgress
        self.wantsInfo = wantsInfo
        self.staleRetries = staleRetries
        self.detach = detach
        self.wantsPieces = wantsPieces
        self.uploadBytes = uploadBytes
        self.slot = slot
        self.logContext = logContext
    }
}

/// Loads a client will want: into the caches, in class low, with nothing delivered
/// (SEMANTICS §12.1). A long list comes in several messages of one batch.
public struct PrefetchRequest: Hashable, Sendable {
    /// Names the batch for its reports and for cancelling.
    public var batch: Token
    /// How each URL is loaded; its own URL is ignored.
    public var image: ImageRequest
    /// Further URLs of the batch.
    public var urls: [String]
    /// Whether no more URLs follow.
    public var isLast: Bool
    /// URLs that are loaded at a time; 0: three, as upstream.
    public var concurrency: UInt32
    /// The caller's trace.
    public var trace: TraceContext?

    /// Describes a batch, or a part of one.
    public init(
        batch: Token, image: ImageRequest, urls: [String], isLast: Bool = true,
        concurrency: UInt32 = 0, trace: TraceContext? = nil
    ) {
        self.batch = batch
        self.image = image
        self.urls = urls
        self.isLast = isLast
        self.concurrency = concurrency
        self.trace = trace
    }
}

/// How far a batch is, and its end.
public struct PrefetchReport: Hashable, Sendable {
    /// Which batch.
    public var batch: Token
    /// URLs of the batch so far.
    public var total: UInt64
    /// URLs that ended, with or without success, besides those that were cancelled.
    public var finished: UInt64
    /// Of those, the ones that ended with an error.
    public var skipped: UInt64
    /// URLs that were cancelled with the batch.
    public var cancelled: UInt64
    /// Whether this is the last report: `finished + cancelled == total`.
    public var isFinal: Bool
    /// Of the last report: the first URLs that were skipped.
    public var failures: [PrefetchFailure]
    /// Of the last report: how the URLs ended.
    public var ends: PrefetchEnds

    /// Counts.
    public init(
        batch: Token, total: UInt64 = 0, finished: UInt64 = 0, skipped: UInt64 = 0,
        cancelled: UInt64 = 0, isFinal: Bool = false, failures: [PrefetchFailure] = [],
        ends: PrefetchEnds = PrefetchEnds()
    ) {
        self.batch = batch
        self.total = total
        self.finished = finished
        self.skipped = skipped
        self.cancelled = cancelled
        self.isFinal = isFinal
        self.failures = failures
        self.ends = ends
    }
}

/// How URLs of a prefetch ended, besides those that were loaded.
public struct PrefetchEnds: Hashable, Sendable {
    /// URLs whose image a cache had.
    public var cached: UInt64
    /// URLs whose image no cache had, where nothing else was to be asked.
    public var missed: UInt64
    /// URLs that failed, by error, in the order in which the errors came first.
    public var errors: [ErrorCount]

    /// URLs that failed with one error.
    public struct ErrorCount: Hashable, Sendable {
        /// The error.
        public var code: ErrorCode
        /// How many.
        public var count: UInt64

        /// So many with that error.
        public init(_ code: ErrorCode, _ count: UInt64) { (self.code, self.count) = (code, count) }
    }

    /// Counts.
    public init(cached: UInt64 = 0, missed: UInt64 = 0, errors: [ErrorCount] = []) {
        (self.cached, self.missed, self.errors) = (cached, missed, errors)
    }

    /// So many more failed with that error.
    package mutating func failed(_ code: ErrorCode, _ count: UInt64 = 1) {
        guard let index = errors.firstIndex(where: { $0.code == code }) else {
            return errors.append(ErrorCount(code, count))
        }
        errors[index].count = min(errors[index].count, .max - count) + count
    }
}

/// A URL of a prefetch that could not be loaded, and why.
public struct PrefetchFailure: Hashable, Sendable {
    /// Its first bytes.
    public var url: String
    /// In short.
    public var error: ImageError

    /// Cuts both to what a report has room for.
    public init(url: String, error: ImageError) {
        self.url = Self.cut(url, to: Self.urlBytesMax)
        self.error = ImageError(
            error.code, Self.cut(error.message, to: Self.messageBytesMax),
            details: error.details.filter { $0.key == "httpStatus" })
    }

    /// Failures of one report: so many fit into a frame.
    public static let countMax = 16
    /// Bytes of a URL in a report.
    public static let urlBytesMax = 1_024
    private static let messageBytesMax = 512

    /// No more than so many bytes, and whole characters.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

/// What an operator wants of the list of what is not tried (SEMANTICS §7.2, §7.5).
public enum BlacklistCommand: Hashable, Sendable {
    /// The entries whose number is greater than `after`, as many as one report holds.
    case list(after: UInt64)
    /// Take the entries of a URL off, whatever they are for: of a whole URL, or of all whose URL a
    /// list shows so.
    case remove(url: String)
    /// Take all entries off.
    case clear
}

/// Answers a `BlacklistCommand`.
public struct BlacklistReport: Hashable, Sendable {
    /// Entries in the order of their numbers.
    public var entries: [Entry]
    /// Whether there are more: list again after the last one.
    public var hasMore: Bool
    /// How many were taken off.
    public var removed: UInt32

    /// An answer.
    public init(entries: [Entry] = [], hasMore: Bool = false, removed: UInt32 = 0) {
        self.entries = entries
        self.hasMore = hasMore
        self.removed = removed
    }

    /// Something that is not tried for a while.
    public struct Entry: Hashable, Sendable {
        /// Counts entries; never 0, never reused.
        public var number: UInt64
        /// The URL without user information and query.
        public var url: String
        /// The stage that is not tried, and of what: `fetch`, `decode`, `decode frame 3`,
        /// `decode all frames` or `transform`.
        public var operation: String
        /// What those who need it end with: `poisoned` where it is quarantined, else the error
        /// for which it was entered.
        public var reason: ErrorCode
        /// Milliseconds until it is tried again; 0: never.
        public var expiresInMilliseconds: UInt64

        /// Describes an entry.
        public init(
            number: UInt64, url: String, operation: String, reason: ErrorCode,
            expiresInMilliseconds: UInt64
        ) {
            self.number = number
            self.url = url
            self.operation = operation
            self.reason = reason
            self.expiresInMilliseconds = expiresInMilliseconds
        }
    }
}

/// What an operator wants of transfers that wait (SEMANTICS §10.17).
public enum DownloadCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// None of them begins; those that run go on.
    case suspend = 0
    /// They begin again.
    case resume = 1
}

/// Lets a client repeat an answer without asking, for as long as the voucher stands
/// (SEMANTICS §5.24).
public struct Voucher: Hashable, Sendable {
    /// Which one, in this life of the coordinator; not 0, and never used twice.
    public var number: UInt64
    /// By the coordinator's monotonic clock; `nil`: it does not expire.
    public var until: Instant?

    /// Names one.
    public init(number: UInt64, until: Instant? = nil) {
        self.number = number
        self.until = until
    }
}

/// Loads that a client answered by itself, by vouchers.
public struct UsedVouchers: Hashable, Sendable {
    /// How many loads; not 0.
    public var loads: UInt64
    /// By which vouchers, each once.
    public var numbers: [UInt64]

    /// A tally.
    public init(loads: UInt64, numbers: [UInt64]) {
        self.loads = loads
        self.numbers = numbers
    }
}

/// A part of bytes that travel through the socket, since one side cannot open the other's shared
/// memory (PROTOCOL §10.1). The pieces of one payload come in order; offset 0 begins anew.
public struct Piece: Hashable, Sendable {
    /// Whose bytes: of this request.
    public var token: Token
    /// Bytes before this piece.
    public var offset: UInt64
    /// Bytes of all pieces together.
    public var total: UInt64
    /// At least one, at most `MessageLimits.pieceBytesMax`.
    public var bytes: [UInt8]

    /// A part of a payload.
    public init(token: Token, offset: UInt64, total: UInt64, bytes: [UInt8]) {
        self.token = token
        self.offset = offset
        self.total = total
        self.bytes = bytes
    }
}

/// A message from a client to the coordinator (PROTOCOL §8.2).
public enum ClientMessage: Hashable, Sendable {
    /// The first message after every handshake.
    case hello(ClientHello)
    /// Loads an image.
    case load(LoadRequest)
    /// Cancels a request, which ends with `cancelled`.
    case cancel(Token)
    /// Cancels all requests of a group that were admitted on this connection so far.
    case cancelGroup(GroupID)
    /// Changes the priority of a request.
    case reprioritize(Token, Priority)
    /// Changes the priority of all requests of a group that were admitted on this connection so
    /// far.
    case reprioritizeGroup(GroupID, Priority)
    /// Prefetches images.
    case prefetch(PrefetchRequest)
    /// Releases large blocks of `results/` that are no longer read.
    case release([BlockID])
    /// Requests a report of processes, queues and counters.
    case status
    /// Lists or changes the failure cache; on `admin/` only.
    case failureCache(FailureCacheCommand)
    /// Queries or removes cache entries; on `admin/` only.
    case cache(CacheCommand)
    /// A chunk of the bytes that a load uploads.
    case chunk(Chunk)
    /// Acknowledges this number of bytes of chunks.
    case taken(UInt64)
    /// Drains the processes of a kind or pool: they finish their jobs and exit; on `admin/` only.
    case drain(WorkerKind, PoolName? = nil)
    /// Suspends or resumes the start of transfers; on `admin/` only. Answered by a status report.
    case downloads(DownloadCommand)
    /// Reports loads that were answered by vouchers.
    case used(UsedVouchers)
    /// Ends the connection in order; without it the client is considered crashed.
    case goodbye
}

/// The introduction of a client.
public struct ClientHello: Hashable, Sendable {
    /// The incarnation of the client, to which its tokens belong.
    public var incarnation: Incarnation
    /// The process ID, for people.
    public var pid: UInt32
    /// The library version, for people.
    public var version: String
    /// Whether the client can't open `results/` and needs the bytes of all its loads in chunks.
    public var wantsChunks: Bool
    /// The secret found next to the socket; nil if there is none.
    public var secret: ListenerSecret?
    /// The kind of program, for programs of the stack.
    public var front: FrontProcess?
    /// Whether the client supports messages with several replies.
    public var takesBatches: Bool

    /// Creates an introduction.
    public init(
        incarnation: Incarnation, pid: UInt32, version: String, wantsChunks: Bool = false,
        secret: ListenerSecret? = nil, front: FrontProcess? = nil, takesBatches: Bool = false
    ) {
        self.front = front
        self.takesBatches = takesBatches
        self.incarnation = incarnation
        self.pid = pid
        self.version = version
        self.wantsChunks = wantsChunks
        self.secret = secret
    }
}

/// A load request on the wire.
public struct LoadRequest: Hashable, Sendable {
    /// The token for cancellation and replies.
    public var token: Token
    /// The group of the request.
    public var group: GroupID?
    /// The requested image.
    public var image: ImageRequest
    /// Whether progress events are requested.
    public var wantsProgress: Bool
    /// Whether an event with the header's properties is requested as soon as they are known
    /// (`RequestProgress.info`). Implies progress events.
    public var wantsInfo: Bool
    /// How often the client found the bytes of a reply overwritten; from 1 on, the copy in memory
    /// is not trusted and is created again.
    public var staleRetries: UInt8
    /// Whether the request continues when the client's connection ends (SEMANTICS §8.5). A client
    /// of the same incarnation reattaches with the same token.
    public var detach: Bool
    /// Whether the bytes are requested in chunks rather than by reference.
    public var wantsChunks: Bool
    /// The number of bytes that the client uploads in chunks instead of a URL; 0 for none.
    public var uploadBytes: UInt64
    /// The slot of this client that the image is loaded into, up to `RequestLimits.nameBytesMax`
    /// bytes. A previous load of the slot is canceled first, and its reply precedes that of this
    /// one (SEMANTICS §8.7).
    public var slot: String?
    /// The logging context.
    public var logContext: LogContext
    /// The client's own user on whose behalf it loads, as an arbitrary number; 0 for none. Loads of
    /// different users share the client's capacity in turns (SEMANTICS §9.1).
    public var httpClient: UInt64

    /// Creates a load request.
    @inlinable
    public init(
        token: Token, group: GroupID? = nil, image: ImageRequest, wantsProgress: Bool = false,
        wantsInfo: Bool = false, staleRetries: UInt8 = 0, detach: Bool = false,
        wantsChunks: Bool = false,
        uploadBytes: UInt64 = 0, slot: String? = nil,
        logContext: LogContext = LogContext(), httpClient: UInt64 = 0
    ) {
        self.httpClient = httpClient
        self.token = token
        self.group = group
        self.image = image
        self.wantsProgress = wantsProgress
        self.wantsInfo = wantsInfo
        self.staleRetries = staleRetries
        self.detach = detach
        self.wantsChunks = wantsChunks
        self.uploadBytes = uploadBytes
        self.slot = slot
        self.logContext = logContext
    }
}

/// A batch of images to load into the caches, in priority class low and without delivery
/// (SEMANTICS §12.1). A long list is split into several messages.
public struct PrefetchRequest: Hashable, Sendable {
    /// The batch, for reports and cancellation.
    public var batch: Token
    /// The template for each URL; its own URL is ignored.
    public var image: ImageRequest
    /// URLs to add to the batch.
    public var urls: [String]
    /// Whether these are the last URLs.
    public var isLast: Bool
    /// The number of concurrent loads; 0 for three, as in SDWebImage.
    public var concurrency: UInt32
    /// The caller's trace.
    public var trace: TraceContext?

    /// Creates a batch, or a part of one.
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

/// The progress of a batch, or its end.
public struct PrefetchReport: Hashable, Sendable {
    /// The batch.
    public var batch: Token
    /// The number of URLs in the batch so far.
    public var total: UInt64
    /// URLs that finished, successfully or not, excluding canceled ones.
    public var finished: UInt64
    /// The finished URLs that failed.
    public var skipped: UInt64
    /// URLs that were canceled with the batch.
    public var cancelled: UInt64
    /// Whether this is the last report: `finished + cancelled == total`.
    public var isFinal: Bool
    /// In the last report: the first URLs that failed.
    public var failures: [PrefetchFailure]
    /// In the last report: counts by kind of end.
    public var ends: PrefetchEnds

    /// Creates a report.
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

/// The number of URLs of a prefetch by how they ended, apart from those that were loaded.
public struct PrefetchEnds: Hashable, Sendable {
    /// URLs whose image was cached.
    public var cached: UInt64
    /// URLs whose image was not cached when only caches were to be queried.
    public var missed: UInt64
    /// Failed URLs by error, in order of the first occurrence.
    public var errors: [ErrorCount]

    /// The number of URLs that failed with an error.
    public struct ErrorCount: Hashable, Sendable {
        /// The error.
        public var code: ErrorCode
        /// The number of URLs.
        public var count: UInt64

        /// Creates a count for an error.
        public init(_ code: ErrorCode, _ count: UInt64) { (self.code, self.count) = (code, count) }
    }

    /// Creates counts.
    public init(cached: UInt64 = 0, missed: UInt64 = 0, errors: [ErrorCount] = []) {
        (self.cached, self.missed, self.errors) = (cached, missed, errors)
    }

    /// Adds failures with that error.
    package mutating func failed(_ code: ErrorCode, _ count: UInt64 = 1) {
        guard let index = errors.firstIndex(where: { $0.code == code }) else {
            return errors.append(ErrorCount(code, count))
        }
        errors[index].count = min(errors[index].count, .max - count) + count
    }
}

/// A URL of a prefetch that could not be loaded, and the error.
public struct PrefetchFailure: Hashable, Sendable {
    /// The URL, truncated.
    public var url: String
    /// The error, abbreviated.
    public var error: ImageError

    /// Truncates both to the limits of a report.
    public init(url: String, error: ImageError) {
        self.url = Self.cut(url, to: Self.urlBytesMax)
        self.error = ImageError(error.code, Self.cut(error.message, to: Self.messageBytesMax)) {
            $0[text: \.httpStatus] = error.typedDetails[text: \.httpStatus]
        }
    }

    /// The maximum number of failures in a report, so that it fits into a frame.
    public static let countMax = 16
    /// The maximum number of bytes of a URL in a report.
    public static let urlBytesMax = 1_024
    private static let messageBytesMax = 512

    /// Truncates a text to a number of bytes at a character boundary.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

/// An operator's command for the failure cache (SEMANTICS §7.2, §7.5).
public enum FailureCacheCommand: Hashable, Sendable {
    /// Lists the entries with a number greater than `after`, up to the size of a report.
    case list(after: UInt64)
    /// Removes all entries of a URL, given in full or as shown in a list.
    case remove(url: String)
    /// Removes all entries.
    case clear
}

/// The answer to a `FailureCacheCommand`.
public struct FailureCacheReport: Hashable, Sendable {
    /// Entries in ascending order of their numbers.
    public var entries: [Entry]
    /// Whether there are more: list again after the last one.
    public var hasMore: Bool
    /// The number of removed entries.
    public var removed: UInt32

    /// Creates an answer.
    public init(entries: [Entry] = [], hasMore: Bool = false, removed: UInt32 = 0) {
        self.entries = entries
        self.hasMore = hasMore
        self.removed = removed
    }

    /// An entry of the failure cache.
    public struct Entry: Hashable, Sendable {
        /// The number of the entry; never 0, never reused.
        public var number: UInt64
        /// The URL without user information and query.
        public var url: String
        /// The stage that is not retried, and for what: `fetch`, `decode`, `decode frame 3`,
        /// `decode all frames` or `transform`.
        public var operation: String
        /// The error of affected requests: `poisoned` if the content is quarantined, otherwise the
        /// original failure.
        public var reason: ErrorCode
        /// Milliseconds until the entry expires; 0 for never.
        public var expiresInMilliseconds: UInt64

        /// Creates an entry.
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

/// An operator's command for waiting transfers (SEMANTICS §10.17).
public enum DownloadCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// Start no new transfers; running ones continue.
    case suspend = 0
    /// Start transfers again.
    case resume = 1
}

/// A client-side lease on a memory hit: it permits a client to repeat the reply without a request
/// while the voucher is valid (SEMANTICS §5.24).
public struct Voucher: Hashable, Sendable {
    /// The number in this epoch of the coordinator; not 0, never reused.
    public var number: UInt64
    /// The expiry on the coordinator's monotonic clock; `nil` for none.
    public var until: Instant?

    /// Creates a voucher.
    public init(number: UInt64, until: Instant? = nil) {
        self.number = number
        self.until = until
    }
}

/// The loads that a client answered by vouchers.
public struct UsedVouchers: Hashable, Sendable {
    /// The number of loads; not 0.
    public var loads: UInt64
    /// The vouchers, each once.
    public var numbers: [UInt64]

    /// Creates a report.
    public init(loads: UInt64, numbers: [UInt64]) {
        self.loads = loads
        self.numbers = numbers
    }
}

/// A chunk of bytes sent through the socket because one side can't open the other's shared memory
/// (PROTOCOL §10.1). The chunks of a payload arrive in order; offset 0 starts from scratch.
public struct Chunk: Hashable, Sendable {
    /// The request that the bytes belong to.
    public var token: Token
    /// The number of bytes before this chunk.
    public var offset: UInt64
    /// The number of bytes of all chunks together.
    public var total: UInt64
    /// The bytes: at least one, at most `MessageLimits.chunkBytesMax`.
    public var bytes: [UInt8]

    /// Creates a chunk.
    public init(token: Token, offset: UInt64, total: UInt64, bytes: [UInt8]) {
        self.token = token
        self.offset = offset
        self.total = total
        self.bytes = bytes
    }
}

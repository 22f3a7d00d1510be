public import ImageModel

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

import ImageModel
public import Messages

/// Every limit of the scheduler; nothing in it grows beyond what is written here.
public struct SchedulerLimits: Hashable, Sendable {
    /// Requests without a terminal reply, all clients together; one more is `busy`.
    public var liveRequestsMax = 65_536
    /// Requests without a terminal reply of one client; one more is `busy`.
    public var requestsPerClientMax = MessageLimits.windowMax
    /// Prefetches of one client that have not ended; one more is `busy`.
    public var batchesPerClientMax = 64
    /// URLs that wait in all prefetches of one client, and their bytes, `prefetchOverheadBytes`
    /// more for each; more is `busy`.
    public var prefetchesPerClientMax = 2 * RequestLimits.prefetchMax
    /// See `prefetchesPerClientMax`.
    public var prefetchBytesPerClientMax = 64 << 20
    /// The same bytes of all clients together; more is `busy`.
    public var prefetchBytesMax = 256 << 20
    /// Bytes that a URL which waits costs besides its text: all that is kept of it is that text.
    public static let prefetchOverheadBytes = 64
    /// URLs of prefetches that are begun in one event.
    public var prefetchesBegunMax = 64
    /// Requests to which one event does what concerns many of them, such as replies of one result
    /// or the ends of a session; the rest follows in the next events. As many alarms ring in one.
    public var bulkStepsMax = 64
    /// The same where a request only goes on to other work and nobody is told: a sixteenth as long.
    /// The sooner all of them are there, the fewer begin the same work a second time.
    public var bulkMovesMax = 1_024
    /// Jobs that wait for one kind of worker. A query or fetch beyond it is `busy`, an original
    /// is not stored; later stages are bounded by the requests that they serve.
    public var queuedJobsMax = 16_384
    /// Cost of what waits in each stage; a request that would begin more is `busy`.
    public var queuedCostMax = QueueBounds()
    /// Pictures that serializers encode anew at a time; one more is not written to the disk.
    public var transcodesMax = 64
    /// Who of a client's transfers in one class is next.
    public var fetchOrder = FetchOrder.fifo
    /// Transfers from one host and port at a time, all download workers together; 0: no limit.
    public var fetchesPerHostMax = 64
    /// Jobs that a worker may hold at a time, whatever it claims.
    public var creditMax = CreditMaxima()
    /// Of the jobs that a kind takes at a time, class low gets at most one in so many, and at
    /// least one.
    public var lowShareDivisor = 4
    /// Entries of the memory tier that the coordinator answers by itself; the oldest makes room.
    public var hitsMax = 100_000
    /// Requests whose keys are remembered, so that a hit does not derive them again.
    public var namesMax = 4_096
    /// Segments that one worker may have announced; one more ends its session.
    public var segmentsPerWorkerMax = 4_096

    /// Bytes of finished output of one kind of worker that is still in use; a kind above it starts
    /// nothing new until some is released (SEMANTICS §9.5). The cache needs no
    /// such budget: it may evict.
    public var outputBytesMax = OutputBudgets()
    /// Bytes of pixels that are kept to be laid over others, beside the budget of decodes; who
    /// needs more of them is `busy`, and so is who would hold more than three times what is left.
    public var overlayBytesMax: UInt64 = 256 << 20
    /// Pixels of one of them, as many as a picture of 3840 × 2160 has: four of that size with
    /// transparency, which one request may hold for as long as its picture is on its way, are about
    /// half of `overlayBytesMax`, so that others find room beside it.
    public var overlayPixelsMax = 8_294_400
    /// Bytes of large results that clients have not released, all together and one client; beyond
    /// it a client gets them to copy.
    public var unreleasedBytesMax: UInt64 = 256 << 20
    /// See `unreleasedBytesMax`.
    public var unreleasedBytesPerClientMax: UInt64 = 64 << 20

    /// Suspects of killing workers that are remembered, and for how long.
    public var quarantineMax = 1_024
    /// See `quarantineMax`.
    public var quarantineMilliseconds = 600_000

    /// Sources that failed for good and are remembered, and for how long; 0 milliseconds: for ever.
    public var blacklistMax = 10_000
    /// See `blacklistMax`.
    public var blacklistMilliseconds = 600_000

    /// Further attempts of a transfer that failed in passing.
    public var fetchRetriesMax = 2
    /// Milliseconds before the first of them, give or take a quarter; each further one waits twice
    /// as long as the one before.
    public var fetchRetryMilliseconds = 200

    /// Bytes of a fetched body.
    public var bodyBytesMax: UInt64 = 64 << 20
    /// Pixels of a result times how slow its encoder is (`JobWork.cost`): 25 megapixels of WebP
    /// without loss, which takes about a second for each of them; others reach `image` first.
    public var encodingCostMax: UInt64 = 1_000_000_000
    /// Limits of an image, at admission for what the request itself says, and in every job.
    public var image = ImageLimits()

    /// Limits of a picture that is laid over another one.
    var overlay: ImageLimits {
        var limits = image
        limits.pixelsMax = min(limits.pixelsMax, overlayPixelsMax)
        return limits
    }

    /// Milliseconds for which a worker may hold a job.
    public var jobMilliseconds = JobDeadlines()
    /// Milliseconds between a job's deadline and the `CancelJob` for a worker that did not give
    /// up by itself.
    public var overdueMilliseconds = 500
    /// Milliseconds in which a cancelled decode or transform must be answered; a worker that is
    /// silent for longer loses its session (SEMANTICS §7.6: 500 ms until it ends itself, and 1 s
    /// more).
    public var silenceMilliseconds = 1_500
    /// The same for cache and download. Their sessions carry many jobs and the memory tier: a disk
    /// or a resolver that stalls for a moment is not worth losing them.
    public var sharedSilenceMilliseconds = 10_000
    /// Workers that may be lost with one job, or with what it made, before `workerLost`.
    public var attemptsMax = 10
    /// Milliseconds after which a job that found no space tries again without a release.
    public var parkedMilliseconds = 100
    /// What `busy` tells a client: at least and at most so many seconds.
    public static let retryAfterSeconds = 0.1...30.0

    /// Used blocks that are collected for one `Touched`.
    public var touchedMax = 64
    /// Milliseconds for which they are collected.
    public var touchedMilliseconds = 100

    /// The defaults.
    public init() {}

    /// Bytes by kind of worker.
    public struct OutputBudgets: Hashable, Sendable {
        /// Fetched bodies.
        public var download: UInt64 = 256 << 20
        /// Pixels.
        public var decode: UInt64 = 512 << 20
        /// Encoded results.
        public var transform: UInt64 = 256 << 20

        /// A few of the largest pictures at a time.
        public init() {}

        /// Of one kind; `nil` where there is none.
        func bytes(_ kind: WorkerKind) -> UInt64? {
            switch kind {
            case .download: download
            case .decode: decode
            case .transform: transform
            case .cache, .coordinator: nil
            }
        }
    }

    /// Milliseconds by stage; a shorter wish of those who wait holds as well, except for stores.
    public struct JobDeadlines: Hashable, Sendable {
        /// A cache query.
        public var query = 10_000
        /// A transfer: as long as the longest request.
        public var fetch = RequestLimits.timeoutMillisecondsMax
        /// A decode.
        public var decode = 60_000
        /// Steps and encode.
        public var transform = 60_000
        /// A store, delivery included.
        public var store = 60_000

        /// Generous: they are for workers that hang, not for slow ones.
        public init() {}
    }
}

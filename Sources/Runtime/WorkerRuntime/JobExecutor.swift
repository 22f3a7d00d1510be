public import Messages

/// What does the jobs of a worker. All calls come on the bus thread and never block; results go to
/// the `WorkerReporter` from any thread, exactly one outcome for each job started.
public protocol JobExecutor: AnyObject {
    /// Jobs that may be held at a time.
    var credit: UInt32 { get }
    /// Whether native code may ignore a cancel, so that the process has to end (SEMANTICS §8.3).
    var needsHardCancel: Bool { get }
    /// Whether so much of what was cancelled goes on that the process has to end.
    var hasForsakenTooMuch: Bool { get }
    /// Begins a job.
    func start(_ job: Job)
    /// A job's outcome reached the bus thread: nothing of the job is left here.
    func finished(_ id: JobID)
    /// Stops a job. Idempotent; its outcome still comes.
    func cancel(_ id: JobID)
    /// A held job has another deadline or class.
    func adjust(_ adjustment: JobAdjustment)
    /// These blocks are free.
    func release(_ blocks: [BlockID])
    /// These blocks were used.
    func touched(_ blocks: [BlockID])
    /// The configuration sets this of the caches, and nothing else.
    func adopt(_ settings: [NamedCacheSettings])
    /// The configuration sets this of transfers, and nothing else.
    func adopt(_ settings: DownloadSettings)
    /// What a coordinator that knows nothing of this process has to hear besides its segments.
    func announcements() -> [WorkerMessage]
    /// The connection ended: cancel everything, no outcome that comes from now on is wanted. Blocks
    /// that were handed over are released one by one before.
    func abandon()
    /// A block of an outcome that nobody wants.
    func discard(_ reference: BlockReference)
    /// Writes what is unwritten, then reports `flushed`.
    func flush()
    /// `WorkerReporter.attend` was called: look after what other threads have done.
    func attend()
    /// About a second has passed.
    func tick()
    /// Called once a second: whether its thread has turned since.
    func pulse() -> ExecutorPulse
}

extension JobExecutor {
    /// Nothing goes on.
    public var hasForsakenTooMuch: Bool { false }
    /// Nothing.
    public func finished(_ id: JobID) {}
    /// Nothing.
    public func adjust(_ adjustment: JobAdjustment) {}
    /// Nothing.
    public func touched(_ blocks: [BlockID]) {}
    /// Nothing.
    public func adopt(_ settings: [NamedCacheSettings]) {}
    /// Nothing.
    public func adopt(_ settings: DownloadSettings) {}
    /// Segments are all there is.
    public func announcements() -> [WorkerMessage] { [] }
    /// Nothing.
    public func attend() {}
    /// Nothing.
    public func tick() {}
    /// There is no such thread.
    public func pulse() -> ExecutorPulse { .beats }
}

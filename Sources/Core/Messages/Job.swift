public import ImageModel

/// One attempt at one piece of work, given to one worker.
public struct Job: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Counts from 1; an outcome of an older attempt is not accepted.
    public var attempt: UInt32
    /// What to do.
    public var work: JobWork
    /// Milliseconds left; a worker gives up by itself when they are over.
    public var millisecondsLeft: UInt32
    /// The class.
    public var priority: Priority
    /// What logs say of the request that wanted it first.
    public var logContext: LogContext
    /// Whether anybody listens to how far it is. A worker says nothing of that where nobody does.
    public var wantsProgress: Bool
    /// Whether what has arrived is to be handed out while the rest comes (`JobProgress.arrived`).
    public var wantsArrived: Bool
    /// Blocks of the worker that are free, as in `WorkerCommand.release`: told with a job, where
    /// the worker reads that there.
    public var released: [BlockID] = []

    /// Describes an attempt.
    public init(
        id: JobID, attempt: UInt32, work: JobWork, millisecondsLeft: UInt32, priority: Priority,
        logContext: LogContext = LogContext(), wantsProgress: Bool = false,
        wantsArrived: Bool = false
    ) {
        self.wantsProgress = wantsProgress
        self.wantsArrived = wantsArrived
        self.id = id
        self.attempt = attempt
        self.work = work
        self.millisecondsLeft = millisecondsLeft
        self.priority = priority
        self.logContext = logContext
    }
}

/// New facts about a job that a worker holds.
public struct JobAdjustment: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Milliseconds left from now.
    public var millisecondsLeft: UInt32
    /// The class.
    public var priority: Priority
    /// Whether anybody listens to how far it is. Where that is new, the worker reports at once.
    public var wantsProgress: Bool
    /// Whether what has arrived is to be handed out. Where that is new, it is at once.
    public var wantsArrived: Bool

    /// Describes the change.
    public init(
        id: JobID, millisecondsLeft: UInt32, priority: Priority, wantsProgress: Bool = false,
        wantsArrived: Bool = false
    ) {
        self.wantsProgress = wantsProgress
        self.wantsArrived = wantsArrived
        self.id = id
        self.millisecondsLeft = millisecondsLeft
        self.priority = priority
    }
}

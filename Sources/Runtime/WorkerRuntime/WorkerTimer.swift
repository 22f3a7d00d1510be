import Messages

/// What a worker waits for besides messages.
enum WorkerTimer {
    /// The job's time is over: stop it without being told (SEMANTICS §7.6).
    case deadline(JobID)
    /// The grace after a cancel is over: end the process if the job still runs (SEMANTICS §8.3).
    case grace(JobID)
    /// A worker that leaves has waited long enough for its blocks to be released.
    case farewell
    /// A worker that was told to leave has had all the time for it that there is.
    case departure
    /// The coordinator's queue was full: try again.
    case retry
    /// A second has passed.
    case tick
}

/// What a worker's fault handler wrote down before the process ended (DESIGN §6).
///
/// The word of a process that is not trusted: it counts only for a job that this very process held.
public struct CrashRecord: Hashable, Sendable {
    /// The one job that it held; `nil` where it held none, or several.
    public var job: JobID?
    /// The attempt of that job.
    public var attempt: UInt32
    /// The signal that ended it, such as 11 for SIGSEGV.
    public var signal: Int32

    /// Describes a crash.
    public init(job: JobID?, attempt: UInt32, signal: Int32) {
        self.job = job
        self.attempt = attempt
        self.signal = signal
    }
}

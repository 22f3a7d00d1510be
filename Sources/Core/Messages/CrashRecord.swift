/// What is written down of a worker's end that it brought upon itself: by its fault handler, by
/// itself, or by who watches its loop.
///
/// The word of a process that is not trusted: it counts only for a job that this very process held.
public struct CrashRecord: Hashable, Sendable {
    /// The one job that it held, or worked on; `nil` where it held none, or several.
    public var job: JobID?
    /// The attempt of that job.
    public var attempt: UInt32
    /// How it ended.
    public var cause: Cause

    /// How a worker brings its end about.
    public enum Cause: Hashable, Sendable {
        /// A signal of its own, such as 11 for SIGSEGV.
        case signal(Int32)
        /// Its loop stood still, and `serve` killed it.
        case stoodStill
        /// Its native code used more than any image takes, ran on after it was told to stop, and it
        /// ended itself.
        case didNotStop
        /// The same of one that had not used as much of the processors as no image takes.
        case cancelledHard
    }

    /// Describes an end.
    public init(job: JobID?, attempt: UInt32, cause: Cause) {
        self.job = job
        self.attempt = attempt
        self.cause = cause
    }

    /// Describes a crash.
    public init(job: JobID?, attempt: UInt32, signal: Int32) {
        self.init(job: job, attempt: attempt, cause: .signal(signal))
    }
}

extension CrashRecord.Cause: CustomStringConvertible {
    /// For the log.
    public var description: String {
        switch self {
        case .signal(let number): "signal \(number)"
        case .stoodStill: "its loop stood still"
        case .didNotStop: "it used too much and did not stop when it was told to"
        case .cancelledHard: "it did not stop when it was told to"
        }
    }
}

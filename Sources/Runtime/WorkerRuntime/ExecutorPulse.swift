public import Messages

/// Whether the thread with which an executor serves many jobs still turns.
public enum ExecutorPulse: Hashable, Sendable {
    /// It does, or the executor has no such thread.
    case beats
    /// It has been at the same for a second or more; at this job, where that is known.
    case stands(at: JobID?)
}

public import Messages

/// What the owner of a `CacheStage` has to do, in this order.
public enum CacheAction: Sendable, Hashable {
    /// Answer a job; its one answer.
    case outcome(JobID, attempt: UInt32, JobResult)
    /// Tell the coordinator that it may answer a key by itself.
    case stored(StoredNotice)
    /// Tell the coordinator that blocks hold their keys no longer; at most
    /// `MessageLimits.idsMax` of them.
    case evicted([BlockID])
    /// A command of the operator is carried out; `false` where the disk could not do its part.
    case commanded(CacheCommandID, Bool)
    /// Everything is on the disk that was to go there, and no job is left.
    case drained
}

/// Names a command of the operator; chosen by the caller.
public struct CacheCommandID: Sendable, Hashable {
    /// Any number.
    public let value: UInt64

    /// Takes a number.
    public init(_ value: UInt64) { self.value = value }
}

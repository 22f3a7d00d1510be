public import Linux
public import Messages

/// What happens to the supervisor; slots count from 0.
public enum SupervisorEvent: Hashable, Sendable {
    /// Begin. Once, first.
    case start
    /// A program could not be started.
    case spawnFailed(slot: Int)
    /// A child has started, and looks for its coordinator.
    case begun(slot: Int, Incarnation)
    /// The coordinator welcomed a child, or the coordinator itself is there.
    case welcomed(slot: Int, Incarnation)
    /// A child ended and was reaped; `hadJob` if its crash record names a job.
    case ended(slot: Int, ChildStatus, hadJob: Bool = false)
    /// SIGTERM or SIGINT: the first drains, the second ends all now.
    case stopRequested
    /// The counters of children that have begun, by slot; one that stands still is a hang. Of
    /// children that show nothing, the milliseconds that they `waited` for a processor since the
    /// last look, which are no hang.
    case looked([Int: UInt64], waited: [Int: Int] = [:])
    /// Time passed.
    case tick
}

/// What the supervisor is to do, in order.
public enum SupervisorAction: Hashable, Sendable {
    /// Start the slot's program; `restarts` counts the lives before this one.
    case spawn(slot: Int, restarts: UInt32)
    /// Send a signal to the slot's child.
    case signal(slot: Int, Signal)
    /// All slots are welcomed for the first time.
    case announceReady
    /// Unlink the segments of a dead child.
    case removeSegments(WorkerKind, Incarnation)
    /// Say that a slot's child does not turn its loop any more; it is killed.
    case reportHang(slot: Int, Standstill)
    /// Say that a slot's child took too long to start, so much later than the limit was at first;
    /// it is killed.
    case reportLateStart(slot: Int, movedMilliseconds: Int)
    /// Say that a slot waits before its next start.
    case reportBackoff(slot: Int, milliseconds: Int)
    /// Say that a child can never start with these settings.
    case reportRefusal(slot: Int, code: Int32)
    /// Say that a slot's child was killed and has not ended.
    case reportUnkilled(slot: Int)
    /// Say that the stack drains.
    case reportDrain
    /// All children have ended: stop. Once, last.
    case finish(SupervisorEnd)
}

/// How a stack ended.
public enum SupervisorEnd: Hashable, Sendable {
    /// Drained as asked.
    case drained
    /// The drain took too long; what was left was killed.
    case limitPassed
    /// A second signal: all was killed.
    case forced
    /// A child cannot start with these settings; its exit code.
    case refused(Int32)

    /// The exit status of `serve` (SEMANTICS §15.7): 0, 124 deadline, 130 cancelled, or the
    /// child's.
    public var exitStatus: Int32 {
        switch self {
        case .drained: 0
        case .limitPassed: 124
        case .forced: 130
        case .refused(let code): code
        }
    }

    /// The status for a defect of ours or of the installation.
    static let internalCode: Int32 = 70
}

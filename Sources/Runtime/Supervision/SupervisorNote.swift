public import Linux
public import Messages
public import Observability

/// What a supervisor tells its log.
public enum SupervisorNote: Hashable, Sendable, CustomStringConvertible {
    /// A child runs.
    case started(ProcessKind, ProcessID)
    /// A child has started, and looks for its coordinator.
    case begun(ProcessKind, ProcessID)
    /// A child is part of the stack.
    case welcomed(ProcessKind, ProcessID)
    /// A child ended; whether that was part of a drain.
    case ended(ProcessKind, ProcessID, ChildStatus, expected: Bool)
    /// An external program ended before the coordinator welcomed it.
    case endedBeforeReady(PoolName, program: String, ProcessID, ChildStatus)
    /// A program cannot be started.
    case cannotStart(ProcessKind, program: String, Errno)
    /// A child lives and does nothing any more; it is killed.
    case hangs(ProcessKind, ProcessID, Standstill)
    /// A child took too long to start, also after its limit was moved; it is killed.
    case startsTooLong(ProcessKind, ProcessID, milliseconds: Int, movedMilliseconds: Int)
    /// A child was killed and has not ended: it waits in the kernel.
    case unkilled(ProcessKind, ProcessID)
    /// A native library of a child wrote a line to standard output or error.
    case wrote(ProcessKind, ProcessID, String)
    /// A child waits before its next start.
    case backingOff(ProcessKind, milliseconds: Int)
    /// A child says that it can never start with these settings.
    case refused(ProcessKind, code: Int32)
    /// All children are welcomed.
    case ready
    /// The stack drains.
    case draining
    /// No child has anything to load anew.
    case nothingToReload
    /// Segments of a dead child were unlinked.
    case removedSegments(WorkerKind, Int)

    /// How much it matters.
    public var level: LogLevel {
        switch self {
        case .started, .begun, .welcomed, .removedSegments: .debug
        case .ended(_, _, let status, let expected):
            // Status 0 is that of a drain, which an operator asked for, or of a worker that is
            // replaced in its time.
            expected ? .debug : status.isSuccess ? .info : .warning
        case .cannotStart, .refused: .error
        case .backingOff, .hangs, .startsTooLong, .unkilled, .wrote, .endedBeforeReady:
            .warning
        case .ready, .draining, .nothingToReload: .info
        }
    }

    /// One line for people.
    public var description: String {
        switch self {
        case .started(let kind, let pid): "\(kind.name) \(pid) started"
        case .begun(let kind, let pid): "\(kind.name) \(pid) looks for its coordinator"
        case .welcomed(let kind, let pid): "\(kind.name) \(pid) ready"
        case .ended(let kind, let pid, let status, _): "\(kind.name) \(pid) ended: \(status)"
        case .endedBeforeReady(let pool, let program, let pid, let status):
            "pool \(pool): \(program) (process \(pid)) ended before it was ready: \(status)"
        case .cannotStart(let kind, let program, let errno):
            "\(kind.name): \(program) cannot be started (\(errno)): "
                + "IMAGEBUS_PROGRAMS names the directory of the programs"
        case .hangs(let kind, let pid, let standstill):
            "\(kind.name) \(pid) does not answer: killed" + Self.excuse(standstill)
        case .startsTooLong(let kind, let pid, let milliseconds, let moved):
            "\(kind.name) \(pid) did not start within \(milliseconds) ms"
                + (moved > 0 ? " and \(moved) ms in which it may have had no processor" : "")
                + ": killed"
        case .wrote(let kind, let pid, let line): "\(kind.name) \(pid) wrote: \(line)"
        case .unkilled(let kind, let pid):
            "\(kind.name) \(pid) was killed and has not ended: it waits for a disk that does not "
                + "answer, and ends with that wait"
        case .backingOff(let kind, let milliseconds):
            "\(kind.name) failed repeatedly, next start in \(milliseconds) ms"
        case .refused(let kind, let code):
            "\(kind.name) cannot run with these settings (exit \(code)), see its message above"
        case .ready: "all processes are ready"
        case .draining: "draining"
        case .nothingToReload:
            "SIGHUP: nothing is loaded anew, neither a coordinator nor a gateway is served"
        case .removedSegments(let kind, let count):
            "removed \(count) segments of a dead \(kind.name) process"
        }
    }

    private static func excuse(_ standstill: Standstill) -> String {
        let waited = standstill.waitedMilliseconds
        return waited > 0 ? " (meanwhile it waited \(waited) ms for a processor)" : ""
    }
}

import Linux
import Messages

/// Which processes have sessions as workers: each has one, and each life is one process'.
///
/// Else a compromised worker could take as many jobs as it opens connections, or hand over the
/// segments of another one as its own.
struct WorkerProcesses {
    private var byProcess: [ProcessID: UInt64] = [:]
    private var byIncarnation: [Incarnation: UInt64] = [:]
    /// Sessions by listener whose process the kernel does not name: it is in another PID namespace.
    private var unseen: [Listener: Int] = [:]

    /// Sessions of unseen processes at one listener: more than there are containers of a kind.
    static let unseenMax = 64

    /// What becomes of a hello.
    enum Admission: Equatable {
        /// A session begins; that one, of the same process, ends before.
        case welcome(insteadOf: UInt64?)
        /// No session begins: another process has that incarnation, or there are too many of which
        /// the process is not seen. Who says hello again may be welcome later.
        case refuse
    }

    /// Whether a session may begin.
    func admit(_ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener)
        -> Admission
    {
        let own = process.flatMap { byProcess[$0] }
        if let namesake = byIncarnation[incarnation], namesake != own { return .refuse }
        if process == nil, unseen[listener, default: 0] >= Self.unseenMax { return .refuse }
        return .welcome(insteadOf: own)
    }

    mutating func insert(
        _ id: UInt64, _ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener
    ) {
        byIncarnation[incarnation] = id
        if let process { byProcess[process] = id } else { unseen[listener, default: 0] += 1 }
    }

    mutating func remove(
        _ id: UInt64, _ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener
    ) {
        if byIncarnation[incarnation] == id { byIncarnation[incarnation] = nil }
        guard let process else {
            unseen[listener, default: 0] -= 1
            return
        }
        if byProcess[process] == id { byProcess[process] = nil }
    }
}

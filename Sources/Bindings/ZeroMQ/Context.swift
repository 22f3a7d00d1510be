import CZMQ
import Glibc
import Synchronization

/// One libzmq instance with its I/O threads.
///
/// It ends (`zmq_ctx_term`) when the last reference goes; each `Socket` holds one, so all sockets
/// are closed by then, and since every socket has a finite linger, the end comes promptly. May be
/// shared between threads; sockets may not.
public final class Context {
    let pointer: UnsafeMutableRawPointer
    private let monitors = Atomic<UInt64>(0)

    /// Starts an instance.
    ///
    /// `socketsMax` bounds the sockets open at once (libzmq's default is 1,023). Throws `noMemory`
    /// or `tooManySockets` when the system has nothing left, EINVAL for a bad option.
    public init(ioThreads: Int = 1, socketsMax: Int = 1_023) throws(ZMQError) {
        guard let pointer = zmq_ctx_new() else { throw ZMQError(rawValue: zmq_errno()) }
        self.pointer = pointer
        try zmq { czmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(clamping: ioThreads)) }
        try zmq { czmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, Int32(clamping: socketsMax)) }
    }

    deinit {
        while czmq_ctx_term(pointer) == -EINTR {}
    }

    /// Wakes every wait in every thread: from now on all calls on its sockets throw `terminated`.
    public func shutdown() {
        // Fails only for a context that has ended, which no reference can name.
        _ = czmq_ctx_shutdown(pointer)
    }

    /// A name for one more monitor. Never used again: libzmq frees a name only some time after the
    /// monitor has ended.
    func nextMonitorName() -> String {
        "inproc://monitor-\(monitors.add(1, ordering: .relaxed).newValue)"
    }

    /// The version of the library that runs, for example `4.3.4`.
    public static var libraryVersion: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        zmq_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}

// libzmq documents contexts as safe to use from several threads; the pointer never changes.
extension Context: @unchecked Sendable {}

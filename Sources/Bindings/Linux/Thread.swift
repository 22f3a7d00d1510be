import CLinux

/// A thread of the kernel that runs one closure; detached when the value ends without `join()`.
public struct Thread: ~Copyable, Sendable {
    private let handle: UInt64

    /// Starts a thread.
    ///
    /// The name, of which 15 bytes count, shows in `top -H`. `stackBytes` 0 is the system's default
    /// (8 MiB of address space). Throws EAGAIN when the system has no more threads.
    public init(
        name: String, stackBytes: Int = 0, _ body: sending @escaping () -> Void
    ) throws(Errno) {
        let argument = Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var started: UInt64 = 0
        let result = clinux_thread_start(&started, stackBytes, threadMain, argument.toOpaque())
        if result < 0 {
            argument.release()
            throw Errno(rawValue: -result)
        }
        handle = started
    }

    /// A number of the calling thread, which stays the same and no other one has: how many threads
    /// of the process had asked for theirs before. For what is parted among threads.
    public static var ordinal: Int { clinux_thread_ordinal() }

    /// Has the calling thread, and those that it starts from now on, stand back behind others of
    /// the machine: a nice value from 0 to 19. Throws EPERM where a system call filter forbids it,
    /// and for a value below the one that holds.
    public static func standBack(by nice: Int32) throws(Errno) {
        _ = try syscall { clinux_thread_nice(nice) }
    }

    deinit {
        // Fails only for a thread that was joined or detached before.
        _ = clinux_thread_detach(handle)
    }

    /// Waits until the closure has returned.
    public consuming func join() {
        let joined = handle
        discard self
        _ = clinux_thread_join(joined)
    }
}

private final class ThreadBody {
    let name: String
    let run: () -> Void

    init(name: String, run: @escaping () -> Void) {
        self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        self.run = run
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let body = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    clinux_thread_name(body.name)
    // Without it a fault on a full stack leaves no record, but ends the process as well.
    _ = clinux_fault_stack()
    body.run()
    return nil
}

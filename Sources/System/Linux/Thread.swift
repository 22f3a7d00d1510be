import CLinux

/// A kernel thread that runs one closure. It's detached when the value ends without `join()`.
public struct Thread: ~Copyable, Sendable {
    private let handle: UInt64

    /// Starts a thread.
    ///
    /// The name shows in `top -H`, truncated to 15 bytes. A `stackBytes` of 0 is the system's
    /// default (8 MiB of address space). Throws EAGAIN if the system has no more threads.
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

    /// A permanent, unique number of the calling thread: the count of threads of this process that
    /// asked for theirs before. Used to distribute data among threads.
    public static var ordinal: Int { clinux_thread_ordinal() }

    /// Lowers the priority of the calling thread, and of threads that it starts later, to a nice
    /// value from 0 to 19. Throws EPERM if a system call filter forbids it, and for a value below
    /// the current one.
    public static func standBack(by nice: Int32) throws(Errno) {
        _ = try syscall { clinux_thread_nice(nice) }
    }

    deinit {
        // Fails only for a thread that was already joined or detached.
        _ = clinux_thread_detach(handle)
    }

    /// Waits for the closure to return.
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
    // Without an alternate stack, a fault on a full stack still ends the process but leaves no
    // record.
    _ = clinux_fault_stack()
    body.run()
    return nil
}

import CLinux

/// A child that this process started; it is reaped here and nowhere else.
///
/// When the last reference goes while the child runs, the child is killed and reaped; one that
/// waits in the kernel for a disk that does not answer is waited for a second. A class, because a
/// supervisor keeps its children in tables. Belongs to one thread.
public final class ChildProcess {
    /// Its number; not reused before it is reaped.
    public let processID: ProcessID
    /// Readable once the child has ended.
    public let descriptor: ProcessDescriptor
    /// How it ended; nil until `poll()` or `wait()` has seen it.
    public private(set) var status: ChildStatus?

    /// Starts a child: no signal blocked, all at their defaults, no descriptor but those named.
    ///
    /// Throws the kernel's error when the executable cannot be started, and EINVAL for a zero byte
    /// in a path, an argument or the environment.
    public init(_ command: ChildCommand) throws(Errno) {
        let started = try command.spawn()
        processID = started
        do {
            descriptor = try ProcessDescriptor(started)
        } catch {
            // Out of descriptors: no child without its pidfd.
            _ = clinux_kill(started, Signal.kill.rawValue)
            var raw = clinux_exit()
            _ = try? syscall { clinux_wait(started, true, &raw) }
            throw error
        }
    }

    deinit {
        guard status == nil else { return }
        _ = clinux_kill(processID, Signal.kill.rawValue)
        _ = try? wait(milliseconds: 1_000)
    }

    /// Sends a signal; nothing happens once the child has been reaped.
    public func send(_ signal: Signal) throws(Errno) {
        if status != nil { return }
        try descriptor.send(signal)
    }

    /// Kills whoever is in the process group of the child, which it leads, before it is reaped.
    public func killGroup() {
        if status == nil { _ = clinux_kill(-processID, Signal.kill.rawValue) }
    }

    /// Reaps the child if it has ended; nil while it runs.
    @discardableResult
    public func poll() throws(Errno) -> ChildStatus? {
        try reap(blocking: false)
        return status
    }

    /// Waits for the child without limit, and reaps it.
    @discardableResult
    public func wait() throws(Errno) -> ChildStatus {
        while true {
            if let status { return status }
            try reap(blocking: true)
        }
    }

    /// Waits for the child and reaps it; nil when the time is over.
    public func wait(milliseconds: Int) throws(Errno) -> ChildStatus? {
        if status == nil, try !descriptor.waitForEnd(milliseconds: milliseconds) { return nil }
        return try poll()
    }

    private func reap(blocking: Bool) throws(Errno) {
        if status != nil { return }
        let process = processID
        var raw = clinux_exit()
        if try syscall({ clinux_wait(process, blocking, &raw) }) > 0 { status = ChildStatus(raw) }
    }
}

import CLinux
import Glibc

/// A child started by this process. It's reaped here and nowhere else.
///
/// If the last reference goes away while the child runs, the child is killed and reaped; a child
/// stuck in uninterruptible disk I/O is waited for at most one second. It's a class so that a
/// supervisor can keep its children in tables. Belongs to one thread.
public final class ChildProcess {
    /// The process ID; not reused before the child is reaped.
    public let processID: ProcessID
    /// Readable once the child has ended.
    public let descriptor: ProcessDescriptor
    /// How the child ended; `nil` until `poll()` or `wait()` has observed it.
    public private(set) var status: ChildStatus?

    /// Starts a child with no blocked signals, default signal actions, and only the listed
    /// descriptors.
    ///
    /// Throws the kernel's error if the executable can't be started, and EINVAL if a path, an
    /// argument or the environment contains a zero byte.
    public init(_ command: ChildCommand) throws(Errno) {
        let started = try command.spawn()
        processID = started
        do {
            descriptor = try ProcessDescriptor(started)
        } catch {
            // Out of descriptors: without a pidfd the child can't be supervised, so it's killed.
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

    /// Sends a signal. No effect once the child has been reaped.
    public func send(_ signal: Signal) throws(Errno) {
        if status != nil { return }
        try descriptor.send(signal)
    }

    /// Kills all processes of the child's group, which the child leads. Only works before the child
    /// is reaped.
    public func killGroup() {
        if status == nil { _ = clinux_kill(-processID, Signal.kill.rawValue) }
    }

    /// Reaps the child if it has ended; returns `nil` while it runs.
    @discardableResult
    public func poll() throws(Errno) -> ChildStatus? {
        try reap(blocking: false)
        return status
    }

    /// Waits for the child without a timeout and reaps it.
    @discardableResult
    public func wait() throws(Errno) -> ChildStatus {
        while true {
            if let status { return status }
            try reap(blocking: true)
        }
    }

    /// Waits for the child and reaps it. Returns `nil` on timeout.
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

/// How a child ended.
public enum ChildStatus: Hashable, Sendable, CustomStringConvertible {
    /// It exited with this code (0...255).
    case exited(Int32)
    /// It was terminated by a signal.
    case signaled(Signal, dumpedCore: Bool)

    init(_ raw: clinux_exit) {
        self =
            raw.exited
            ? .exited(raw.value)
            : .signaled(Signal(rawValue: raw.value), dumpedCore: raw.dumped)
    }

    /// Whether it exited with code 0.
    public var isSuccess: Bool {
        self == .exited(0)
    }

    /// A description for logs, such as `exit 3` or `SIGKILL`.
    public var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signaled(let signal, let dumped): "\(signal)" + (dumped ? " (core dumped)" : "")
        }
    }
}

/// The program that a child runs and everything it inherits; nothing else is passed on.
public struct ChildCommand: Sendable {
    /// The source of one of the child's descriptors.
    public enum Stream: Hashable, Sendable {
        /// `/dev/null`.
        case null
        /// This process's descriptor of the same number.
        case inherited
        /// A descriptor of this process. It stays open here and isn't close-on-exec in the child.
        case descriptor(Int32)
    }

    /// The path of the executable; `PATH` is not searched.
    public var executable: String
    /// The arguments without the program name.
    public var arguments: [String]
    /// The complete environment.
    public var environment: [String: String]
    /// The child's descriptors by number. By default 0 is `/dev/null`, 1 and 2 are inherited.
    public var descriptors: [Int32: Stream] = [0: .null, 1: .inherited, 2: .inherited]
    /// The child's working directory; `nil` means this process's.
    public var workingDirectory: String?
    /// Whether the child leads its own process group, so that Ctrl-C at the terminal doesn't reach
    /// it.
    public var leadsGroup = false

    /// Creates a command. The environment defaults to that of this process.
    public init(
        _ executable: String, _ arguments: [String] = [],
        environment: [String: String] = CurrentProcess.environment
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }
}

extension ChildCommand {
    /// Starts the child with posix_spawn and returns its process ID.
    func spawn() throws(Errno) -> ProcessID {
        let path = try checked(path: executable)
        let directory = try workingDirectory.map { (text) throws(Errno) in try checked(path: text) }
        let argumentList = try CStringList(checking: [executable] + arguments)
        let environmentList = try CStringList(checking: environment.map { "\($0.key)=\($0.value)" })
        let plan = try DescriptorPlan(descriptors)
        var process: Int32 = 0
        let result = clinux_spawn(
            &process, path, argumentList.pointers, environmentList.pointers,
            plan.actions, plan.actions.count, plan.closeFrom, directory, leadsGroup)
        // The strings and the copies of descriptors must outlive the call.
        withExtendedLifetime((argumentList, environmentList, plan)) {}
        if result < 0 { throw Errno(rawValue: -result) }
        return process
    }
}

/// The actions that set up the child's descriptors.
private final class DescriptorPlan {
    private(set) var actions: [clinux_descriptor] = []
    let closeFrom: Int32
    private var copies: [Int32] = []

    /// All sources are duplicated above the target numbers first, so that no target overwrites a
    /// source that's still needed (child's 3 from 4 while child's 4 comes from 3).
    init(_ descriptors: [Int32: ChildCommand.Stream]) throws(Errno) {
        if descriptors.keys.contains(where: { $0 < 0 }) { throw .badDescriptor }
        closeFrom = max(2, descriptors.keys.max() ?? 2) + 1
        for child in 0..<closeFrom {
            let parent: Int32 =
                switch descriptors[child] {
                case .null: -1
                case .inherited: -2
                case .descriptor(let number): try copy(number)
                case nil: -3
                }
            actions.append(clinux_descriptor(child: child, parent: parent))
        }
    }

    deinit {
        for number in copies { _ = clinux_close(number) }
    }

    private func copy(_ number: Int32) throws(Errno) -> Int32 {
        let copied = try syscall { clinux_duplicate(number, closeFrom) }
        copies.append(copied)
        return copied
    }
}

/// Reaps orphans: process 1 inherits children whose parents have exited, and no other process can
/// reap them.
public enum OrphanReaper {
    /// Reaps at most `countMax` ended orphans and returns their number. Skips processes in `own`,
    /// which their `ChildProcess` reaps.
    @discardableResult
    public static func reap(
        except own: Set<ProcessID>, countMax: Int = 256
    ) throws(Errno) -> Int {
        var count = 0
        while count < countMax {
            do throws(Errno) {
                let ended = try syscall { clinux_wait_peek() }
                // Further children only show up once this one has been reaped.
                guard ended > 0, !own.contains(ended) else { return count }
                var raw = clinux_exit()
                try syscall { clinux_wait(ended, false, &raw) }
                count += 1
            } catch .noChild {
                return count
            }
        }
        return count
    }
}

/// Ends a process together with its parent.
public enum ParentDeath {
    /// Asks the kernel to send `signal` to this process when the parent *thread* that started it
    /// ends.
    ///
    /// Returns `false` if the parent is no longer `expected`: it died before the request, so the
    /// signal will never arrive and the caller must exit.
    public static func arm(_ signal: Signal, expected: ProcessID) throws(Errno) -> Bool {
        try syscall { clinux_parent_death_signal(signal.rawValue) }
        return getppid() == expected
    }
}

/// A stable reference to one process (pidfd), which never refers to another process that reuses the
/// number.
public struct ProcessDescriptor: ~Copyable, Sendable {
    /// Readable once the process has ended.
    public let descriptor: FileDescriptor

    /// Opens a reference. Throws `Errno.noSuchProcess` if there is no such process.
    ///
    /// Free of races for a child that hasn't been reaped yet, since its number can't be reused.
    public init(_ process: ProcessID) throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_pidfd_open(process) })
    }

    /// Sends a signal; throws `Errno.noSuchProcess` once the process has been reaped.
    public borrowing func send(_ signal: Signal) throws(Errno) {
        try descriptor.call { clinux_pidfd_signal($0, signal.rawValue) }
    }

    /// Waits for the process to end. Returns `false` on timeout; `nil` waits without a timeout.
    public borrowing func waitForEnd(milliseconds: Int?) throws(Errno) -> Bool {
        try descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}

import CLinux
import Glibc

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

/// How a child ended.
public enum ChildStatus: Hashable, Sendable, CustomStringConvertible {
    /// By itself, with this code (0...255).
    case exited(Int32)
    /// By a signal.
    case signalled(Signal, dumpedCore: Bool)

    init(_ raw: clinux_exit) {
        self =
            raw.exited
            ? .exited(raw.value)
            : .signalled(Signal(rawValue: raw.value), dumpedCore: raw.dumped)
    }

    /// Whether it ended by itself with code 0.
    public var isSuccess: Bool {
        self == .exited(0)
    }

    /// For the log, for example `exit 3` or `SIGKILL`.
    public var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let signal, let dumped): "\(signal)" + (dumped ? " (core dumped)" : "")
        }
    }
}

/// What a child runs, and all that it inherits: nothing that is not written here.
public struct ChildCommand: Sendable {
    /// What a child finds at one of its descriptor numbers.
    public enum Stream: Hashable, Sendable {
        /// `/dev/null`.
        case null
        /// What this process has at the same number.
        case inherited
        /// A descriptor of this process; it stays open here, and is not close-on-exec there.
        case descriptor(Int32)
    }

    /// The path of the executable; `PATH` is not searched.
    public var executable: String
    /// The arguments after the name of the program.
    public var arguments: [String]
    /// The whole environment.
    public var environment: [String: String]
    /// Descriptors by the child's number; 0 defaults to `/dev/null`, 1 and 2 to inherited.
    public var descriptors: [Int32: Stream] = [0: .null, 1: .inherited, 2: .inherited]
    /// The child's working directory; nil is ours.
    public var workingDirectory: String?
    /// Whether the child leads a process group of its own: a Ctrl-C at the terminal misses it.
    public var leadsGroup = false

    /// A command with this process' environment unless told otherwise.
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
    /// Starts the child (posix_spawn) and returns its number.
    func spawn() throws(Errno) -> ProcessID {
        let path = try checked(path: executable)
        let directory = try workingDirectory.map { (text) throws(Errno) in try checked(path: text) }
        let argumentList = try CStringList([executable] + arguments)
        let environmentList = try CStringList(environment.map { "\($0.key)=\($0.value)" })
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

/// What to do with each descriptor number of the child.
private final class DescriptorPlan {
    private(set) var actions: [clinux_descriptor] = []
    let closeFrom: Int32
    private var copies: [Int32] = []

    /// Sources are copied above all targets first, so that no target overwrites a source that is
    /// still needed (child 3 from 4 while child 4 comes from 3).
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

/// Children that this process never started: whoever is process 1 inherits what others leave
/// behind, and nobody else reaps it.
public enum EndedStrangers {
    /// Reaps those that have ended, at most `countMax`, and returns how many; never one of `own`,
    /// which its `ChildProcess` reaps.
    @discardableResult
    public static func reap(
        except own: Set<ProcessID>, countMax: Int = 256
    ) throws(Errno) -> Int {
        var count = 0
        while count < countMax {
            do throws(Errno) {
                let ended = try syscall { clinux_wait_peek() }
                // Others are found once it is reaped.
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

/// The end of a process together with its parent.
public enum ParentDeath {
    /// Asks the kernel to send `signal` to this process when the *thread* that started it ends.
    ///
    /// Returns false when the parent is not `expected` any more: it died before the request, so the
    /// signal would never come, and the caller ends itself.
    public static func arm(_ signal: Signal, expected: ProcessID) throws(Errno) -> Bool {
        try syscall { clinux_parent_death_signal(signal.rawValue) }
        return getppid() == expected
    }
}

/// A stable reference to one process (pidfd): never to another one that got the same number.
public struct ProcessDescriptor: ~Copyable, Sendable {
    /// Readable once the process has ended.
    public let descriptor: FileDescriptor

    /// Opens a reference; throws `Errno.noSuchProcess` when there is no such process.
    ///
    /// Sound for a child of ours that is not reaped yet: its number cannot be reused.
    public init(_ process: ProcessID) throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_pidfd_open(process) })
    }

    /// Sends a signal; throws `Errno.noSuchProcess` once the process has been reaped.
    public borrowing func send(_ signal: Signal) throws(Errno) {
        let number = descriptor.number
        try syscall { clinux_pidfd_signal(number, signal.rawValue) }
    }

    /// Waits for the end of the process; false when the time is over, nil waits without limit.
    public borrowing func waitForEnd(milliseconds: Int?) throws(Errno) -> Bool {
        try descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}

public import Linux
public import Model

/// The common first steps of every program of the stack, in this order: block signals before any
/// thread starts, arrange to exit with the parent, set resource limits, then open the log. No
/// library may be initialized before this.
public struct Bootstrap: ~Copyable {
    /// SIGTERM and SIGINT (plus the requested extra signals) as a readable descriptor.
    public let signals: SignalDescriptor
    /// Which of the signals that stop the program have arrived.
    public var stopSignals: StopSignals
    /// Paths of the stack.
    public let paths: RuntimePaths
    /// The incarnation of this process.
    public let incarnation: Incarnation
    /// The pipe that reports startup progress to the supervisor.
    public var ready: ReadyPipe
    /// Writes lines to stderr.
    public let log: Log
    /// The number of times the supervisor has restarted this program.
    public let restarts: UInt32

    /// The secret from the supervisor, which this program presents to listeners or demands from
    /// peers; nil if there isn't one.
    public let secret: [UInt8]?

    /// The names of the value arguments that every program takes.
    public static let valued: Set<String> = [
        "runtime-dir", "restarts", "ready-fd", "secret-fd", "parent-pid", "log-level",
        "log-format", "log-fd",
    ]

    /// Prepares the process. Thrown errors describe themselves in one readable sentence; the
    /// program then exits with `ProgramExit.status`.
    ///
    /// `signals`: additional signals to read besides SIGTERM and SIGINT. `beats`: whether the
    /// program sends periodic heartbeats to its supervisor.
    public init(
        program: String, _ arguments: ProgramArguments, signals more: [Signal] = [],
        beats: Bool = false
    ) throws {
        let awaited: [Signal] = [.terminate, .interrupt] + more
        try Signal.block(awaited)
        try Signal.brokenPipe.ignore()
        try Self.followParent(arguments)
        // libzmq aborts the process when it runs out of descriptors, so raise the limit to the
        // maximum.
        try ResourceLimit.raise(.descriptors, to: .max)
        // A core file would hold images and secrets.
        try ResourceLimit.lower(.coreFile, to: 0)
        let readyNumber = try arguments.number("ready-fd", else: -1)
        let paths = try RuntimePaths(resolving: try arguments.required("runtime-dir"))
        let restarts = try arguments.number("restarts", else: 0)
        let secret = try Self.inheritedSecret(arguments)
        let logDescriptor = Int32(clamping: try arguments.number("log-fd", else: 2))
        let signals = try SignalDescriptor(awaited)
        // Nothing throws from here on: a noncopyable value can't be left partially initialized.
        self.paths = paths
        self.secret = secret
        self.restarts = UInt32(clamping: restarts)
        self.signals = signals
        // An external program that `serve` started has its pipe, but no argument.
        stopSignals = StopSignals(
            supervisor: Self.supervisor(arguments)
                ?? (readyNumber < 0 ? nil : CurrentProcess.parentID))
        incarnation = Incarnation(Identifier128(high: Random.uint64(), low: Random.uint64()))
        log = Log(
            program: program,
            level: arguments.value("log-level").flatMap(LogLevel.init(rawValue:)) ?? .info,
            format: arguments.value("log-format").flatMap(LogFormat.init(rawValue:)) ?? .text,
            descriptor: logDescriptor)
        ready = ReadyPipe(inherited: readyNumber < 0 ? nil : readyNumber, beats: beats)
    }

    /// Logs the error that ends a program, or a sentence that explains it.
    public static func complain(_ program: String, _ error: Any) {
        Log(program: program, descriptor: Self.logDescriptor(CommandLine.arguments))
            .error("cannot continue", ["error": .string("\(error)")])
    }

    /// The descriptor of the log, as far as the arguments can be parsed: standard error, unless the
    /// supervisor reserves that for native libraries.
    private static func logDescriptor(_ words: [String]) -> Int32 {
        guard let place = words.firstIndex(of: "--log-fd") else { return 2 }
        return words.dropFirst(place + 1).first.flatMap { Int32($0) } ?? 2
    }

    /// Reads the secret that the supervisor passes on an inherited descriptor, because arguments
    /// are world-readable and the environment is visible to some processes. Closing the descriptor
    /// before the worker touches untrusted input leaves no other way to the secret.
    private static func inheritedSecret(_ arguments: ProgramArguments) throws -> [UInt8]? {
        let number = Int32(clamping: try arguments.number("secret-fd", else: -1))
        guard number >= 0 else { return nil }
        return try FileDescriptor(owning: number).sealedBytes(
            bytesMax: ListenerSecrets.byteCountMax)
    }

    private static func supervisor(_ arguments: ProgramArguments) -> ProcessID? {
        arguments.value("parent-pid").flatMap { ProcessID($0) }
    }

    private static func followParent(_ arguments: ProgramArguments) throws {
        guard let parent = supervisor(arguments) else { return }
        guard try ParentDeath.arm(.kill, expected: parent) else {
            throw ConfigurationError("the supervisor has exited")
        }
    }
}

/// The pipe on which a child reports its startup stage to its supervisor (`Heartbeat`).
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?
    private let beats: Bool

    /// Takes ownership of the inherited descriptor, if any. With `beats` the pipe stays open for
    /// heartbeats after `ready`.
    public init(inherited number: Int?, beats: Bool = false) {
        let number = number.flatMap { Int32(exactly: $0) }
        let inherited = number.map { FileDescriptor(owning: $0) }
        // Close-on-exec: programs started by this one don't inherit it.
        let end = try? inherited?.duplicate()
        // A slow supervisor must not block a process that sends heartbeats.
        if beats { try? end?.setNonBlocking() }
        writeEnd = end
        self.beats = beats
    }

    /// Reports a stage. Without heartbeats, `ready` is the last report and later calls do nothing.
    ///
    /// Returns false once, when the reading end is closed. If the supervisor has exited,
    /// `ParentDeath` ends this process as well; if the pipe is full, the report is dropped, since
    /// the supervisor has enough to read.
    @discardableResult
    public mutating func report(_ stage: Heartbeat.Stage, _ incarnation: Incarnation) -> Bool {
        guard let descriptor = writeEnd.take() else { return true }
        do throws(Errno) {
            try descriptor.writeAll(Array(Heartbeat(stage, incarnation).line.utf8))
        } catch  where error != .wouldBlock {
            return false
        } catch {}
        if stage != .ready || beats { writeEnd = consume descriptor }
        return true
    }
}

/// The exit statuses of the stack's programs, as read by the supervisor.
public enum ProgramExit {
    /// Completed, or ended on request.
    public static let success: Int32 = 0
    /// Invalid arguments; a restart would not help.
    public static let usage: Int32 = 64
    /// A defect, or a system that lacks something that every process needs.
    public static let internalError: Int32 = 70
    /// A voluntary exit, such as recycling or a hard cancellation: start a replacement.
    public static let startAgain: Int32 = 75
    /// An unusable setting, such as a cache directory that another process holds.
    public static let configuration: Int32 = 78

    /// Writes a text to standard output and returns the exit status.
    public static func printing(_ text: String) -> Int32 {
        do throws(Errno) {
            try Array(text.utf8).span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try FileDescriptor.writeAll(bytes, to: 1)
            }
            return success
        } catch {
            return internalError
        }
    }

    /// Returns the exit status for an error that ends a program.
    public static func status(of error: any Error) -> Int32 {
        switch error {
        case is ProgramArgumentsError: usage
        case is ConfigurationError: configuration
        default: internalError
        }
    }
}

/// An unusable setting, with advice on how to fix it.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error and the remedy, in one sentence.
    public let description: String

    /// Creates an error with a description.
    public init(_ sentence: String) { description = sentence }
}

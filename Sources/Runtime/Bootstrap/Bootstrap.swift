public import Linux
public import Messages
public import Observability
public import SharedArena

/// What every program of the stack does first, in this order: signals before any thread, end with
/// the parent, limits, then the log (style: no library is initialised before).
public struct Bootstrap: ~Copyable {
    /// SIGTERM and SIGINT, as readable events.
    public let signals: SignalDescriptor
    /// Paths of the stack.
    public let paths: RuntimePaths
    /// This life of the process.
    public let incarnation: Incarnation
    /// Where the supervisor hears how far it is.
    public var ready: ReadyPipe
    /// Writes lines to stderr.
    public let log: Log
    /// How often the supervisor restarted this program.
    public let restarts: UInt32

    /// What the supervisor gave it to show, or to ask for, at the listeners; nil where it gave
    /// none.
    public let secret: [UInt8]?

    /// Names of the arguments that every program takes.
    public static let valued: Set<String> = [
        "runtime-dir", "restarts", "ready-fd", "secret-fd", "parent-pid", "log-level",
        "log-format", "log-fd",
    ]

    /// Prepares the process. Whatever is thrown is a sentence for people; the program then ends
    /// with `ProgramExit.status`.
    ///
    /// `signals`: what else the program reads besides SIGTERM and SIGINT. `beats`: it tells its
    /// supervisor again and again that it lives.
    public init(
        program: String, _ arguments: ProgramArguments, signals more: [Signal] = [],
        beats: Bool = false
    ) throws {
        let awaited: [Signal] = [.terminate, .interrupt] + more
        try Signal.block(awaited)
        try Signal.brokenPipe.ignore()
        try Self.followParent(arguments)
        // libzmq ends the process where it finds no descriptor: take what the system allows.
        try ResourceLimit.raise(.descriptors, to: .max)
        // A core file would hold images and secrets.
        try ResourceLimit.lower(.coreFile, to: 0)
        let readyNumber = try arguments.number("ready-fd", else: -1)
        let paths = try RuntimePaths(resolving: try arguments.required("runtime-dir"))
        let restarts = try arguments.number("restarts", else: 0)
        let secret = try InheritedSecret.take(arguments)
        let logDescriptor = Int32(clamping: try arguments.number("log-fd", else: 2))
        let signals = try SignalDescriptor(awaited)
        // Nothing throws from here on: a noncopyable value cannot be half made.
        self.paths = paths
        self.secret = secret
        self.restarts = UInt32(clamping: restarts)
        self.signals = signals
        incarnation = Incarnation(Identifier128(high: Random.uint64(), low: Random.uint64()))
        log = Log(
            program: program,
            level: arguments.value("log-level").flatMap(LogLevel.init(rawValue:)) ?? .info,
            format: arguments.value("log-format").flatMap(LogFormat.init(rawValue:)) ?? .text,
            descriptor: logDescriptor)
        ready = ReadyPipe(inherited: readyNumber < 0 ? nil : readyNumber, beats: beats)
    }

    /// Writes to the log why a program ends.
    public static func complain(_ program: String, _ error: any Error) {
        complain(program, "\(error)")
    }

    /// The same of an error in words.
    public static func complain(_ program: String, _ error: String) {
        Log(program: program, descriptor: Self.logDescriptor(CommandLine.arguments))
            .error("cannot go on", ["error": .string(error)])
    }

    /// The descriptor of the log, as far as the words can be understood: standard error, unless a
    /// supervisor keeps that for native libraries.
    private static func logDescriptor(_ words: [String]) -> Int32 {
        guard let place = words.firstIndex(of: "--log-fd") else { return 2 }
        return words.dropFirst(place + 1).first.flatMap { Int32($0) } ?? 2
    }

    private static func followParent(_ arguments: ProgramArguments) throws {
        guard let text = arguments.value("parent-pid"), let parent = Int32(text) else { return }
        guard try ParentDeath.arm(.kill, expected: parent) else {
            throw ConfigurationError("the supervisor has gone")
        }
    }
}

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

/// What a supervisor gives a child on a descriptor, since everybody may read its arguments and
/// some its environment.
enum InheritedSecret {
    /// The bytes; nil where no descriptor is named. It is closed then: before a worker touches
    /// anything of others, so that it has no other way to them.
    static func take(_ arguments: ProgramArguments) throws -> [UInt8]? {
        guard let text = arguments.value(argument) else { return nil }
        guard let number = Int32(text), number >= 0 else {
            throw ProgramArgumentsError.notANumber(argument, text)
        }
        return try FileDescriptor(owning: number).sealedBytes(
            bytesMax: ListenerSecrets.byteCountMax)
    }

    private static let argument = "secret-fd"
}

/// The descriptor on which a child tells its supervisor how far it is (`LifeSign`).
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?
    private let beats: Bool

    /// Takes the inherited descriptor, or nothing where no supervisor waits; with `beats` it stays
    /// open for signs that follow `ready`.
    public init(inherited number: Int?, beats: Bool = false) {
        let number = number.flatMap { Int32(exactly: $0) }
        let inherited = number.map { FileDescriptor(owning: $0) }
        // Not for the programs that this one starts.
        let end = try? inherited?.duplicate()
        // A supervisor that does not read for long must not stop who beats.
        if beats { try? end?.setNonBlocking() }
        writeEnd = end
        self.beats = beats
    }

    /// Tells it. Where it does not beat, nothing follows `ready`: whatever is told after it does
    /// nothing.
    ///
    /// False once, where nobody reads it any more. A supervisor that has gone takes a process of
    /// ours with it (`ParentDeath`); one that is busy has enough to read.
    @discardableResult
    public mutating func tell(_ stage: LifeSign.Stage, _ incarnation: Incarnation) -> Bool {
        guard let descriptor = writeEnd.take() else { return true }
        do throws(Errno) {
            try descriptor.writeAll(Array(LifeSign(stage, incarnation).line.utf8))
        } catch  where error != .wouldBlock {
            return false
        } catch {}
        if stage != .ready || beats { writeEnd = consume descriptor }
        return true
    }
}

/// With which status a program of the stack ends; the supervisor reads them.
public enum ProgramExit {
    /// Done, or told to end.
    public static let success: Int32 = 0
    /// Arguments that make no sense: starting it again would not help.
    public static let usage: Int32 = 64
    /// A defect, or a system that does not give what every process needs.
    public static let internalError: Int32 = 70
    /// Ended for its own good, such as recycled or cancelled hard: start the next one.
    public static let startAgain: Int32 = 75
    /// A setting that cannot be used, such as a cache directory that another process holds.
    public static let configuration: Int32 = 78

    /// The status for an error that ends a program.
    public static func status(of error: any Error) -> Int32 {
        switch error {
        case is ProgramArgumentsError: usage
        case is ConfigurationError: configuration
        default: internalError
        }
    }
}

/// A setting that cannot be used; says what to do.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String

    /// Takes a sentence.
    public init(_ sentence: String) { description = sentence }
}

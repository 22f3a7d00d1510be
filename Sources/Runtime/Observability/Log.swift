import Linux
import Synchronization

/// Writes one line for one event, with one `write`, to a descriptor (2, standard error).
///
/// A value that is handed to those who log: there is no global one. May be used from any thread;
/// lines of at most 4 KiB do not mix. What cannot be written is lost: a log must not stop the work.
/// So nothing is written to a pipe that is full, and the next line for which there is room comes
/// after one that says how many were lost.
public struct Log: Sendable {
    /// Names of a line's fields, in order, with their values.
    public typealias Fields = KeyValuePairs<String, LogValue>

    /// The program as it shows in each line.
    public let program: String
    /// Lines below this level are not written, and their fields not evaluated.
    public let level: LogLevel
    /// How lines are written.
    public let format: LogFormat
    private let descriptor: Int32
    private let process: ProcessID
    private let lost = LostLines()

    /// A log for this process.
    public init(
        program: String, level: LogLevel = .info, format: LogFormat = .text,
        descriptor: Int32 = 2
    ) {
        self.program = program
        self.level = level
        self.format = format
        self.descriptor = descriptor
        process = CurrentProcess.processID
    }

    /// A log of the same program to the same descriptor.
    public func with(level: LogLevel, format: LogFormat) -> Log {
        Log(program: program, level: level, format: format, descriptor: descriptor)
    }

    /// Every step, for those who look for a fault.
    public func debug(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.debug, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// What an operator wants to see in a quiet hour.
    public func info(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.info, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Something failed and was dealt with.
    public func warning(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.warning, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Something failed, and somebody should look.
    public func error(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.error, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// A line whose fields depend on what there is to say.
    public func write(
        _ level: LogLevel, _ message: String, fields: @autoclosure () -> [(String, LogValue)]
    ) {
        write(level, message, fields)
    }

    private func write(
        _ level: LogLevel, _ message: String, _ fields: () -> some Sequence<(String, LogValue)>
    ) {
        if level < self.level { return }
        guard FileDescriptor.hasRoom(descriptor) else { return lost.add() }
        let count = lost.take()
        if count > 0 {
            put(
                max(.warning, self.level), "lines were lost: nobody read them",
                [("count", LogValue(count))])
            // That may have filled it.
            guard FileDescriptor.hasRoom(descriptor) else { return lost.add() }
        }
        put(level, message, fields())
    }

    private func put(
        _ level: LogLevel, _ message: String, _ fields: some Sequence<(String, LogValue)>
    ) {
        var line = LogLine(
            format, level, program: program, process: process,
            nanoseconds: WallClock.nanoseconds(), message: message)
        for (key, value) in fields { line.add(key, value) }
        line.end()
        line.bytes.withUnsafeBytes { try? FileDescriptor.writeAll($0, to: descriptor) }
    }
}

/// How much a line matters; a log writes the lines of its own level and above.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every step, for those who look for a fault.
    case debug
    /// What an operator wants to see in a quiet hour.
    case info
    /// Something failed and was dealt with.
    case warning
    /// Something failed, and somebody should look.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// Lesser levels matter less.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }
}

/// How a line is written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, program, message, then `key=value`.
    case text
    /// For machines: one JSON object a line.
    case json
}

/// What a field of a line holds. Literals and interpolated strings need no case to be named.
public enum LogValue: Hashable, Sendable {
    /// A text; may hold anything, the line escapes it.
    case string(String)
    /// A number.
    case integer(Int64)
    /// A number with a fraction.
    case double(Double)
    /// So many microseconds, written as milliseconds.
    case milliseconds(Int64)
    /// Yes or no.
    case bool(Bool)

    /// Any whole number.
    public init(_ number: some BinaryInteger) {
        self = .integer(Int64(clamping: number))
    }

    /// Milliseconds, to the microsecond. What is no such number of 300 years is written as it is.
    public init(milliseconds: Double) {
        let microseconds = (milliseconds * 1_000).rounded()
        self = Int64(exactly: microseconds).map { .milliseconds($0) } ?? .double(milliseconds)
    }

    /// Anything that can say what it is.
    public init(describing value: some CustomStringConvertible) {
        self = .string(value.description)
    }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// How many lines of a log found no room, until it is told. All copies of the log share one.
final class LostLines: Sendable {
    private let count = Atomic<UInt64>(0)

    /// One more.
    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    /// How many there were since the last call.
    func take() -> UInt64 {
        // Hardly ever is there one: then nothing is written to shared memory.
        count.load(ordering: .relaxed) == 0 ? 0 : count.exchange(0, ordering: .relaxed)
    }
}

/// How many lines of one sort may be written, so that a flood of events cannot fill a disk.
///
/// A value without a clock: the caller says when it is, on the clock that it likes best.
public struct LineBudget: Sendable {
    /// What becomes of a line.
    public enum Verdict: Hashable, Sendable {
        /// It is written, after saying that so many were left out since the last one.
        case write(leftOut: UInt64)
        /// It is left out, and counted.
        case leaveOut
    }

    private let linesPerSecond: UInt64
    private var second: UInt64?
    private var written: UInt64 = 0
    private var leftOut: UInt64 = 0

    /// So many lines in each second of the clock.
    public init(linesPerSecond: UInt64) { self.linesPerSecond = linesPerSecond }

    /// One more line wants to be written.
    public mutating func take(at nanoseconds: UInt64) -> Verdict {
        let now = nanoseconds / 1_000_000_000
        if now != second { (second, written) = (now, 0) }
        guard written < linesPerSecond else {
            leftOut += 1
            return .leaveOut
        }
        written += 1
        return .write(leftOut: takeLeftOut())
    }

    /// How many lines were left out and have not been told of; at the end.
    public mutating func takeLeftOut() -> UInt64 {
        defer { leftOut = 0 }
        return leftOut
    }
}

/// Which requests have a line in the log of the coordinator (`--log-requests`).
public enum RequestLogging: String, CaseIterable, Sendable {
    /// All, memory hits included: they take the long way then, and cost twice as much.
    case all
    /// All but those that memory answered.
    case misses
    /// Those that took a second, and those that failed.
    case slow
    /// No request, whatever its trace says.
    case none
}

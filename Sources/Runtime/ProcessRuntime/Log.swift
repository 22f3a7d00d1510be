import Linux
import Synchronization

/// Writes one line per event with a single `write` to a descriptor (2, standard error).
///
/// Passed to the code that logs; there is no global log. May be used from any thread; lines of at
/// most 4 KiB are not interleaved. A line that can't be written is dropped, because logging must
/// not block work: nothing is written to a full pipe, and the next line that fits is preceded by
/// the number of dropped lines.
public struct Log: Sendable {
    /// The names and values of a line's fields, in order.
    public typealias Fields = KeyValuePairs<String, LogValue>

    /// The program name in each line.
    public let program: String
    /// Lines below this level are not written, and their fields are not evaluated.
    public let level: LogLevel
    /// The format of lines.
    public let format: LogFormat
    private let descriptor: Int32
    private let process: ProcessID
    private let lost = LostLines()

    /// Creates a log for this process.
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

    /// Returns a log for the same program and descriptor with another level and format.
    public func with(level: LogLevel, format: LogFormat) -> Log {
        Log(program: program, level: level, format: format, descriptor: descriptor)
    }

    /// Logs a detail for debugging.
    public func debug(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.debug, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Logs an event that is of interest to an operator during normal operation.
    public func info(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.info, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Logs a failure that was handled.
    public func warning(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.warning, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Logs a failure that needs attention.
    public func error(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        write(.error, message) { fields().lazy.map { ($0.key, $0.value) } }
    }

    /// Logs a line with a variable set of fields.
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
        let count = lost.drain()
        if count > 0 {
            put(
                max(.warning, self.level), "log lines lost: the reader is too slow",
                [("count", LogValue(count))])
            // Writing that line may have filled the pipe.
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

/// The severity of a line; a log writes lines of its own level and above.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Details for debugging.
    case debug
    /// Events of interest to an operator during normal operation.
    case info
    /// A failure that was handled.
    case warning
    /// A failure that needs attention.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// Orders levels by severity.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }
}

/// The format of a line.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, program, message, then `key=value` fields.
    case text
    /// For machines: one JSON object per line.
    case json
}

/// The value of a field. Literals and string interpolations need no explicit case.
public enum LogValue: Hashable, Sendable {
    /// Any text; the line escapes it.
    case string(String)
    /// An integer.
    case integer(Int64)
    /// A floating-point number.
    case double(Double)
    /// A duration in microseconds, written as milliseconds.
    case milliseconds(Int64)
    /// A Boolean.
    case bool(Bool)

    /// Creates a value from any integer.
    public init(_ number: some BinaryInteger) {
        self = .integer(Int64(clamping: number))
    }

    /// Creates a duration from milliseconds, with microsecond precision. NaN, infinity and
    /// durations above 300 years are written as plain numbers.
    public init(milliseconds: Double) {
        let microseconds = (milliseconds * 1_000).rounded()
        self = Int64(exactly: microseconds).map { .milliseconds($0) } ?? .double(milliseconds)
    }

    /// Creates a value from anything with a description.
    public init(describing value: some CustomStringConvertible) {
        self = .string(value.description)
    }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// Creates a text from a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a floating-point number from a literal.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a Boolean from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// The number of dropped lines that were not reported yet, shared by all copies of a log.
final class LostLines: Sendable {
    private let count = Atomic<UInt64>(0)

    /// Counts one more dropped line.
    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    /// Returns the number of dropped lines since the last call.
    func drain() -> UInt64 {
        // Usually zero: the read then avoids a write to a shared cache line.
        count.load(ordering: .relaxed) == 0 ? 0 : count.exchange(0, ordering: .relaxed)
    }
}

/// Limits the rate of one kind of line, so that a flood of events can't fill a disk.
///
/// A value without a clock: the caller supplies the time of any monotonic clock.
public struct LineBudget: Sendable {
    /// What to do with a line.
    public enum Verdict: Hashable, Sendable {
        /// Write it, after reporting the number of lines suppressed since the last one.
        case write(leftOut: UInt64)
        /// Suppress it and count it.
        case leaveOut
    }

    private let linesPerSecond: UInt64
    private var second: UInt64?
    private var written: UInt64 = 0
    private var leftOut: UInt64 = 0

    /// Allows so many lines per second of the caller's clock.
    public init(linesPerSecond: UInt64) { self.linesPerSecond = linesPerSecond }

    /// Accounts for one more line and decides whether to write it.
    public mutating func admit(at nanoseconds: UInt64) -> Verdict {
        let now = nanoseconds / 1_000_000_000
        if now != second { (second, written) = (now, 0) }
        guard written < linesPerSecond else {
            leftOut += 1
            return .leaveOut
        }
        written += 1
        return .write(leftOut: drainLeftOut())
    }

    /// Returns the number of suppressed lines that were not reported yet; call at the end.
    public mutating func drainLeftOut() -> UInt64 {
        defer { leftOut = 0 }
        return leftOut
    }
}

/// Which requests the coordinator logs (`--log-requests`).
public enum RequestLogging: String, CaseIterable, Sendable {
    /// All requests, including memory hits, which then bypass the fast path and cost twice as much.
    case all
    /// All requests except memory hits.
    case misses
    /// Requests that took a second or more, and failed ones.
    case slow
    /// No requests, not even traced ones.
    case none
}

import Linux

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

import Linux
import Model

/// A running child process.
final class SupervisedChild {
    let kind: ProcessKind
    let pool: PoolName?
    let isExternal: Bool
    let process: ChildProcess
    let ready: ReadyPipeReader
    /// The output of its native libraries; nil for an external program, which writes to the
    /// supervisor's log.
    let output: OutputPipe?
    /// The number of heartbeats from a front end or an external program.
    var beats: UInt64 = 0

    /// Starts the program with no descriptors except its log, the pipe, its secret and its
    /// listener, and in a process group of its own, so that Ctrl-C in the terminal reaches only the
    /// supervisor.
    init(
        _ specification: ChildSpecification, restarts: UInt32, secret: Int32? = nil
    ) throws(Errno) {
        let pipe = try FileDescriptor.pipe()
        isExternal = specification.isExternal
        let life = ChildSpecification.lifeArguments(
            restarts: restarts, parent: CurrentProcess.processID, hasSecret: secret != nil,
            listens: specification.listener != nil)
        var environment = ChildEnvironment.of(CurrentProcess.environment)
        environment.merge(specification.environment) { $1 }
        if isExternal { environment["IMAGEBUS_RESTARTS"] = "\(restarts)" }
        var command = ChildCommand(
            specification.program, specification.arguments + (isExternal ? [] : life),
            environment: environment)
        let written = try FileDescriptor.pipe()
        // A library that writes faster than the supervisor reads loses text instead of blocking.
        try written.writeEnd.setNonBlocking()
        command.descriptors = [
            0: .null, 1: .descriptor(isExternal ? 2 : written.writeEnd.number),
            2: isExternal ? .inherited : .descriptor(written.writeEnd.number),
            ChildSpecification.readyDescriptor: .descriptor(pipe.writeEnd.number),
        ]
        if !isExternal { command.descriptors[ChildSpecification.logDescriptor] = .descriptor(2) }
        if let secret {
            command.descriptors[ChildSpecification.secretDescriptor] = .descriptor(secret)
        }
        if let listener = specification.listener {
            command.descriptors[ChildSpecification.listenerDescriptor] = .descriptor(listener)
        }
        command.leadsGroup = true
        kind = specification.kind
        pool = specification.pool
        process = try ChildProcess(command)
        ready = try ReadyPipeReader(pipe.readEnd)
        output = isExternal ? nil : try OutputPipe(written.readEnd)
    }

    /// The descriptors that signal events of the child.
    var descriptorNumbers: [Int32] {
        let end = process.descriptor.descriptor.number
        return [end] + (ready.number.map { [$0] } ?? []) + (output?.number.map { [$0] } ?? [])
    }
}

/// The reading end of a pipe to which one child writes. Confined to one thread.
class ChildPipe {
    /// nil after the child has closed its end, or after `close`.
    private var readEnd: FileDescriptor?

    /// Takes ownership of the reading end.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        try readEnd.setNonBlocking()
        self.readEnd = consume readEnd
    }

    /// The descriptor to poll; `nil` if the pipe is closed.
    var number: Int32? { readEnd?.number }

    /// Stops reading; further writes of the child fail.
    func close() { readEnd = nil }

    /// Returns available bytes, at most `count`, or an empty array. Closes the pipe at its end.
    func read(upTo count: Int) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        do throws(Errno) {
            let count = try readEnd?.read(into: buffer) ?? 0
            if count == 0 { readEnd = nil }
            return Array(buffer[..<count])
        } catch .wouldBlock {
            return []
        } catch {
            readEnd = nil
            return []
        }
    }
}

/// The supervisor's end of the pipe on which a child reports its startup stage.
final class ReadyPipeReader: ChildPipe {
    private var line: [UInt8] = []

    /// More than a correct child writes per turn; the rest is read in the next turn.
    private static let readMax = 256

    /// Returns the reports since the last call. Closes the pipe if the child has written invalid
    /// data.
    func drain() -> [Heartbeat] {
        guard number != nil else { return [] }
        var heartbeats: [Heartbeat] = []
        for byte in read(upTo: Self.readMax) {
            parse(byte, into: &heartbeats)
            if number == nil { break }
        }
        return heartbeats
    }

    private func parse(_ byte: UInt8, into heartbeats: inout [Heartbeat]) {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            if line.count > Heartbeat.lineBytesMax { close() }
            return
        }
        if let sign = Heartbeat(line: String(decoding: line, as: UTF8.self)) {
            heartbeats.append(sign)
        } else {
            close()
        }
        line = []
    }
}

/// The pipe to which the native libraries of a child write.
final class OutputPipe: ChildPipe {
    private var lines = NativeLines()
    private var isPaused = false

    /// The size of a read, limited so that a child that writes a lot doesn't delay others.
    private static let readMax = 16 << 10
    /// The number of reads after a child has exited: the capacity of a pipe.
    private static let readsAtEnd = 4

    /// The descriptor to poll, while the pipe is open. nil while the budget is exhausted: the pipe
    /// then fills up at no cost to either side.
    override var number: Int32? { isPaused ? nil : super.number }

    /// Resumes polling; called about once a second.
    func resume() { isPaused = false }

    /// Returns the lines to log since the last call. `isOver`: whether the child has exited, so
    /// that no more output follows.
    func readLines(isOver: Bool, at nanoseconds: UInt64) -> [String] {
        var read: [String] = []
        for _ in 0..<(isOver ? Self.readsAtEnd : 1) {
            read += lines.append(self.read(upTo: Self.readMax), at: nanoseconds)
        }
        isPaused = lines.isSpent
        if isOver || super.number == nil { read += lines.end(at: nanoseconds) }
        return read
    }
}

/// Splits the output of native libraries into log lines, within a budget of lines and bytes.
///
/// A malicious image can make a decoder write any amount. A value without a clock: the caller
/// passes monotonic nanoseconds.
struct NativeLines: Sendable {
    /// The maximum length of a line in bytes; the rest is dropped.
    static let lineBytesMax = 512
    /// The number of lines that may be logged in a burst: enough for a crash report.
    static let burst: UInt64 = 200
    /// The time after which the budget grows by one line.
    static let nanosecondsPerLine: UInt64 = 1_000_000_000

    private var line: [UInt8] = []
    private var spent: UInt64 = 0
    private var refilledAt: UInt64 = 0
    private var dropped: UInt64 = 0

    /// Whether the budget is exhausted.
    var isSpent: Bool { spent >= Self.burst }

    /// Adds bytes and returns the completed lines to log.
    mutating func append(_ bytes: [UInt8], at now: UInt64) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(now, into: &lines)
            } else if line.count < Self.lineBytesMax {
                line.append(byte)
            }
        }
        return lines
    }

    /// Ends the output: returns the last line and the number of dropped lines.
    mutating func end(at now: UInt64) -> [String] {
        var lines: [String] = []
        if !line.isEmpty { endLine(now, into: &lines) }
        if dropped > 0 { lines.append(drainDropped()) }
        return lines
    }

    private mutating func endLine(_ now: UInt64, into lines: inout [String]) {
        defer { line = [] }
        guard !line.isEmpty else { return }
        refill(now)
        guard spent < Self.burst else {
            dropped += 1
            return
        }
        spent += 1
        if dropped > 0 { lines.append(drainDropped()) }
        lines.append(String(decoding: line, as: UTF8.self))
    }

    private mutating func refill(_ now: UInt64) {
        guard now > refilledAt else { return }
        let earned = (now - refilledAt) / Self.nanosecondsPerLine
        guard earned > 0 else { return }
        spent -= min(spent, earned)
        refilledAt = spent == 0 ? now : refilledAt + earned * Self.nanosecondsPerLine
    }

    private mutating func drainDropped() -> String {
        defer { dropped = 0 }
        return "(\(dropped) lines dropped)"
    }
}

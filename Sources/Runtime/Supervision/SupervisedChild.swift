import Linux
import Messages

/// A running child.
final class SupervisedChild {
    let kind: ProcessKind
    let pool: PoolName?
    let isForeign: Bool
    let process: ChildProcess
    let ready: ReadyPipe
    /// What its native libraries write; nil for somebody else's program, which writes to our log.
    let output: OutputPipe?
    /// How often a front, or somebody else's program, has said that its loop turns.
    var beats: UInt64 = 0

    /// Starts the program: no descriptor but its log, the pipe and its secret, in a process group
    /// of its own, so that a Ctrl-C at the terminal reaches the supervisor alone.
    init(
        _ specification: ChildSpecification, restarts: UInt32, secret: Int32? = nil
    ) throws(Errno) {
        let pipe = try FileDescriptor.pipe()
        isForeign = specification.isForeign
        let life = ChildSpecification.lifeArguments(
            restarts: restarts, parent: CurrentProcess.processID, hasSecret: secret != nil,
            listens: specification.listener != nil)
        var environment = ChildEnvironment.of(CurrentProcess.environment)
        environment.merge(specification.environment) { $1 }
        if isForeign { environment["IMAGEBUS_RESTARTS"] = "\(restarts)" }
        var command = ChildCommand(
            specification.program, specification.arguments + (isForeign ? [] : life),
            environment: environment)
        let written = try FileDescriptor.pipe()
        // A library that writes faster than it is read loses its text, and does not wait.
        try written.writeEnd.setNonBlocking()
        command.descriptors = [
            0: .null, 1: .descriptor(isForeign ? 2 : written.writeEnd.number),
            2: isForeign ? .inherited : .descriptor(written.writeEnd.number),
            ChildSpecification.readyDescriptor: .descriptor(pipe.writeEnd.number),
        ]
        if !isForeign { command.descriptors[ChildSpecification.logDescriptor] = .descriptor(2) }
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
        ready = try ReadyPipe(pipe.readEnd)
        output = isForeign ? nil : try OutputPipe(written.readEnd)
    }

    /// The descriptors that become readable when something happens to it.
    var descriptorNumbers: [Int32] {
        let end = process.descriptor.descriptor.number
        return [end] + (ready.number.map { [$0] } ?? []) + (output?.number.map { [$0] } ?? [])
    }
}

/// The end of a pipe to which one child writes. Belongs to one thread.
final class ChildPipe {
    /// None once the child has closed its end, or once `close` was called.
    private var readEnd: FileDescriptor?

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        try readEnd.setNonBlocking()
        self.readEnd = consume readEnd
    }

    /// What to poll; `nil` once it is closed.
    var number: Int32? { readEnd?.number }

    /// Reads no more: the kernel tells a child that goes on writing.
    func close() { readEnd = nil }

    /// What is there, at most so many bytes; empty if nothing is. Closes at the end of the pipe.
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

/// The pipe on which one child tells how far it is.
final class ReadyPipe {
    /// Closed once the child has written anything else than how far it is.
    private let pipe: ChildPipe
    private var line: [UInt8] = []

    /// More than an honest child writes in a turn; the rest comes with the next.
    private static let readMax = 256

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        pipe = try ChildPipe(readEnd)
    }

    /// What to poll, while there is anything to hear.
    var number: Int32? { pipe.number }

    private var isOpen: Bool { number != nil }

    /// What was told since the last call.
    func take() -> [LifeSign] {
        guard isOpen else { return [] }
        var told: [LifeSign] = []
        for byte in pipe.read(upTo: Self.readMax) where isOpen { tell(byte, into: &told) }
        return told
    }

    private func tell(_ byte: UInt8, into told: inout [LifeSign]) {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            if line.count > LifeSign.lineBytesMax { pipe.close() }
            return
        }
        if let sign = LifeSign(line: String(decoding: line, as: UTF8.self)) {
            told.append(sign)
        } else {
            pipe.close()
        }
        line = []
    }
}

/// The pipe to which the native libraries of one child write.
final class OutputPipe {
    private let pipe: ChildPipe
    private var lines = NativeLines()
    private var isPaused = false

    /// Bytes that are read at a time, so that a child that writes a lot does not delay the others.
    private static let readMax = 16 << 10
    /// Reads of what a child that ended has left: what a pipe takes.
    private static let readsAtEnd = 4

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        pipe = try ChildPipe(readEnd)
    }

    /// What to poll, while there is anything to hear. Nothing for a while if the budget is spent:
    /// the pipe fills up, and costs neither side anything.
    var number: Int32? { isPaused ? nil : pipe.number }

    /// Polls it again, about once a second.
    func resume() { isPaused = false }

    /// What was written since the last call, as far as it goes to the log; `isOver` if the child
    /// has ended, so that nothing more comes of it.
    func take(isOver: Bool, at nanoseconds: UInt64) -> [String] {
        var read: [String] = []
        for _ in 0..<(isOver ? Self.readsAtEnd : 1) {
            read += lines.take(pipe.read(upTo: Self.readMax), at: nanoseconds)
        }
        isPaused = lines.isSpent
        if isOver || pipe.number == nil { read += lines.end(at: nanoseconds) }
        return read
    }
}

/// The text of native libraries, in lines for the log, within a budget of lines and bytes.
///
/// A hostile image can make a decoder write as much as it likes. A value without a clock: the
/// caller passes in monotonic nanoseconds.
struct NativeLines: Sendable {
    /// Bytes of a line that are kept; the rest of it is dropped.
    static let lineBytesMax = 512
    /// Lines that may come at once: enough for the report of a crash.
    static let burst: UInt64 = 200
    /// How long it takes until one more line may come.
    static let nanosecondsPerLine: UInt64 = 1_000_000_000

    private var line: [UInt8] = []
    private var spent: UInt64 = 0
    private var refilledAt: UInt64 = 0
    private var dropped: UInt64 = 0

    /// Whether no line may come for now.
    var isSpent: Bool { spent >= Self.burst }

    /// Takes bytes; the lines that are whole now and go to the log.
    mutating func take(_ bytes: [UInt8], at now: UInt64) -> [String] {
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

    /// Nothing more comes: what is left, and how many lines were dropped.
    mutating func end(at now: UInt64) -> [String] {
        var lines: [String] = []
        if !line.isEmpty { endLine(now, into: &lines) }
        if dropped > 0 { lines.append(takeDropped()) }
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
        if dropped > 0 { lines.append(takeDropped()) }
        lines.append(String(decoding: line, as: UTF8.self))
    }

    private mutating func refill(_ now: UInt64) {
        guard now > refilledAt else { return }
        let earned = (now - refilledAt) / Self.nanosecondsPerLine
        guard earned > 0 else { return }
        spent -= min(spent, earned)
        refilledAt = spent == 0 ? now : refilledAt + earned * Self.nanosecondsPerLine
    }

    private mutating func takeDropped() -> String {
        defer { dropped = 0 }
        return "(\(dropped) lines were dropped)"
    }
}

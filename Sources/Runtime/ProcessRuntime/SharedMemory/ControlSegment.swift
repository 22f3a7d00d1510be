public import Linux
public import Model

/// A worker's page of shared memory: its current job, its heartbeat, and the cause of its death.
///
/// Only the worker writes; coordinator and supervisor read (SEMANTICS §14.9). Payloads are never
/// stored here, so readers need no access to them. Confined to one thread.
public struct ControlSegment: ~Copyable {
    private let file: NumberFile
    private var beats: UInt64 = 0
    /// Whether the segment states why the process ended, and so must outlive the connection for its
    /// readers.
    private var isKept = false

    /// Creates the segment of this incarnation in `directory` and enables the fault handler to
    /// write to it.
    ///
    /// Throws ENOSPC if the tmpfs is full.
    public init(in directory: String, incarnation: Incarnation) throws(Errno) {
        let file = try NumberFile(
            SegmentName(incarnation: incarnation, number: 0).fileName, in: directory, mode: 0o644,
            byteCount: ControlLayout.byteCount)
        file.store(ControlLayout.magicValue, at: 8 * ControlLayout.magic)
        let words = file.base.bindMemory(to: UInt64.self, capacity: ControlLayout.wordCount)
        try FaultRecorder.install(
            copying: 2, from: words + ControlLayout.job, to: words + ControlLayout.crashedJob,
            signal: words + ControlLayout.signal)
        self.file = file
    }

    deinit {
        FaultRecorder.forget()
        if !isKept { file.unlink() }
    }

    /// Increments the heartbeat of the bus thread, and records whether the coordinator knows this
    /// process.
    public mutating func beat(isWelcome: Bool) {
        beats &+= 1
        file.store(isWelcome ? 1 : 0, at: 8 * ControlLayout.isWelcome)
        file.store(beats, at: 8 * ControlLayout.heartbeat)
    }

    /// Attributes a crash from now on to this attempt of a job.
    public borrowing func hold(_ job: JobID, attempt: UInt32) {
        // Ordered so that a job is never paired with the attempt of another one.
        file.store(0, at: 8 * ControlLayout.job)
        file.store(UInt64(attempt), at: 8 * ControlLayout.attempt)
        file.store(job.value, at: 8 * ControlLayout.job)
    }

    /// Attributes a crash from now on to no job, because none or several are held.
    public borrowing func holdNothing() { file.store(0, at: 8 * ControlLayout.job) }

    /// Records that the process ends because of the job it holds. The supervisor removes the
    /// segment.
    public mutating func blameJob(_ verdict: ControlVerdict) {
        isKept = true
        file.store(verdict.rawValue, at: 8 * ControlLayout.verdict)
    }
}

/// The layout of a control segment in 64-bit little-endian words.
enum ControlLayout {
    /// The size of the segment in bytes: one page.
    static let byteCount = 4_096
    /// "IBUSCTL" and version 1.
    static let magicValue: UInt64 = 0x014C_5443_5355_4249

    static let magic = 0
    /// Incremented on every turn of the bus thread.
    static let heartbeat = 1
    /// The single held job or 0, followed by its attempt. The fault handler copies both.
    static let job = 2
    static let attempt = 3
    /// The job and attempt at the moment of the fault.
    static let crashedJob = 4
    static let crashedAttempt = 5
    /// The signal that ended the process, or 0.
    static let signal = 6
    /// 1 while the coordinator knows the process, else 0.
    static let isWelcome = 7
    /// Why a process that did not crash was ended (`ControlVerdict`), or 0.
    static let verdict = 8
    static let wordCount = 9
}

/// Why a process that did not crash was ended, as stored in its control segment.
///
/// A kill without a verdict came from outside the stack and is not attributed to a job.
public enum ControlVerdict: UInt64, Sendable {
    /// Its event loop stalled; written by its supervisor.
    case stoodStill = 1
    /// Its work exceeded the CPU time that any image needs and did not stop when canceled; written
    /// by the process itself.
    case didNotStop = 2
    /// Like `didNotStop`, but before the work exceeded that CPU time.
    case cancelledHard = 3

    /// Writes the verdict to the segment of an incarnation that is about to be killed.
    ///
    /// Throws if the segment doesn't exist. Other contents are left alone, since the process may
    /// have written them.
    public func leave(in directory: String, for incarnation: Incarnation) throws(Errno) {
        let name = SegmentName(incarnation: incarnation, number: 0).fileName
        let file = try FileDescriptor.openDirectory(directory)
            .open(name, [.writeOnly, .noFollow, .nonBlocking])
        let status = try file.status()
        guard status.type == .regular, status.size == ControlLayout.byteCount else {
            throw .invalidArgument
        }
        let offset = ControlLayout.verdict * MemoryLayout<UInt64>.size
        try withUnsafeBytes(of: rawValue.littleEndian) { (bytes) throws(Errno) in
            try file.writeAll(bytes, at: offset)
        }
    }
}

/// Reads the control segments of a pool: for the coordinator, to find out how a worker died, and
/// for its supervisor, to find out whether it is alive.
///
/// The contents are not trusted: a malformed segment is ignored, and its values count only as far
/// as they agree with what is known of the worker. The directory's mode restricts writing to the
/// workers of the pool and the directory's creator.
public struct ControlReader: Sendable {
    private let directory: String

    /// Creates a reader for a directory.
    public init(directory: String) { self.directory = directory }

    /// Returns what the fault handler of the incarnation recorded, or why it was ended; `nil` if
    /// neither is recorded or the segment doesn't exist.
    public func crashRecord(of incarnation: Incarnation) -> CrashRecord? {
        guard let words = words(of: incarnation) else { return nil }
        if let signal = Int32(exactly: words[ControlLayout.signal]),
            FaultRecorder.signals.contains(Signal(rawValue: signal))
        {
            let (job, attempt) = (ControlLayout.crashedJob, ControlLayout.crashedAttempt)
            return Self.record(words[job], words[attempt], .signal(signal))
        }
        return ControlVerdict(rawValue: words[ControlLayout.verdict]).flatMap { verdict in
            Self.record(
                words[ControlLayout.job], words[ControlLayout.attempt], verdict.cause)
        }
    }

    private static func record(
        _ job: UInt64, _ attempt: UInt64, _ cause: CrashRecord.Cause
    ) -> CrashRecord? {
        UInt32(exactly: attempt).map {
            CrashRecord(job: job == 0 ? nil : JobID(job), attempt: $0, cause: cause)
        }
    }

    /// Returns the heartbeat counter of the incarnation's bus thread.
    public func heartbeat(of incarnation: Incarnation) -> UInt64? {
        words(of: incarnation)?[ControlLayout.heartbeat]
    }

    /// Returns whether the coordinator knows the incarnation, as of the last turn of its loop.
    public func isWelcome(_ incarnation: Incarnation) -> Bool? {
        words(of: incarnation).map { $0[ControlLayout.isWelcome] != 0 }
    }

    private func words(of incarnation: Incarnation) -> [UInt64]? {
        let byteCount = ControlLayout.wordCount * MemoryLayout<UInt64>.size
        let name = SegmentName(incarnation: incarnation, number: 0).fileName
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { bytes.deallocate() }
        do throws(Errno) {
            let folder = try FileDescriptor.openDirectory(directory)
            guard try folder.status().mode & 0o002 == 0 else { return nil }
            let file = try folder.open(name, [.noFollow, .nonBlocking])
            guard try file.status().type == .regular else { return nil }
            guard try file.readFully(into: bytes, at: 0) == byteCount else { return nil }
        } catch {
            return nil
        }
        let words = bytes.bindMemory(to: UInt64.self).map(UInt64.init(littleEndian:))
        return words[ControlLayout.magic] == ControlLayout.magicValue ? words : nil
    }
}

extension ControlVerdict {
    fileprivate var cause: CrashRecord.Cause {
        switch self {
        case .stoodStill: .stoodStill
        case .didNotStop: .didNotStop
        case .cancelledHard: .cancelledHard
        }
    }
}

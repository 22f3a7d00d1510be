public import Linux
public import Messages
import SharedArena

/// A worker's page of shared memory: which job it holds, that it lives, and how it died.
///
/// The process alone writes; coordinator and supervisor read (SEMANTICS §14.9). Payloads never lie
/// here, so that who reads it needs no access to them. One thread.
public struct ControlSegment: ~Copyable {
    private let memory: MappedMemory
    private let words: UnsafeMutablePointer<UInt64>
    private let directory: String
    private let name: String
    private var beats: UInt64 = 0
    /// It says why the process ended: for who reads it after the end of the connection.
    private var isKept = false

    /// Makes the segment of this life in `directory`, and lets faults write into it.
    ///
    /// Throws ENOSPC where the tmpfs is full.
    public init(in directory: String, incarnation: Incarnation) throws(Errno) {
        let name = SegmentName(incarnation: incarnation, number: 0).fileName
        let folder = try FileDescriptor.openDirectory(directory)
        let file = try folder.open(
            name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o644)
        let memory: MappedMemory
        do throws(Errno) {
            // Whatever the umask says: the coordinator may be another user, and reads it.
            try file.setMode(0o644)
            try file.reserve(byteCount: ControlLayout.byteCount)
            memory = try MappedMemory(file, count: ControlLayout.byteCount, access: .readWrite)
        } catch {
            // A file without its page is of no use.
            try? folder.unlink(name)
            throw error
        }
        guard let base = memory.mutableBytes.baseAddress else { throw .invalidArgument }
        let words = base.bindMemory(to: UInt64.self, capacity: ControlLayout.wordCount)
        Self.store(ControlLayout.magicValue, words, ControlLayout.magic)
        try FaultRecorder.install(
            copying: 2, from: words + ControlLayout.job, to: words + ControlLayout.crashedJob,
            signal: words + ControlLayout.signal)
        self.memory = memory
        self.words = words
        self.directory = directory
        self.name = name
    }

    deinit {
        FaultRecorder.forget()
        guard !isKept else { return }
        // Already gone where the supervisor has cleared the directory.
        try? FileDescriptor.openDirectory(directory).unlink(name)
    }

    /// The bus thread lives, and whether the coordinator knows it.
    public mutating func beat(isWelcome: Bool) {
        beats &+= 1
        Self.store(isWelcome ? 1 : 0, words, ControlLayout.isWelcome)
        Self.store(beats, words, ControlLayout.heartbeat)
    }

    /// From now on a crash is evidence against this attempt of a job, and no other.
    public borrowing func hold(_ job: JobID, attempt: UInt32) {
        // Never a job with another one's attempt.
        Self.store(0, words, ControlLayout.job)
        Self.store(UInt64(attempt), words, ControlLayout.attempt)
        Self.store(job.value, words, ControlLayout.job)
    }

    /// From now on a crash is evidence against no job: none is held, or several.
    public borrowing func holdNothing() { Self.store(0, words, ControlLayout.job) }

    /// The process ends for that reason, which lies in the job that it holds. The supervisor
    /// removes the segment.
    public mutating func blameJob(_ verdict: ControlVerdict) {
        isKept = true
        Self.store(verdict.rawValue, words, ControlLayout.verdict)
    }

    private static func store(
        _ value: UInt64, _ words: UnsafeMutablePointer<UInt64>, _ index: Int
    ) {
        SharedAtomic.storeRelease(value.littleEndian, to: words + index)
    }
}

/// Where the words of a control segment are; 64 bits each, little-endian.
enum ControlLayout {
    /// Bytes of the segment: one page.
    static let byteCount = 4_096
    /// "IBUSCTL" and version 1.
    static let magicValue: UInt64 = 0x014C_5443_5355_4249

    static let magic = 0
    /// Grows with every turn of the bus thread.
    static let heartbeat = 1
    /// The one job that is held, or 0; then its attempt. Together what the fault handler copies.
    static let job = 2
    static let attempt = 3
    /// The same at the moment of the fault.
    static let crashedJob = 4
    static let crashedAttempt = 5
    /// The signal that ends the process, or 0.
    static let signal = 6
    /// 1 while the coordinator knows the process, else 0.
    static let isWelcome = 7
    /// Why the process is ended where it did not crash (`ControlVerdict`), or 0.
    static let verdict = 8
    static let wordCount = 9
}

/// Why a process is ended that did not crash, as a word in its control segment.
///
/// A kill that nobody explains there came from outside, and is held against no job.
public enum ControlVerdict: UInt64, Sendable {
    /// Its loop stood still; its supervisor writes it.
    case stoodStill = 1
    /// Its work used more of the processors than any image takes and did not stop when it was told
    /// to; it writes that itself.
    case didNotStop = 2
    /// The same, before it used more of the processors than any image takes.
    case cancelledHard = 3

    /// Leaves it in the segment of a life that is about to be killed.
    ///
    /// Throws where there is no such segment. Whatever else lies there is left alone: the process
    /// may have put it there.
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

/// Reads the control segments of a kind: for the coordinator, which wants to know how a worker
/// died, and for its supervisor, which wants to know whether it lives.
///
/// Nothing there is believed: what is no control segment reads as nothing, and what it says counts
/// only as far as it fits what is known of the worker. Who may write there is decided by the
/// directory's mode: the workers of that kind and whoever made it, and no others.
public struct ControlReader: Sendable {
    private let directory: String

    /// Reads in this directory.
    public init(directory: String) { self.directory = directory }

    /// What the fault handler of that life wrote, or why it was ended; `nil` where nothing is
    /// said, or where there is no such segment.
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

    /// How often the bus thread of that life has turned.
    public func heartbeat(of incarnation: Incarnation) -> UInt64? {
        words(of: incarnation)?[ControlLayout.heartbeat]
    }

    /// Whether the coordinator knows that life, as it said at its last turn.
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

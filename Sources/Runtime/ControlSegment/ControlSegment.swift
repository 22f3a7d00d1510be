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

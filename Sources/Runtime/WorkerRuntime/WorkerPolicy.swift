import Bootstrap
import Messages

/// When a worker ends by itself.
public struct WorkerPolicy: Hashable, Sendable {
    /// Milliseconds from a cancel to the end of a process whose native code does not heed it
    /// (SEMANTICS §8.3).
    public var cancelGraceMilliseconds = 500
    /// Seconds of the processors that no image within the limits takes; `nil` where it is the
    /// request that decides how long its work is.
    public var hangSeconds: Int? = 20
    /// Whether the process ends at a job that used so much, and not only at one whose time is over:
    /// what is drawn may take for ever, and a worker that is at it draws nothing else.
    public var stopsHangs = false
    /// Jobs after which a fresh process takes over; the cache's memory tier is worth more than
    /// that.
    public var jobsMax = 100_000
    /// Bytes of resident memory, shared segments not counted, after which a fresh process takes
    /// over.
    public var privateBytesMax = 1 << 30

    /// The defaults.
    public init() {}

    /// Names of the arguments that change it.
    static let valued: Set<String> = ["recycle-jobs", "recycle-bytes"]

    /// The defaults of a kind, where no argument says otherwise. Throws for what is no number.
    init(
        _ arguments: ProgramArguments, for kind: WorkerKind, in pool: PoolName? = nil
    ) throws(ProgramArgumentsError) {
        if kind == .decode, pool == .vector {
            (hangSeconds, stopsHangs) = (Self.drawingSeconds, true)
        }
        if kind == .cache { jobsMax = .max }
        // A large lossless WebP takes minutes, and a cancel in between is nobody's fault.
        if kind != .decode { hangSeconds = nil }
        jobsMax = try arguments.number("recycle-jobs", else: jobsMax)
        privateBytesMax = try arguments.number("recycle-bytes", else: privateBytesMax)
    }

    /// Of the processors, for one drawing.
    static let drawingSeconds = 5

    /// Whether memory is looked at after so many jobs: reading it costs a system call or three, so
    /// after the first and then every 64th.
    func looksAtMemory(after jobs: Int) -> Bool { jobs == 1 || jobs % 64 == 0 }

    /// Whether a job that used so much of the processors, in nanoseconds, is one that hangs.
    func hangs(after nanoseconds: UInt64) -> Bool {
        hangSeconds.map { nanoseconds >= UInt64($0) * 1_000_000_000 } ?? false
    }

    /// Whether a fresh process takes over after so many jobs; bytes are `nil` where they were not
    /// looked at.
    func isSpent(jobs: Int, privateBytes: UInt64?) -> Bool {
        jobs >= jobsMax || privateBytes.map { $0 > UInt64(privateBytesMax) } ?? false
    }
}

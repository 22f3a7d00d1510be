/// When a worker ends by itself.
public struct WorkerPolicy: Hashable, Sendable {
    /// Milliseconds from a cancel to the end of a process whose native code does not heed it
    /// (DESIGN §3).
    public var cancelGraceMilliseconds = 500
    /// Jobs after which a fresh process takes over.
    public var jobsMax = 100_000
    /// Bytes of resident memory, shared segments not counted, after which a fresh process takes
    /// over.
    public var privateBytesMax = 1 << 30

    /// The defaults.
    public init() {}
}

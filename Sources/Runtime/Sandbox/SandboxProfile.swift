public import Messages
public import SharedArena

/// What a kind of worker needs after its start; everything else is closed to it.
public struct SandboxProfile: Hashable, Sendable {
    /// Whose profile.
    public let kind: WorkerKind
    /// Directories of which it opens files for reading.
    public let inputs: [String]
    /// Directories in which it makes, reads, writes and removes files.
    public let own: [String]
    /// Bytes of the largest file that it makes: a segment of its arena.
    public let fileBytesMax: UInt64

    /// Descriptors: sockets and events of libzmq, of which there are a dozen, and one for each
    /// mapped segment.
    public static let descriptorsMax: UInt64 = 1_024
    /// Processes and threads of the worker's user, who may be a person with a desktop: the kernel
    /// counts all of them together, so this is no more than a bound for a bomb of threads.
    public static let threadsOfUserMax: UInt64 = 16_384

    /// Whose arenas a kind reads: the table of who opens what, of DESIGN §4 and SECURITY.md. `nil`
    /// for a kind that has no profile.
    public static func producers(readBy kind: WorkerKind) -> [WorkerKind]? {
        switch kind {
        case .decode: [.coordinator, .download, .cache]
        case .transform: [.decode]
        case .coordinator, .download, .cache: nil
        }
    }

    /// The profile of a decode or transform worker; `nil` for the others.
    ///
    /// `arenaBytesMax` is the limit of its own arena: one segment may be as large as that.
    public init?(_ kind: WorkerKind, paths: RuntimePaths, arenaBytesMax: Int) {
        guard let producers = Self.producers(readBy: kind) else { return nil }
        self.kind = kind
        inputs = producers.map(paths.arenaDirectory)
        own = [paths.arenaDirectory(kind), paths.controlDirectory(kind)]
        fileBytesMax = UInt64(max(arenaBytesMax, 1 << 20))
    }
}

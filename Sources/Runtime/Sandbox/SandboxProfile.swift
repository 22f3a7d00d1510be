public import Messages
public import SharedArena

/// What a kind of worker needs after its start; everything else is closed to it.
///
/// | kind | reads | makes, writes and removes files in |
/// |---|---|---|
/// | decode | arenas of coordinator, download, cache | its own arena, its control directory |
/// | transform | arena of decode | its own arena, its control directory |
/// | gateway | `web`, or `front` to take images; `results`, directories of its keys | nothing |
///
/// Decoders have a limit of memory. Those of the pool that draws have a lower one, and read the
/// fonts of the machine as well, and what says where these are. Transformers have none: what they
/// take depends on the encoder, and an operator may have memory for large results.
///
/// A pool has an arena and a control directory of its own. Where there are further pools of a kind
/// that it reads, their arenas are named (`inputs`): for transformers those of others' steps, too.
///
/// The first column is the table of who opens what (SEMANTICS §14.2).
public struct SandboxProfile: Hashable, Sendable {
    /// Directories that it reads, and of which it opens files for reading.
    public let inputs: [String]
    /// Directories in which it makes, reads, writes and removes files.
    public let own: [String]
    /// Directories of which it opens files for reading; a machine may lack any of them.
    public let fonts: [String]
    /// Bytes of the largest file that it makes: a segment of its arena.
    public let fileBytesMax: UInt64
    /// Bytes of private memory (RLIMIT_DATA); `nil`: no limit of its own.
    public let memoryBytesMax: UInt64?

    /// Descriptors that it may have open.
    public let descriptorsMax: UInt64
    /// Whether others connect to a socket that it has.
    public let accepts: Bool

    /// Descriptors of a worker: sockets and events of libzmq, of which there are a dozen, and one
    /// for each mapped segment.
    static let workerDescriptorsMax: UInt64 = 1_024
    /// Processes and threads of the worker's user, who may be a person with a desktop: the kernel
    /// counts all of them together, so this is no more than a bound for a bomb of threads.
    public static let threadsOfUserMax: UInt64 = 16_384

    /// Where Debian has fonts and what says which there are, its cache included.
    static let fontDirectories = [
        "/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/usr/local/share/fonts",
        "/var/cache/fontconfig",
    ]
    /// Several times the pixels of the largest drawing (`ImageLimits.ofDrawings`), for what is made
    /// on the way to them. Mapped inputs and outputs do not count.
    static let drawingBytesMax: UInt64 = 512 << 20

    /// The profile of a kind. `nil` for a kind that opens nobody's files: it has none.
    ///
    /// `arenaBytesMax` is the limit of its own arena: one segment may be as large as that.
    public static func of(
        _ kind: WorkerKind, paths: RuntimePaths, arenaBytesMax: Int
    ) -> SandboxProfile? {
        switch kind {
        case .decode: decode(paths: paths, arenaBytesMax: arenaBytesMax)
        case .transform: transform(paths: paths, arenaBytesMax: arenaBytesMax)
        case .coordinator, .download, .cache: nil
        }
    }

    private typealias Pools = (own: PoolName, inputs: [PoolName])

    /// The profile of a decode worker. See `of`.
    public static func decode(
        pool: PoolName = PoolName(.decode), inputs: [PoolName] = [], paths: RuntimePaths,
        arenaBytesMax: Int
    ) -> SandboxProfile {
        SandboxProfile(
            (pool, inputs), reading: [.coordinator, .download, .cache], paths, arenaBytesMax,
            memoryBytesMax: pool.draws ? drawingBytesMax : ImageLimits.processBytesMax)
    }

    /// The profile of a transform worker. See `of`.
    public static func transform(
        pool: PoolName = PoolName(.transform), inputs: [PoolName] = [], paths: RuntimePaths,
        arenaBytesMax: Int
    ) -> SandboxProfile {
        SandboxProfile(
            (pool, inputs), reading: [.decode], paths, arenaBytesMax, memoryBytesMax: nil)
    }

    /// The profile of a gateway, whose socket listens already: it connects to one of the stack's,
    /// reads what that delivers, and `files` again when it is told so. `connections` is how many it
    /// may have.
    public static func gateway(
        paths: RuntimePaths, socket: String, files: [String], connections: Int
    ) -> SandboxProfile {
        SandboxProfile(
            inputs: ([socket] + files).map(directory(of:)) + [paths.resultsDirectory],
            descriptorsMax: UInt64(clamping: connections) + workerDescriptorsMax)
    }

    private init(inputs: [String], descriptorsMax: UInt64) {
        (self.inputs, self.descriptorsMax) = (inputs, descriptorsMax)
        (own, fonts, memoryBytesMax, accepts) = ([], [], nil, true)
        // It makes none, but what it logs may lie in one.
        fileBytesMax = .max
    }

    /// A file is replaced by another one of its name, so that its directory has to be open.
    private static func directory(of path: String) -> String {
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return directory.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : String(directory)
    }

    private init(
        _ pools: Pools, reading producers: [WorkerKind], _ paths: RuntimePaths,
        _ arenaBytesMax: Int, memoryBytesMax: UInt64?
    ) {
        inputs = (producers.map { PoolName($0) } + pools.inputs).map { paths.arenaDirectory($0) }
        own = [paths.arenaDirectory(pools.own), paths.controlDirectory(pools.own)]
        fonts = pools.own.draws ? Self.fontDirectories : []
        self.memoryBytesMax = memoryBytesMax
        descriptorsMax = Self.workerDescriptorsMax
        accepts = false
        // At least what the control segment takes.
        fileBytesMax = UInt64(max(arenaBytesMax, 1 << 20))
    }
}

import Linux
public import Messages
public import Observability
import Seccomp
public import SharedArena

/// Closes the listeners that a worker does not need, from inside, before its first job.
public enum Sandbox {
    /// Enters the profile and returns the layers that hold from now on, for good.
    ///
    /// Call it while the process has one thread, after all libraries have loaded what they load
    /// late: Landlock holds for the calling thread and those that it starts. A layer that this
    /// kernel or this container engine does not give costs one warning, never the worker.
    public static func enter(_ profile: SandboxProfile, log: Log) -> SandboxLayers {
        if CurrentProcess.hasSanitizer {
            log.warning("there is no sandbox: a sanitizer opens files and traces at the end")
            return []
        }
        var entered: SandboxLayers = []
        for (layer, enter) in steps {
            do {
                try enter(profile, log)
                entered.insert(layer)
            } catch {
                log.warning(
                    "a layer of the sandbox is missing",
                    [
                        "layer": .string(layer.names.joined(separator: ",")),
                        "error": .string("\(error)"),
                    ])
            }
        }
        return entered
    }

    private typealias Step = @Sendable (SandboxProfile, Log) throws -> Void

    /// The filter comes last: it forbids to set up the others.
    private static let steps: [(SandboxLayers, Step)] = [
        (.noNewPrivileges, { _, _ in try CurrentProcess.refuseNewPrivileges() }),
        (.resourceLimits, { profile, _ in try limit(profile) }),
        (.landlock, { profile, log in try restrictFiles(profile, log) }),
        (
            .seccomp,
            { profile, _ in
                try SystemCalls.filter(
                    process: CurrentProcess.processID, readsFonts: !profile.fonts.isEmpty,
                    accepts: profile.accepts
                ).load()
            }
        ),
    ]

    /// No limit of address space: what is mapped for reading counts there, up to an arena of each
    /// producer. The limit of data is below what a unit or container may have: an allocation fails,
    /// which names the job, before the kernel kills the process, which does not.
    private static func limit(_ profile: SandboxProfile) throws(Errno) {
        // Else a file that grows too large would end the process; this way the write fails.
        try Signal.fileTooLarge.ignore()
        try ResourceLimit.lower(.coreFile, to: 0)
        try ResourceLimit.lower(.fileSize, to: profile.fileBytesMax)
        try ResourceLimit.lower(.descriptors, to: profile.descriptorsMax)
        try ResourceLimit.lower(.threadsOfUser, to: SandboxProfile.threadsOfUserMax)
        if let bytes = profile.memoryBytesMax {
            try ResourceLimit.lower(.data, to: bytes)
            // What the last image took is there for the next one.
            try CurrentProcess.mapBlocks(ofBytes: mappedBlockBytes)
        }
    }

    /// Buffers of a codec for a block of 256 by 256 pixels, and all that are larger.
    private static let mappedBlockBytes = 128 << 10

    private static func restrictFiles(
        _ profile: SandboxProfile, _ log: Log
    ) throws(Errno) {
        // Another thread would stay free, and could be made to work for this one.
        guard try CurrentProcess.threadCount() == 1 else { throw .deviceBusy }
        let rules = try LandlockRuleset()
        for path in profile.inputs {
            try allow([.readFile, .readDirectory], below: path, rules, log)
        }
        for path in profile.own {
            try allow(
                [.readFile, .writeFile, .readDirectory, .makeFile, .removeFile], below: path, rules,
                log)
        }
        for path in profile.fonts { try allowWhatIsThere(below: path, rules) }
        try rules.restrict()
    }

    private static func allowWhatIsThere(
        below path: String, _ rules: borrowing LandlockRuleset
    ) throws(Errno) {
        do {
            try rules.allow([.readFile, .readDirectory], below: FileDescriptor.openDirectory(path))
        } catch .noSuchFile {
            return
        }
    }

    /// A rule needs a directory that exists. One that is made later is met by a rule for the one
    /// that holds it, `arena/` at most, until the next start of the worker: waiting could last for
    /// ever where a stack has no such producer.
    private static func allow(
        _ access: LandlockAccess, below path: String, _ rules: borrowing LandlockRuleset,
        _ log: Log
    ) throws(Errno) {
        do {
            try rules.allow(access, below: FileDescriptor.openDirectory(path))
        } catch .noSuchFile {
            let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            try rules.allow(access, below: FileDescriptor.openDirectory(parent))
            log.warning(
                "a directory is not there yet: the one that holds it is open to the worker",
                ["missing": .string(path), "open": .string(parent)])
        }
    }
}

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

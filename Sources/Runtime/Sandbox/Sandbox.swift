import Linux
package import Model
package import ProcessRuntime
import Seccomp

/// Drops the privileges that a worker does not need, from within the process, before its first job.
package enum Sandbox {
    /// Enters the profile and returns the layers that are active from now on, irrevocably.
    ///
    /// Call it while the process has one thread and after all libraries have completed their lazy
    /// loading: Landlock applies to the calling thread and the threads that it starts. A layer that
    /// the kernel or the container engine doesn't support only logs a warning; the worker
    /// continues.
    package static func enter(_ profile: SandboxProfile, log: Log) -> SandboxLayers {
        if CurrentProcess.hasSanitizer {
            log.warning("sandbox disabled: a sanitizer opens files and traces at exit")
            return []
        }
        var entered: SandboxLayers = []
        for (layer, enter) in steps {
            do {
                try enter(profile, log)
                entered.insert(layer)
            } catch {
                log.warning(
                    "sandbox layer unavailable",
                    [
                        "layer": .string(layer.names.joined(separator: ",")),
                        "error": .string("\(error)"),
                    ])
            }
        }
        return entered
    }

    private typealias Step = @Sendable (SandboxProfile, Log) throws -> Void

    /// The filter comes last, because it forbids setting up the other layers.
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

    /// Sets resource limits. The address space is not limited, because read-only mappings count
    /// toward it, up to one arena per producer. The data limit is lower than the memory limit of a
    /// unit or container: an allocation then fails, which identifies the job, before the kernel
    /// kills the process, which doesn't.
    private static func limit(_ profile: SandboxProfile) throws(Errno) {
        // Otherwise a file that grows too large would kill the process; this way the write fails.
        try Signal.fileTooLarge.ignore()
        try ResourceLimit.lower(.coreFile, to: 0)
        try ResourceLimit.lower(.fileSize, to: profile.fileBytesMax)
        try ResourceLimit.lower(.descriptors, to: profile.descriptorsMax)
        try ResourceLimit.lower(.threadsOfUser, to: SandboxProfile.threadsOfUserMax)
        if let bytes = profile.memoryBytesMax {
            try ResourceLimit.lower(.data, to: bytes)
            // Memory freed after one image stays available for the next one.
            try CurrentProcess.mapBlocks(ofBytes: mappedBlockBytes)
        }
    }

    /// Codec buffers for a block of 256 by 256 pixels, and everything larger.
    private static let mappedBlockBytes = 128 << 10

    private static func restrictFiles(
        _ profile: SandboxProfile, _ log: Log
    ) throws(Errno) {
        // Another thread would stay unrestricted and could act on behalf of this one.
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

    /// Adds a rule for a directory, which must exist. For a directory that doesn't exist yet, the
    /// rule applies to its parent (`arena/` at most) until the worker restarts; waiting could last
    /// forever in a stack without that producer.
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
                "directory does not exist yet: the worker can access its parent",
                ["missing": .string(path), "open": .string(parent)])
        }
    }
}

/// The accesses that a kind of worker needs after startup; all others are denied.
///
/// | kind | reads | creates, writes and removes files in |
/// |---|---|---|
/// | decode | arenas of coordinator, download, cache | its own arena, its control directory |
/// | transform | arena of decode | its own arena, its control directory |
/// | gateway | `web`, or `front` to take images; `results`, directories of its keys | nothing |
///
/// Decoders have a memory limit. Those of the drawing pool have a lower one, and also read the
/// system's fonts and font configuration. Transformers have no limit: their memory use depends on
/// the encoder, and an operator may have memory for large results.
///
/// Each pool has its own arena and control directory. The arenas of additional pools from which it
/// reads are named in `inputs`; for transformers, these include external pools that perform steps.
///
/// The column "reads" is the table of SEMANTICS §14.2.
package struct SandboxProfile: Hashable, Sendable {
    /// Directories that the process may list and whose files it may read.
    package let inputs: [String]
    /// Directories in which the process may create, read, write and remove files.
    package var own: [String] = []
    /// Directories whose files the process may read; any of them may be missing.
    package var fonts: [String] = []
    /// The size in bytes of the largest file that the process may create: a segment of its arena. A
    /// gateway creates no files, but its log may be a regular file.
    package var fileBytesMax = UInt64.max
    /// The limit of private memory in bytes (RLIMIT_DATA); `nil` for no explicit limit.
    package var memoryBytesMax: UInt64?

    /// The maximum number of open descriptors.
    package var descriptorsMax = Self.workerDescriptorsMax
    /// Whether the process accepts connections on an inherited socket.
    package var accepts = false

    /// The maximum number of descriptors of a worker: about a dozen sockets and events of libzmq,
    /// and one for each mapped segment.
    static let workerDescriptorsMax: UInt64 = 1_024
    /// The maximum number of processes and threads of the worker's user. The user may be a person
    /// with a desktop session, and the kernel counts all of that user's threads, so this only
    /// bounds a fork bomb.
    package static let threadsOfUserMax: UInt64 = 16_384

    /// Debian's directories of fonts, font configuration and the font cache.
    static let fontDirectories = [
        "/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/usr/local/share/fonts",
        "/var/cache/fontconfig",
    ]
    /// Several times the pixels of the largest drawing (`ImageLimits.ofDrawings`), to allow for
    /// intermediate buffers. Mapped inputs and outputs don't count.
    static let drawingBytesMax: UInt64 = 512 << 20

    /// Returns the profile of a decode worker. `arenaBytesMax` is the limit of its own arena, which
    /// may be a single segment.
    package static func decode(
        pool: PoolName = PoolName(.decode), inputs: [PoolName] = [], paths: RuntimePaths,
        arenaBytesMax: Int
    ) -> SandboxProfile {
        worker(
            pool, reading: [.coordinator, .download, .cache].map { PoolName($0) } + inputs, paths,
            arenaBytesMax,
            memoryBytesMax: pool.draws ? drawingBytesMax : ImageLimits.processBytesMax)
    }

    /// The same for a transform worker.
    package static func transform(
        pool: PoolName = PoolName(.transform), inputs: [PoolName] = [], paths: RuntimePaths,
        arenaBytesMax: Int
    ) -> SandboxProfile {
        worker(
            pool, reading: [PoolName(.decode)] + inputs, paths, arenaBytesMax, memoryBytesMax: nil)
    }

    /// Returns the profile of a gateway, whose socket is already listening. It connects to a socket
    /// of the stack, reads delivered results, and reads `files` again on a reload. `connections` is
    /// the maximum number of connections.
    package static func gateway(
        paths: RuntimePaths, socket: String, files: [String], connections: Int
    ) -> SandboxProfile {
        SandboxProfile(
            inputs: ([socket] + files).map(directory(of:)) + [paths.resultsDirectory],
            descriptorsMax: UInt64(clamping: connections) + workerDescriptorsMax, accepts: true)
    }

    /// Returns the file's directory, which must be accessible because replacing a file creates a
    /// new inode.
    private static func directory(of path: String) -> String {
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return directory.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : String(directory)
    }

    private static func worker(
        _ pool: PoolName, reading inputs: [PoolName], _ paths: RuntimePaths, _ arenaBytesMax: Int,
        memoryBytesMax: UInt64?
    ) -> SandboxProfile {
        SandboxProfile(
            inputs: inputs.map { paths.arenaDirectory($0) },
            own: [paths.arenaDirectory(pool), paths.controlDirectory(pool)],
            fonts: pool.draws ? fontDirectories : [],
            // At least the size of the control segment.
            fileBytesMax: UInt64(max(arenaBytesMax, 1 << 20)), memoryBytesMax: memoryBytesMax)
    }
}

import Glibc
package import Linux
package import Model
package import ProcessRuntime

/// The directories of one stack, created, verified and locked for the kinds that this process
/// serves (PROTOCOL §10).
///
/// Directories are opened without following links, and owner, mode and type are checked with
/// `fstat` on the open descriptor. Leftovers of earlier incarnations are removed: stale sockets and
/// segments of dead processes.
package struct RuntimeDirectory: ~Copyable {
    package let paths: RuntimePaths
    private let lock: StackLock?
    /// The directories of segments and control segments of all pools.
    private let segments: [SegmentDirectory]
    /// The pools besides the default ones.
    private let pools: [WorkerPool]

    /// The maximum length in bytes of a Unix socket path, without the terminating zero
    /// (`sun_path`).
    package static let socketPathBytesMax = 107

    /// Creates, verifies and locks everything; `root` must be absolute. Existing directories that
    /// an administrator created are left as they are.
    ///
    /// The process that serves the coordinator holds `serve.lock`: a second one fails with
    /// `locked`. A process that serves other kinds only creates the directories of `kinds`, and
    /// throws `awaitsCoordinator` if a directory is missing that only the coordinator's user may
    /// create. `pools` are the configured pools; `own` is the pool to serve instead of the default
    /// one when serving only its kind. `sharedMemory` is the location of segments if `root` is not
    /// on tmpfs.
    package init(
        root: String, kinds: Set<WorkerKind>, pools: [WorkerPool] = [], only own: WorkerPool? = nil,
        sharedMemory: String = "/dev/shm"
    ) throws(RuntimeDirectoryError) {
        let root = RuntimePaths(root: root).root
        let pools = pools.filter { !$0.isBuiltIn }
        let names = Self.names(pools)
        let places = own.map { [$0] } ?? kinds.map { WorkerPool($0) }
        try Self.checkLength(root, names + (own.map { [$0.name] } ?? []))
        let top = try VerifiedDirectory.at(path: root, .above)
        let lock = kinds.contains(.coordinator) ? try StackLock(in: top) : nil
        let paths =
            kinds.contains(.coordinator)
            ? try SharedMemoryRoot.choose(for: top, sharedMemory: sharedMemory)
            : try Self.resolvedOrChosen(top, sharedMemory: sharedMemory)
        if kinds.contains(.coordinator) { try Self.makeSocketDirectories(names, in: top) }
        let place = try VerifiedDirectory.at(path: paths.segmentsRoot, .above)
        // A supervisor of all kinds also starts the processes of additional pools, even of kinds
        // whose default pool is empty.
        let isWhole = kinds.contains(.coordinator) && kinds.contains(.cache)
        let started = isWhole ? pools.filter { $0.trust == .own } : []
        let external = isWhole ? pools.filter { $0.trust == .external } : []
        if isWhole { try Self.emptyArenas(in: place, besides: names) }
        let control = try Self.makeControlDirectories(places + started, names, in: place)
        segments =
            try Self.makeSegmentDirectories(places + started, external, in: place) + control
        self.pools = pools
        self.lock = lock
        self.paths = paths
    }

    /// Whether segments are outside the runtime directory because that isn't on tmpfs.
    package var hasSegmentsElsewhere: Bool { paths.segmentsRoot != paths.root }

    /// Writes the operators' secret to `admin/`, and those of external pools to `back/<pool>/`,
    /// where only the user of the stack can read them. Call once, before any process is started.
    package borrowing func leaveSecrets(
        of secrets: StackSecrets
    ) throws(RuntimeDirectoryError) {
        let top = try VerifiedDirectory.at(path: paths.root, .above)
        try Self.leave(secrets.listeners.admin, in: top.directory("admin", .secret))
        let back = try top.directory("back", .above)
        for pool in pools where pool.trust == .external {
            guard let secret = secrets.listeners.workers[pool.name] else { continue }
            try Self.leave(secret, in: back.directory(pool.name.text))
        }
    }

    private static func leave(
        _ secret: ListenerSecret, in directory: consuming VerifiedDirectory
    ) throws(RuntimeDirectoryError) {
        do throws(Errno) {
            try AdminSecret.write(secret, in: directory.descriptor)
        } catch {
            throw .system("\(directory.path)/\(RuntimePaths.secretFileName)", error)
        }
    }

    /// Unlinks the segments of a dead process and returns their number.
    package func removeSegments(of incarnation: Incarnation, kind: WorkerKind) -> Int {
        // Leftovers that can't be removed now are removed at the next start.
        segments.filter { $0.kind == kind }
            .reduce(0) { $0 + ((try? $1.removeSegments(of: incarnation)) ?? 0) }
    }

    /// Removes what a stack leaves behind after all of its processes have ended: sockets and
    /// segments. The directories stay, except one in `/dev/shm` that was created for this runtime
    /// directory.
    package borrowing func clear() {
        for directory in segments { try? directory.clear() }
        guard lock != nil else { return }
        if let top = try? VerifiedDirectory.at(path: paths.root, .above) {
            let names = Self.names(pools)
            try? Self.makeSocketDirectories(names, in: top)
            guard hasSegmentsElsewhere else { return }
            try? FileDescriptor.removeTree(path: paths.segmentsRoot)
            try? top.descriptor.unlink(RuntimePaths.segmentsFileName)
        }
    }
}

extension RuntimeDirectory {
    private static func names(_ further: [WorkerPool]) -> [PoolName] {
        WorkerKind.workers.map { PoolName($0) } + further.map(\.name)
    }

    private static func checkLength(_ root: String, _ pools: [PoolName])
        throws(RuntimeDirectoryError)
    {
        guard root.utf8.first == UInt8(ascii: "/") else { throw .notAbsolute(root) }
        let paths = RuntimePaths(root: root)
        let sockets = pools.map { paths.backSocket($0) }
        for socket in sockets + [paths.frontSocket, paths.webSocket, paths.adminSocket]
        where socket.utf8.count > socketPathBytesMax {
            let longest = sockets.max { $0.utf8.count < $1.utf8.count } ?? socket
            throw .pathTooLong(longest, bytes: longest.utf8.count)
        }
    }

    /// Returns the location of segments that the coordinator's supervisor published or, before
    /// that, will choose; for supervisors that serve only workers.
    private static func resolvedOrChosen(
        _ top: borrowing VerifiedDirectory, sharedMemory: String
    ) throws(RuntimeDirectoryError) -> RuntimePaths {
        if let paths = try? RuntimePaths(resolving: top.path), paths.segmentsRoot != paths.root {
            return paths
        }
        return try SharedMemoryRoot.choose(for: top, sharedMemory: sharedMemory)
    }

    /// Creates `front/`, `web/`, `admin/` and `back/<pool>/`, and removes sockets and secrets of an
    /// earlier incarnation.
    private static func makeSocketDirectories(
        _ pools: [PoolName], in top: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) {
        try removeSockets(in: top.directory("front"))
        try removeSockets(in: top.directory("web"))
        try removeSockets(in: top.directory("admin", .secret), and: RuntimePaths.secretFileName)
        let back = try top.directory("back", .above)
        for pool in pools {
            try removeSockets(in: back.directory(pool.text), and: RuntimePaths.secretFileName)
        }
    }

    private static func makeSegmentDirectories(
        _ places: [WorkerPool], _ external: [WorkerPool], in place: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> [SegmentDirectory] {
        let arenas = try place.directory("arena", .above)
        var created: [SegmentDirectory] = []
        for pool in places {
            created.append(try SegmentDirectory(pool.kind, arenas.directory(pool.name.text)))
        }
        // These directories belong to workers that may outlive this process, so their contents
        // stay.
        for pool in external { _ = try arenas.directory(pool.name.text, .others) }
        if places.contains(where: { $0.kind == .cache }) {
            created.append(try SegmentDirectory(.cache, place.directory("results")))
        }
        return created
    }

    /// Removes the segments of own pools that are no longer configured, because no other process
    /// would free that memory.
    private static func emptyArenas(
        in place: borrowing VerifiedDirectory, besides known: [PoolName]
    ) throws(RuntimeDirectoryError) {
        let arenas = try place.directory("arena", .above)
        do throws(Errno) {
            // Reopened, because listing moves a descriptor's offset.
            for entry in try FileDescriptor.openDirectory(arenas.path).entries() {
                guard let name = PoolName(entry), !known.contains(name),
                    name != PoolName(.coordinator), let left = try? arenas.directory(entry)
                else { continue }
                // Leftovers that can't be removed now are removed at the next start.
                try? SegmentDirectory.clearLeftover(left)
            }
        } catch {
            throw .system(arenas.path, error)
        }
    }

    /// The coordinator's supervisor creates those of all kinds, since they are next to its sockets;
    /// other supervisors use the one of their kind.
    private static func makeControlDirectories(
        _ places: [WorkerPool], _ pools: [PoolName], in place: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> [SegmentDirectory] {
        guard places.contains(where: { $0.kind == .coordinator }) else {
            do throws(RuntimeDirectoryError) {
                return try openControlDirectories(places, in: place, .others)
            } catch {
                guard case .system(let path, let errno) = error,
                    [.accessDenied, .readOnlyFileSystem].contains(errno)
                else { throw error }
                throw .awaitsCoordinator(path)
            }
        }
        let back = try place.directory("back", .above)
        for pool in pools { _ = try back.directory(pool.text).controlDirectory() }
        let workers = places.filter { $0.kind != .coordinator }
        return try openControlDirectories(workers, in: place, .own)
    }

    private static func openControlDirectories(
        _ places: [WorkerPool], in place: borrowing VerifiedDirectory,
        _ rule: VerifiedDirectory.Rule
    ) throws(RuntimeDirectoryError) -> [SegmentDirectory] {
        let back = try place.directory("back", .above)
        var opened: [SegmentDirectory] = []
        for pool in places {
            let sockets = try back.directory(pool.name.text, rule)
            opened.append(try SegmentDirectory(pool.kind, sockets.controlDirectory()))
        }
        return opened
    }

    private static func removeSockets(
        in directory: consuming VerifiedDirectory, and name: String? = nil
    ) throws(RuntimeDirectoryError) {
        do throws(Errno) {
            for entry in try directory.descriptor.entries() {
                let type = try directory.descriptor.status(of: entry).type
                guard type == .socket || entry == name else { continue }
                try directory.descriptor.unlink(entry)
            }
        } catch {
            throw .system(directory.path, error)
        }
    }
}

/// The reason why a runtime directory can't be used.
package enum RuntimeDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is not absolute.
    case notAbsolute(String)
    /// The longest socket path below it exceeds the kernel's limit.
    case pathTooLong(String, bytes: Int)
    /// A symbolic link, a file or something else instead of a directory.
    case notDirectory(String)
    /// A directory belongs to another user.
    case wrongOwner(String, owner: UInt32, expected: UInt32)
    /// Other users can change the contents of a directory, or read a private one.
    case wrongMode(String, mode: UInt32)
    /// Another `serve` is running here.
    case locked(String, holder: Int32?)
    /// Neither the runtime directory nor `/dev/shm` is on tmpfs.
    case noSharedMemory(String)
    /// A directory is missing that only the coordinator's user may create.
    case awaitsCoordinator(String)
    /// A system call failed.
    case system(String, Errno)

    /// The error and the remedy, in one sentence.
    package var description: String {
        switch self {
        case .notAbsolute(let path): "the runtime directory '\(path)' is not an absolute path"
        case .pathTooLong(let path, let bytes):
            "the socket path \(path) has \(bytes) bytes; the kernel accepts at most "
                + "\(RuntimeDirectory.socketPathBytesMax): choose a runtime directory that is "
                + "\(bytes - RuntimeDirectory.socketPathBytesMax) bytes shorter"
        case .notDirectory(let path):
            "\(path) is not a directory (links are not followed): remove it, or choose another "
                + "runtime directory"
        case .wrongOwner(let path, let owner, let expected):
            "\(path) belongs to user \(owner), not to user \(expected): change its owner, or "
                + "choose another runtime directory"
        case .wrongMode(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), which gives other users access: "
                + "remove it, such as with chmod 700"
        case .locked(let path, let holder):
            "another serve\(holder.map { " (process \($0))" } ?? "") is using \(path): stop it, or "
                + "choose another runtime directory"
        case .noSharedMemory(let path):
            "neither \(path) is on tmpfs: mount tmpfs at one of them"
        case .awaitsCoordinator(let path):
            "\(path) does not exist yet: the supervisor of the coordinator creates it"
        case .system(let path, let errno):
            "\(path) cannot be used (\(errno)): choose another one with --runtime-dir"
        }
    }
}

/// The default directories of a stack (SEMANTICS §15.1).
package enum RuntimeLocation {
    /// Returns `$XDG_RUNTIME_DIR/imagebus`, else `/run/imagebus` if it is writable, else
    /// `/dev/shm/imagebus-UID`.
    package static func runtimeDirectory(
        environment: [String: String], userID: UInt32,
        mayWrite: (String) -> Bool = Self.mayWrite
    ) -> String {
        if let parent = environment["XDG_RUNTIME_DIR"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        if mayWrite("/run/imagebus") { return "/run/imagebus" }
        return "/dev/shm/imagebus-\(userID)"
    }

    /// Returns `$XDG_CACHE_HOME/imagebus`, else `~/.cache/imagebus`; nil without a home directory.
    package static func cacheDirectory(environment: [String: String]) -> String? {
        if let parent = environment["XDG_CACHE_HOME"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home == "/" ? "/.cache/imagebus" : "\(home)/.cache/imagebus"
    }

    /// Returns whether this user can write to a directory, or create it if it is missing.
    package static func mayWrite(_ path: String) -> Bool {
        if access(path, F_OK) == 0 { return access(path, W_OK) == 0 }
        guard let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")), cut > path.startIndex else {
            return false
        }
        return access(String(path[..<cut]), W_OK) == 0
    }
}

/// The lock of a runtime directory, `serve.lock`, held by the process that runs the coordinator.
package final class StackLock {
    private let file: FileDescriptor

    /// The file's name in the runtime directory.
    package static let fileName = "serve.lock"

    /// Retries while other processes probe the lock for an instant (`isHeld`).
    private static let triesMax = 30
    private static let pauseMicroseconds: UInt32 = 10_000

    /// Acquires the lock; throws `locked` if another process holds it.
    init(in directory: borrowing VerifiedDirectory) throws(RuntimeDirectoryError) {
        let path = "\(directory.path)/\(Self.fileName)"
        do throws(Errno) {
            file = try directory.descriptor.open(
                Self.fileName, [.readWrite, .create, .noFollow], mode: 0o600)
            var tries = 0
            while try !file.tryLock(.exclusive) {
                tries += 1
                if tries == Self.triesMax { throw .wouldBlock }
                usleep(Self.pauseMicroseconds)
            }
            try file.writeAll(Self.record(CurrentProcess.processID), at: 0)
        } catch .wouldBlock {
            throw .locked(path, holder: Self.holder(in: directory.descriptor))
        } catch {
            throw .system(path, error)
        }
    }

    /// Returns whether a `serve` process runs the coordinator of a runtime directory. False if the
    /// directory doesn't exist.
    ///
    /// Probes with a shared lock, so that concurrent probes don't see each other.
    package static func isHeld(in root: String) throws(Errno) -> Bool {
        do throws(Errno) {
            let file = try FileDescriptor.openDirectory(root).open(fileName, [.noFollow])
            return try !file.tryLock(.shared)
        } catch .noSuchFile {
            return false
        }
    }

    /// Returns the process ID recorded in the file.
    private static func holder(in directory: borrowing FileDescriptor) -> ProcessID? {
        guard let file = try? directory.open(fileName, [.noFollow]),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return ProcessID(String(decoding: line, as: UTF8.self))
    }

    /// Returns the process ID in decimal, padded with line ends to a fixed length, so that a
    /// shorter ID overwrites a longer one.
    private static func record(_ process: ProcessID) -> [UInt8] {
        let digits = Array("\(process)\n".utf8)
        return digits + Array(repeating: UInt8(ascii: "\n"), count: max(0, 16 - digits.count))
    }
}

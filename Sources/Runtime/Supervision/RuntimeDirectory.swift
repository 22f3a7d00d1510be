import Glibc
public import Linux
public import Messages
public import SharedArena

/// The directories of one stack, made, verified and locked for the kinds that this process serves
/// (PROTOCOL §10).
///
/// Each is opened without following a link, and owner, mode and type are what `fstat` says of the
/// open one. What earlier lives left is removed: stale sockets, and segments of dead processes.
public struct RuntimeDirectory: ~Copyable {
    /// Where everything lies.
    public let paths: RuntimePaths
    private let lock: StackLock?
    /// Of all pools of a kind.
    private let segments: [WorkerKind: [SegmentDirectory]]
    /// Those besides the ones that every stack has.
    private let pools: [WorkerPool]

    /// Bytes of a Unix socket's path, without the zero at its end (`sun_path`).
    public static let socketPathBytesMax = 107

    /// Makes, verifies and locks everything; `root` is absolute. What is there already, made by an
    /// administrator, stays as it is.
    ///
    /// Whoever serves the coordinator holds `serve.lock`: a second one is refused with `locked`.
    /// Without it nothing is made but the directories of `kinds`; throws `awaitsCoordinator` while
    /// one is missing that only the coordinator's user may make. `pools` are those of the
    /// configuration; `own` is the one that is served in place of that of every stack, where only
    /// its kind is. `sharedMemory` is where segments go when `root` is not on tmpfs.
    public init(
        root: String, kinds: Set<WorkerKind>, pools: [WorkerPool] = [], only own: WorkerPool? = nil,
        sharedMemory: String = "/dev/shm"
    ) throws(RuntimeDirectoryError) {
        let root = RuntimePaths(root: root).root
        let pools = pools.filter { !$0.isBuiltIn }
        let names = WorkerKind.workers.map { PoolName($0) } + pools.map(\.name)
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
        // Who serves all kinds starts the processes of further pools as well, even of kinds of
        // which every stack's own pool has none.
        let isWhole = kinds.contains(.coordinator) && kinds.contains(.cache)
        let started = isWhole ? pools.filter { $0.trust == .own } : []
        let foreign = isWhole ? pools.filter { $0.trust == .foreign } : []
        if isWhole { try Self.emptyArenas(in: place, besides: names) }
        let control = try Self.makeControlDirectories(places + started, names, in: place)
        segments = try Self.makeSegmentDirectories(places + started, foreign, in: place)
            .merging(control) { $0 + $1 }
        self.pools = pools
        self.lock = lock
        self.paths = paths
    }

    /// Whether segments lie elsewhere, since the runtime directory is not on tmpfs.
    public var hasSegmentsElsewhere: Bool { paths.segmentsRoot != paths.root }

    /// Leaves in `admin/` what operators show there. Once, before anything is started.
    public borrowing func leaveAdminSecret(
        of secrets: StackSecrets
    ) throws(RuntimeDirectoryError) {
        let admin = try VerifiedDirectory.at(path: paths.root, .above).directory("admin", .secret)
        do throws(Errno) {
            try AdminSecret.write(secrets.listeners.admin, in: admin.descriptor)
        } catch {
            throw .system(paths.adminSecretFile, error)
        }
    }

    /// Leaves in `back/<pool>/` what workers of a foreign pool show there, for the user of the
    /// stack alone. Once, before anything is started.
    public borrowing func leavePoolSecrets(
        of secrets: StackSecrets
    ) throws(RuntimeDirectoryError) {
        for pool in pools where pool.trust == .foreign {
            guard let secret = secrets.listeners.workers[pool.name] else { continue }
            let back = try VerifiedDirectory.at(path: paths.root, .above).directory("back", .above)
            let listener = try back.directory(pool.name.text)
            do throws(Errno) {
                try AdminSecret.write(secret, in: listener.descriptor)
            } catch {
                throw .system(paths.backSecretFile(pool.name), error)
            }
        }
    }

    /// Unlinks the segments of a dead process; returns how many there were.
    public func removeSegments(of incarnation: Incarnation, kind: WorkerKind) -> Int {
        var removed = 0
        for directory in segments[kind] ?? [] {
            // What cannot be removed now is removed by the next start.
            removed += (try? directory.removeSegments(of: incarnation)) ?? 0
        }
        return removed
    }

    /// Removes what a stack whose processes have all ended leaves: sockets and segments. The
    /// directories stay, except one in `/dev/shm` that was made for this runtime directory.
    public borrowing func clear() {
        for directory in segments.values.joined() { try? directory.clear() }
        guard lock != nil else { return }
        if let top = try? VerifiedDirectory.at(path: paths.root, .above) {
            let names = WorkerKind.workers.map { PoolName($0) } + pools.map(\.name)
            try? Self.makeSocketDirectories(names, in: top)
            guard hasSegmentsElsewhere else { return }
            try? FileDescriptor.removeTree(path: paths.segmentsRoot)
            try? top.descriptor.unlink(RuntimePaths.segmentsFileName)
        }
    }
}

extension RuntimeDirectory {
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

    /// Workers alone go where the coordinator's supervisor said; before there is one, where it
    /// will say.
    private static func resolvedOrChosen(
        _ top: borrowing VerifiedDirectory, sharedMemory: String
    ) throws(RuntimeDirectoryError) -> RuntimePaths {
        if let paths = try? RuntimePaths(resolving: top.path), paths.segmentsRoot != paths.root {
            return paths
        }
        return try SharedMemoryRoot.choose(for: top, sharedMemory: sharedMemory)
    }

    /// `front/`, `web/`, `admin/` and `back/<pool>/`, without the sockets and the secrets of an
    /// earlier life.
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
        _ places: [WorkerPool], _ foreign: [WorkerPool], in place: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> [WorkerKind: [SegmentDirectory]] {
        let arenas = try place.directory("arena", .above)
        var made: [WorkerKind: [SegmentDirectory]] = [:]
        for place in places {
            made[place.kind, default: []].append(
                try SegmentDirectory(arenas.directory(place.name.text)))
        }
        // What lies in these is that of workers which may live longer than this process.
        for pool in foreign { _ = try arenas.directory(pool.name.text, .others) }
        if made[.cache] != nil {
            made[.cache]?.append(try SegmentDirectory(place.directory("results")))
        }
        return made
    }

    /// Removes the segments of own pools that the configuration no longer has: nobody else would,
    /// and they occupy memory.
    private static func emptyArenas(
        in place: borrowing VerifiedDirectory, besides known: [PoolName]
    ) throws(RuntimeDirectoryError) {
        let arenas = try place.directory("arena", .above)
        do throws(Errno) {
            // Opened anew, since listing moves a descriptor's offset.
            for entry in try FileDescriptor.openDirectory(arenas.path).entries() {
                guard let name = PoolName(entry), !known.contains(name),
                    name != PoolName(.coordinator), let left = try? arenas.directory(entry)
                else { continue }
                // What cannot be removed now is removed by the next start.
                try? SegmentDirectory.clearLeftover(left)
            }
        } catch {
            throw .system(arenas.path, error)
        }
    }

    /// The coordinator's supervisor makes those of all kinds, since they lie beside its sockets;
    /// each other one uses its own.
    private static func makeControlDirectories(
        _ places: [WorkerPool], _ pools: [PoolName], in place: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> [WorkerKind: [SegmentDirectory]] {
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
    ) throws(RuntimeDirectoryError) -> [WorkerKind: [SegmentDirectory]] {
        let back = try place.directory("back", .above)
        var opened: [WorkerKind: [SegmentDirectory]] = [:]
        for place in places {
            let sockets = try back.directory(place.name.text, rule)
            opened[place.kind, default: []].append(
                try SegmentDirectory(sockets.controlDirectory()))
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

/// Why a runtime directory cannot be used.
public enum RuntimeDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is not absolute.
    case notAbsolute(String)
    /// The longest socket path below it has more bytes than the kernel takes.
    case pathTooLong(String, bytes: Int)
    /// A symbolic link, a file or something else is where a directory should be.
    case notDirectory(String)
    /// A directory belongs to another user.
    case wrongOwner(String, owner: UInt32, expected: UInt32)
    /// Others could change what is in a directory, or look into a private one.
    case wrongMode(String, mode: UInt32)
    /// Another `serve` runs here.
    case locked(String, holder: Int32?)
    /// Neither the runtime directory nor `/dev/shm` is on tmpfs.
    case noSharedMemory(String)
    /// A directory is missing which only the user of the coordinator may make.
    case awaitsCoordinator(String)
    /// The kernel refused.
    case system(String, Errno)

    /// One sentence that says what to do.
    public var description: String {
        switch self {
        case .notAbsolute(let path): "the runtime directory '\(path)' is not an absolute path"
        case .pathTooLong(let path, let bytes):
            "the socket path \(path) has \(bytes) bytes, the kernel takes "
                + "\(RuntimeDirectory.socketPathBytesMax): choose a runtime directory that is "
                + "\(bytes - RuntimeDirectory.socketPathBytesMax) bytes shorter"
        case .notDirectory(let path):
            "\(path) is not a directory (links are not followed): remove it, or choose another "
                + "runtime directory"
        case .wrongOwner(let path, let owner, let expected):
            "\(path) belongs to user \(owner), not to user \(expected): change its owner, or "
                + "choose another runtime directory"
        case .wrongMode(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), which lets others in: "
                + "take their permission away, such as with chmod 700"
        case .locked(let path, let holder):
            "another serve\(holder.map { " (process \($0))" } ?? "") holds \(path): stop it, or "
                + "choose another runtime directory"
        case .noSharedMemory(let path):
            "\(path) is not on tmpfs, and neither is it: mount tmpfs at one of them"
        case .awaitsCoordinator(let path):
            "\(path) is not there yet: the supervisor of the coordinator makes it"
        case .system(let path, let errno):
            "\(path) cannot be used (\(errno)): name another one with --runtime-dir"
        }
    }
}

/// Where a stack lies when nobody says so (SEMANTICS §15.1).
public enum RuntimeLocation {
    /// `$XDG_RUNTIME_DIR/imagebus`, else `/run/imagebus` where it may be written, else
    /// `/dev/shm/imagebus-UID`.
    public static func runtimeDirectory(
        environment: [String: String], userID: UInt32,
        mayWrite: (String) -> Bool = Self.mayWrite
    ) -> String {
        if let parent = environment["XDG_RUNTIME_DIR"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        if mayWrite("/run/imagebus") { return "/run/imagebus" }
        return "/dev/shm/imagebus-\(userID)"
    }

    /// `$XDG_CACHE_HOME/imagebus`, else `~/.cache/imagebus`; nil without a home.
    public static func cacheDirectory(environment: [String: String]) -> String? {
        if let parent = environment["XDG_CACHE_HOME"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home == "/" ? "/.cache/imagebus" : "\(home)/.cache/imagebus"
    }

    /// Whether this user may write in a directory, or may make it where it is missing.
    public static func mayWrite(_ path: String) -> Bool {
        if access(path, F_OK) == 0 { return access(path, W_OK) == 0 }
        guard let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")), cut > path.startIndex else {
            return false
        }
        return access(String(path[..<cut]), W_OK) == 0
    }
}

/// The lock of a runtime directory, `serve.lock`: whoever runs the coordinator there holds it.
public final class StackLock {
    private let file: FileDescriptor

    /// The file's name in the runtime directory.
    public static let fileName = "serve.lock"

    /// Others look at the lock for an instant (`isHeld`); that is waited out.
    private static let triesMax = 30
    private static let pauseMicroseconds: UInt32 = 10_000

    /// Takes the lock; throws `locked` while somebody else holds it.
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

    /// Whether a `serve` runs the coordinator of a runtime directory. False where there is none.
    ///
    /// A shared lock is enough to see it: two who look at the same time do not see each other.
    public static func isHeld(in root: String) throws(Errno) -> Bool {
        do throws(Errno) {
            let file = try FileDescriptor.openDirectory(root).open(fileName, [.noFollow])
            return try !file.tryLock(.shared)
        } catch .noSuchFile {
            return false
        }
    }

    /// The process that wrote itself into the file.
    private static func holder(in directory: borrowing FileDescriptor) -> ProcessID? {
        guard let file = try? directory.open(fileName, [.noFollow]),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return ProcessID(String(decoding: line, as: UTF8.self))
    }

    /// Decimal digits and line ends to a fixed length, so that a shorter number hides a longer one.
    private static func record(_ process: ProcessID) -> [UInt8] {
        let digits = Array("\(process)\n".utf8)
        return digits + Array(repeating: UInt8(ascii: "\n"), count: max(0, 16 - digits.count))
    }
}

extension FileDescriptor {
    fileprivate borrowing func writeAll(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        try writeAll(bytes.span.bytes, at: offset)
    }
}

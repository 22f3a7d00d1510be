public import Linux
public import Messages

/// Where everything of one stack lies (PROTOCOL §2, §10). All processes and clients build the same
/// paths from the runtime directory alone.
public struct RuntimePaths: Hashable, Sendable {
    /// The runtime directory, absolute, without a slash at its end.
    public let root: String
    /// Where `arena/`, `results/` and what workers say of themselves lie: `root` itself where that
    /// is on tmpfs, else the directory that `serve` wrote into the file `segments`.
    public let segmentsRoot: String

    /// Names both directories.
    public init(root: String, segmentsRoot: String? = nil) {
        let root = Self.withoutTrailingSlashes(root)
        self.root = root
        self.segmentsRoot = segmentsRoot.map(Self.withoutTrailingSlashes) ?? root
    }

    /// Reads `segments` in the runtime directory; without that file, or without the directory,
    /// everything lies in `root`.
    public init(resolving root: String) throws(RuntimePathsError) {
        guard root.utf8.first == UInt8(ascii: "/") else { throw .notAbsolute(root) }
        self.init(root: root, segmentsRoot: try Self.readSegmentsFile(in: root))
    }

    /// Finds the runtime directory of an endpoint: `ipc://DIRECTORY/front/front.sock`, or the path
    /// alone; a socket of `web/` or `admin/` as well.
    public init(endpoint: String) throws(RuntimePathsError) {
        let path =
            endpoint.hasPrefix(Self.scheme)
            ? String(endpoint.dropFirst(Self.scheme.count)) : endpoint
        guard path.utf8.first == UInt8(ascii: "/") else { throw .notAnEndpoint(endpoint) }
        let sockets = ["/front/front.sock", "/web/web.sock", Self.adminSuffix]
        for known in sockets where path.hasSuffix(known) {
            try self.init(resolving: String(path.dropLast(known.count)))
            return
        }
        throw .notAnEndpoint(endpoint)
    }

    /// Clients connect in it.
    public var frontDirectory: String { "\(root)/front" }
    /// Front ends that speak for strangers connect in it: they may do less than clients.
    public var webDirectory: String { "\(root)/web" }
    /// Operators connect in it.
    public var adminDirectory: String { "\(root)/admin" }
    /// Workers of the pool that every stack has of a kind connect in it.
    public func backDirectory(_ kind: WorkerKind) -> String { backDirectory(PoolName(kind)) }
    /// Workers of a pool connect in it.
    public func backDirectory(_ pool: PoolName) -> String { "\(root)/back/\(pool)" }
    /// What workers of a foreign pool show at their listener, where `serve` runs all kinds as one
    /// user.
    public func backSecretFile(_ pool: PoolName) -> String {
        "\(backDirectory(pool))/\(Self.secretFileName)"
    }

    /// The socket of clients.
    public var frontSocket: String { "\(frontDirectory)/front.sock" }
    /// The socket of front ends that speak for strangers.
    public var webSocket: String { "\(webDirectory)/web.sock" }
    /// The socket of operators.
    public var adminSocket: String { "\(adminDirectory)/admin.sock" }
    /// What operators show at their socket, where `serve` runs all kinds as one user.
    public var adminSecretFile: String { "\(adminDirectory)/\(Self.secretFileName)" }
    /// The last part of `adminSecretFile`.
    public static let secretFileName = "secret"
    /// The socket of workers of the pool that every stack has of a kind.
    public func backSocket(_ kind: WorkerKind) -> String { backSocket(PoolName(kind)) }
    /// The socket of workers of a pool.
    public func backSocket(_ pool: PoolName) -> String { "\(backDirectory(pool))/back.sock" }

    /// The same as ZeroMQ names it.
    public var frontEndpoint: String { Self.scheme + frontSocket }
    /// The same as ZeroMQ names it.
    public var webEndpoint: String { Self.scheme + webSocket }
    /// The same as ZeroMQ names it.
    public var adminEndpoint: String { Self.scheme + adminSocket }
    /// The same as ZeroMQ names it.
    public func backEndpoint(_ kind: WorkerKind) -> String { backEndpoint(PoolName(kind)) }
    /// The same as ZeroMQ names it.
    public func backEndpoint(_ pool: PoolName) -> String { Self.scheme + backSocket(pool) }

    /// `arena/`, with one directory for each pool.
    public var arenasDirectory: String { "\(segmentsRoot)/arena" }
    /// Segments of the coordinator, or of the pool that every stack has of a kind.
    public func arenaDirectory(_ kind: WorkerKind) -> String { arenaDirectory(PoolName(kind)) }
    /// Segments of a pool's processes.
    public func arenaDirectory(_ pool: PoolName) -> String { "\(arenasDirectory)/\(pool)" }
    /// The same as `controlDirectory` of the pool that every stack has of a kind.
    public func controlDirectory(_ kind: WorkerKind) -> String { controlDirectory(PoolName(kind)) }
    /// Control segments of a pool's processes: how they live and die, never payloads. Where only
    /// the coordinator and that pool look; on tmpfs, so that a heartbeat never waits for a disk.
    public func controlDirectory(_ pool: PoolName) -> String {
        "\(segmentsRoot)/back/\(pool)/\(Self.controlName)"
    }
    /// The last part of `controlDirectory`.
    public static let controlName = "control"
    /// The memory tier and delivered results.
    public var resultsDirectory: String { "\(segmentsRoot)/results" }

    /// The same for those who open segments.
    public var segmentDirectories: SegmentDirectories {
        SegmentDirectories(arenas: arenasDirectory, results: resultsDirectory)
    }

    /// The file in the runtime directory that names `segmentsRoot`. A file, since a symbolic link
    /// is followed nowhere.
    public static let segmentsFileName = "segments"

    static let adminSuffix = "/admin/\(adminSocketName)"
    static let adminSocketName = "admin.sock"
    private static let scheme = "ipc://"
    private static let pathBytesMax = 4096

    private static func readSegmentsFile(in root: String) throws(RuntimePathsError) -> String? {
        let path = "\(root)/\(segmentsFileName)"
        let bytes: [UInt8]
        do throws(Errno) {
            let directory = try FileDescriptor.openDirectory(root)
            let file = try directory.open(segmentsFileName, [.noFollow, .nonBlocking])
            let status = try file.status()
            let owners = [0, try directory.status().userID]
            guard status.type == .regular, owners.contains(status.userID) else {
                throw Errno.notPermitted
            }
            bytes = try file.readToEnd(bytesMax: pathBytesMax)
        } catch .noSuchFile {
            return nil
        } catch {
            throw .unreadable(path, error)
        }
        guard bytes.first == UInt8(ascii: "/"), bytes.last == UInt8(ascii: "\n"),
            let text = String(validating: bytes.dropLast(), as: UTF8.self),
            !text.utf8.contains(where: { $0 < 0x20 })
        else { throw .malformed(path) }
        return text
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var path = Substring(path)
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
        return String(path)
    }
}

/// Why the paths of a stack could not be found.
public enum RuntimePathsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The runtime directory is not an absolute path.
    case notAbsolute(String)
    /// An endpoint that does not end in `/front/front.sock` or `/admin/admin.sock`.
    case notAnEndpoint(String)
    /// The file `segments` cannot be read, or belongs to somebody else (EPERM).
    case unreadable(String, Errno)
    /// The file `segments` holds no absolute path.
    case malformed(String)

    /// One sentence that says what to do.
    public var description: String {
        switch self {
        case .notAbsolute(let path): "the runtime directory '\(path)' is not an absolute path"
        case .notAnEndpoint(let text):
            "'\(text)' is no endpoint: name it as ipc:///DIRECTORY/front/front.sock"
        case .unreadable(let path, let errno): "\(path) cannot be trusted or read (\(errno))"
        case .malformed(let path):
            "\(path) holds no absolute path: remove it, the next serve writes it anew"
        }
    }
}

/// Where segments lie.
public struct SegmentDirectories: Hashable, Sendable {
    /// `arena/`, with one directory for each pool of producers.
    public let arenas: String
    /// `results/`
    public let results: String

    /// Names the two directories by absolute paths.
    public init(arenas: String, results: String) {
        self.arenas = arenas
        self.results = results
    }

    /// The directory of a producer's segments.
    public func path(of arena: ArenaName, producer: PoolName) -> String {
        switch arena {
        case .results: results
        case .stage: "\(arenas)/\(producer)"
        }
    }

    /// The same of the pool that every stack has of a kind.
    public func path(of arena: ArenaName, producer kind: WorkerKind) -> String {
        path(of: arena, producer: PoolName(kind))
    }
}

/// The file from which operators take what they show at `admin/`: beside the socket, for its user
/// alone.
public enum AdminSecret {
    /// That of the stack that serves `endpoint`, as it is now; nil where the endpoint is no
    /// operators' one, or has none that can be read: the coordinator then says whether it asks.
    public static func beside(_ endpoint: String) -> ListenerSecret? {
        guard endpoint.hasSuffix(RuntimePaths.adminSuffix) else { return nil }
        let directory = endpoint.dropLast(RuntimePaths.adminSocketName.utf8.count)
        return ListenerSecret(inFile: directory + RuntimePaths.secretFileName)
    }

    /// Leaves it in `admin/`.
    public static func write(
        _ secret: ListenerSecret, in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let file = try directory.open(
            RuntimePaths.secretFileName, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
        try file.setMode(0o600)
        try file.writeAll(secret.bytes)
    }
}

/// The file from which workers of a foreign pool take what they show at their listener.
public enum PoolSecret {
    /// That of a pool, as it is now; nil where there is none that can be read: the coordinator then
    /// says whether it asks.
    public static func of(_ pool: PoolName, in paths: RuntimePaths) -> ListenerSecret? {
        ListenerSecret(inFile: paths.backSecretFile(pool))
    }
}

extension ListenerSecret {
    /// What a file holds that is no link; nil where there is none, or nothing of that length.
    init?(inFile path: String) {
        let file = try? FileDescriptor.open(path, [.noFollow, .nonBlocking])
        guard let bytes = try? file?.readToEnd(bytesMax: Self.byteCount) else { return nil }
        self.init(bytes)
    }
}

/// Whose coordinator may be talked to in a runtime directory that nobody named, such as
/// `/dev/shm/imagebus-UID`: anybody may have made something at such a place before.
///
/// Nobody but root and this user may change the directory and those above it. So whatever lies in
/// it was put there by one of them, and they chose the owner of the directory of a listener.
public struct TrustedServers: Hashable, Sendable {
    /// Root, this user, and the owner of the listener's directory.
    public let userIDs: Set<UInt32>

    /// Checks every directory of the absolute path `root`, and that of the listener `front` or
    /// `admin` in it. `nil`: nothing is there, so nobody serves.
    ///
    /// What was checked stays so: in each directory only trusted users may put one thing in the
    /// place of another.
    public init?(
        in root: String, listener: String, user: UInt32 = CurrentProcess.userID
    ) throws(UntrustedDirectoryError) {
        let trusted: Set<UInt32> = [0, user]
        var path = ""
        let names = root.split(separator: "/")
        for name in names {
            guard
                try Self.check(
                    path.isEmpty ? "/" : path, owners: trusted, user: user, maySticky: true)
                    != nil
            else { return nil }
            path += "/\(name)"
        }
        guard try Self.check(path, owners: trusted, user: user) != nil else { return nil }
        let keeper = try Self.check("\(path)/\(listener)", owners: nil, user: user)
        userIDs = keeper.map { trusted.union([$0]) } ?? trusted
    }

    /// The owner of a directory that may be trusted; `nil` where it is missing.
    ///
    /// With `maySticky` others may add entries, and still not replace what is there.
    private static func check(
        _ path: String, owners: Set<UInt32>?, user: UInt32, maySticky: Bool = false
    ) throws(UntrustedDirectoryError) -> UInt32? {
        let status: FileStatus
        do throws(Errno) {
            status = try FileDescriptor.status(path: path)
        } catch .noSuchFile {
            return nil
        } catch {
            throw .system(path, error)
        }
        guard owners?.contains(status.userID) != false else {
            throw .foreign(path, owner: status.userID, user: user)
        }
        guard status.type == .directory else { throw .notDirectory(path) }
        guard status.mode & 0o022 == 0 || (maySticky && status.mode & 0o1000 != 0) else {
            throw .writable(path, mode: status.mode)
        }
        return status.userID
    }
}

/// Why nothing is sent to whoever serves a runtime directory that nobody named.
public enum UntrustedDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It, or a directory above it, belongs to somebody else.
    case foreign(String, owner: UInt32, user: UInt32)
    /// Others may put something else in the place of what lies in it.
    case writable(String, mode: UInt32)
    /// A symbolic link or a file is where a directory should be.
    case notDirectory(String)
    /// The kernel refused.
    case system(String, Errno)

    /// One sentence that says what to do.
    public var description: String {
        "\(reason): nothing was sent there; remove it, or name the stack that is meant with "
            + "--endpoint or --runtime-dir (IMAGEBUS_ENDPOINT, IMAGEBUS_RUNTIME_DIR)"
    }

    private var reason: String {
        switch self {
        case .foreign(let path, let owner, let user):
            "\(path) belongs to user \(owner), neither to user \(user) nor to root"
        case .writable(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), so that other users may change it"
        case .notDirectory(let path): "\(path) is not a directory (links are not followed)"
        case .system(let path, let errno): "\(path) cannot be looked at (\(errno))"
        }
    }
}

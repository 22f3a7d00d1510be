public import Linux
public import Model

/// The paths of one stack (PROTOCOL §2, §10). All processes and clients derive the same paths from
/// the runtime directory alone.
public struct RuntimePaths: Hashable, Sendable {
    /// The runtime directory as an absolute path without a trailing slash.
    public let root: String
    /// The directory of `arena/`, `results/` and the workers' control segments: `root` itself if
    /// that is on tmpfs, else the directory that `serve` wrote to the file `segments`.
    public let segmentsRoot: String

    /// Creates the paths from both directories.
    public init(root: String, segmentsRoot: String? = nil) {
        let root = Self.withoutTrailingSlashes(root)
        self.root = root
        self.segmentsRoot = segmentsRoot.map(Self.withoutTrailingSlashes) ?? root
    }

    /// Reads `segments` in the runtime directory. If the file or the directory doesn't exist,
    /// everything is in `root`.
    public init(resolving root: String) throws(RuntimePathsError) {
        guard root.utf8.first == UInt8(ascii: "/") else { throw .notAbsolute(root) }
        self.init(root: root, segmentsRoot: try Self.readSegmentsFile(in: root))
    }

    /// Finds the runtime directory of an endpoint: `ipc://DIRECTORY/front/front.sock` or just the
    /// path; sockets in `web/` and `admin/` are accepted as well.
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

    /// The directory of the clients' socket.
    public var frontDirectory: String { "\(root)/front" }
    /// The directory of the socket for front ends that serve untrusted clients; they have fewer
    /// permissions than clients.
    public var webDirectory: String { "\(root)/web" }
    /// The directory of the operators' socket.
    public var adminDirectory: String { "\(root)/admin" }
    /// Returns the directory of the listener for a pool.
    public func backDirectory(_ pool: PoolName) -> String { "\(root)/back/\(pool)" }
    /// Returns the file with the secret that workers of an external pool present to their listener
    /// if `serve` runs all kinds as one user.
    public func backSecretFile(_ pool: PoolName) -> String {
        "\(backDirectory(pool))/\(Self.secretFileName)"
    }

    /// The clients' socket.
    public var frontSocket: String { "\(frontDirectory)/front.sock" }
    /// The socket of front ends that serve untrusted clients.
    public var webSocket: String { "\(webDirectory)/web.sock" }
    /// The operators' socket.
    public var adminSocket: String { "\(adminDirectory)/admin.sock" }
    /// The file with the secret that operators present if `serve` runs all kinds as one user.
    public var adminSecretFile: String { "\(adminDirectory)/\(Self.secretFileName)" }
    /// The last component of `adminSecretFile`.
    public static let secretFileName = "secret"
    /// Returns the socket for workers of a pool.
    public func backSocket(_ pool: PoolName) -> String { "\(backDirectory(pool))/back.sock" }

    /// `frontSocket` as a ZeroMQ endpoint.
    public var frontEndpoint: String { Self.scheme + frontSocket }
    /// `webSocket` as a ZeroMQ endpoint.
    public var webEndpoint: String { Self.scheme + webSocket }
    /// `adminSocket` as a ZeroMQ endpoint.
    public var adminEndpoint: String { Self.scheme + adminSocket }
    /// Returns `backSocket` as a ZeroMQ endpoint.
    public func backEndpoint(_ pool: PoolName) -> String { Self.scheme + backSocket(pool) }

    /// `arena/`, with one subdirectory per pool.
    public var arenasDirectory: String { "\(segmentsRoot)/arena" }
    /// Returns the directory of the segments of a pool's processes, or of the coordinator's.
    public func arenaDirectory(_ pool: PoolName) -> String { "\(arenasDirectory)/\(pool)" }
    /// Returns the directory of the control segments of a pool's processes: heartbeats and causes
    /// of death, never payloads. Only the coordinator and that pool have access. It is on tmpfs, so
    /// that a heartbeat never waits for a disk.
    public func controlDirectory(_ pool: PoolName) -> String {
        "\(segmentsRoot)/back/\(pool)/\(Self.controlName)"
    }
    /// The last component of `controlDirectory`.
    public static let controlName = "control"
    /// The directory of the memory tier and delivered results.
    public var resultsDirectory: String { "\(segmentsRoot)/results" }

    /// The directories of segments, for readers.
    public var segmentDirectories: SegmentDirectories {
        SegmentDirectories(arenas: arenasDirectory, results: resultsDirectory)
    }

    /// The file in the runtime directory that names `segmentsRoot`. A file, because symbolic links
    /// are never followed.
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

/// The reason why the paths of a stack could not be determined.
public enum RuntimePathsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The runtime directory is not an absolute path.
    case notAbsolute(String)
    /// The endpoint does not end in `/front/front.sock` or `/admin/admin.sock`.
    case notAnEndpoint(String)
    /// The file `segments` can't be read, or belongs to another user (EPERM).
    case unreadable(String, Errno)
    /// The file `segments` does not contain an absolute path.
    case malformed(String)

    /// The error and the remedy, in one sentence.
    public var description: String {
        switch self {
        case .notAbsolute(let path): "the runtime directory '\(path)' is not an absolute path"
        case .notAnEndpoint(let text):
            "'\(text)' is not a valid endpoint: expected ipc:///DIRECTORY/front/front.sock"
        case .unreadable(let path, let errno): "\(path) cannot be trusted or read (\(errno))"
        case .malformed(let path):
            "\(path) does not contain an absolute path: remove it; the next serve recreates it"
        }
    }
}

/// The directories of segments.
public struct SegmentDirectories: Hashable, Sendable {
    /// `arena/`, with one subdirectory per producing pool.
    public let arenas: String
    /// `results/`
    public let results: String

    /// Returns the directory of a producer's segments.
    public func path(of arena: ArenaName, producer: PoolName) -> String {
        switch arena {
        case .results: results
        case .stage: "\(arenas)/\(producer)"
        }
    }
}

/// The file with the secret that operators present at `admin/`: next to the socket, readable by its
/// user alone.
public enum AdminSecret {
    /// Returns the current secret of the stack that serves `endpoint`. nil if it isn't an
    /// operators' endpoint or has no readable secret; whether one is required is then up to the
    /// coordinator.
    public static func beside(_ endpoint: String) -> ListenerSecret? {
        guard endpoint.hasSuffix(RuntimePaths.adminSuffix) else { return nil }
        let directory = endpoint.dropLast(RuntimePaths.adminSocketName.utf8.count)
        return ListenerSecret(inFile: directory + RuntimePaths.secretFileName)
    }

    /// Writes the secret to `admin/`.
    public static func write(
        _ secret: ListenerSecret, in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let file = try directory.open(
            RuntimePaths.secretFileName, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
        try file.setMode(0o600)
        try file.writeAll(secret.bytes)
    }
}

extension ListenerSecret {
    /// Reads the secret from a file that isn't a link; nil if the file doesn't exist or has the
    /// wrong length.
    init?(inFile path: String) {
        let file = try? FileDescriptor.open(path, [.noFollow, .nonBlocking])
        guard let bytes = try? file?.readToEnd(bytesMax: Self.byteCount) else { return nil }
        self.init(bytes)
    }
}

/// The users whose coordinator can be trusted in a default runtime directory such as
/// `/dev/shm/imagebus-UID`, where any user may have created something beforehand.
///
/// Only root and this user may change the directory and its parents. So its contents were put there
/// by one of them, and they chose the owner of a listener's directory.
public struct TrustedServers: Hashable, Sendable {
    /// Root, this user, and the owner of the listener's directory.
    public let userIDs: Set<UInt32>

    /// Checks every directory of the absolute path `root`, and the directory of the listener
    /// `front` or `admin` in it. Returns `nil` if it doesn't exist, so that no stack is running.
    ///
    /// The result stays valid: only trusted users can replace entries in each of the directories.
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

    /// Returns the owner of a trusted directory; `nil` if it doesn't exist.
    ///
    /// With `maySticky` other users may add entries, but can't replace existing ones.
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
            throw .wrongOwner(path, owner: status.userID, user: user)
        }
        guard status.type == .directory else { throw .notDirectory(path) }
        guard status.mode & 0o022 == 0 || (maySticky && status.mode & 0o1000 != 0) else {
            throw .writable(path, mode: status.mode)
        }
        return status.userID
    }
}

/// The reason why a default runtime directory is not trusted.
public enum UntrustedDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It, or a parent directory, belongs to another user.
    case wrongOwner(String, owner: UInt32, user: UInt32)
    /// Other users can replace entries in it.
    case writable(String, mode: UInt32)
    /// A symbolic link or a file instead of a directory.
    case notDirectory(String)
    /// A system call failed.
    case system(String, Errno)

    /// The error and the remedy, in one sentence.
    public var description: String {
        "\(reason): nothing was sent there; remove it, or specify the intended stack with "
            + "--endpoint or --runtime-dir (IMAGEBUS_ENDPOINT, IMAGEBUS_RUNTIME_DIR)"
    }

    private var reason: String {
        switch self {
        case .wrongOwner(let path, let owner, let user):
            "\(path) belongs to user \(owner) instead of user \(user) or root"
        case .writable(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), which allows other users to change it"
        case .notDirectory(let path): "\(path) is not a directory (links are not followed)"
        case .system(let path, let errno): "\(path) cannot be inspected (\(errno))"
        }
    }
}

internal import Linux

/// The directory of one disk cache, held by this process alone.
///
/// It is ours or an administrator's, and nobody else may write there: who puts files there chooses
/// what is served. `lock` in it is locked (flock) for as long as this value lives, so a second
/// process cannot open the same cache; the lock goes with the process, however it ends.
public final class CacheDirectory: Sendable {
    /// As it was given.
    public let path: String
    let root: FileDescriptor
    private let lock: FileDescriptor

    /// Makes the directory where it is missing, parents included (mode 0700), verifies and locks
    /// it. A link is followed: what counts is the directory behind it.
    ///
    /// - Throws: `.unsafe` where others could change what is in it, `.inUse` where another process
    ///   holds it, `.readOnly`, `.full`, `.failed`.
    public init(path: String) throws(DiskError) {
        self.path = path
        do {
            let isNew = try Self.make(path)
            root = try FileDescriptor.open(path, .directory)
            // Whatever the umask says.
            if isNew { try root.setMode(0o700) }
            if let fault = DirectoryRule.above.fault(in: try root.status()) {
                throw DiskError(fault, path)
            }
            lock = try root.open("lock", [.readWrite, .create, .noFollow])
            guard try lock.tryLock(.exclusive) else { throw Self.taken(path) }
        } catch let error as Errno {
            throw DiskError(error, "cache directory \(path)")
        } catch let error as DiskError {
            throw error
        } catch {
            throw DiskError(.failed, "\(error)")
        }
    }

    /// Bytes of a file in it; 0 where it is missing.
    func bytes(of name: String) -> Int { (try? root.status(of: name).size) ?? 0 }

    /// Makes a file in it where it is missing, and takes from others what an earlier version
    /// allowed them: 0600.
    func prepareFile(_ name: String) throws(Errno) {
        let file = try root.open(name, [.readWrite, .create, .noFollow])
        if try file.status().mode != 0o600 { try file.setMode(0o600) }
    }

    /// The same of a file that may be missing. It is not opened: closing it would take SQLite's
    /// locks away from a file that this process has open as well.
    func narrow(_ name: String) throws(Errno) {
        guard let status = try? root.status(of: name), status.type == .regular,
            status.mode != 0o600
        else { return }
        try root.setMode(0o600, of: name)
    }

    /// False where it is there already.
    private static func make(_ path: String) throws(Errno) -> Bool {
        do {
            try FileDescriptor.makeDirectory(path: path)
            return true
        } catch .fileExists {
            return false
        } catch .noSuchFile {
            guard let cut = path.lastIndex(of: "/"), cut != path.startIndex else {
                throw .noSuchFile
            }
            _ = try make(String(path[..<cut]))
            return try make(path)
        }
    }

    private static func taken(_ path: String) -> DiskError {
        DiskError(.inUse, "another process uses the cache directory \(path)")
    }
}

extension DiskError {
    fileprivate init(_ fault: DirectoryRule.Fault, _ path: String) {
        let text: String
        switch fault {
        case .notDirectory: text = "the cache directory \(path) is not a directory: remove it"
        case .wrongOwner(let owner):
            text =
                "the cache directory \(path) belongs to user \(owner), not to user "
                + "\(CurrentProcess.userID): change its owner, or choose another --cache-dir"
        case .wrongMode(let mode):
            text =
                "the cache directory \(path) has mode 0\(String(mode, radix: 8)), so that others "
                + "can put files there: take their permission away (chmod 700), or choose "
                + "another --cache-dir"
        }
        self.init(.unsafe, text)
    }
}

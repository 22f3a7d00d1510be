internal import Linux

/// The directory of one disk cache, held by this process alone.
///
/// It is ours or an administrator's, and nobody else may write there or put another one in its
/// place: who puts files there chooses what is served. `lock` in it is locked (flock) for as long
/// as this value lives, so a second process cannot open the same cache; the lock goes with the
/// process, however it ends.
public final class CacheDirectory: Sendable {
    /// As it was given.
    public let path: String
    let root: FileDescriptor
    private let lock: FileDescriptor

    /// Makes the directory where it is missing, parents included (mode 0700), verifies them all and
    /// locks it. Links of ours or an administrator's are followed.
    ///
    /// - Throws: `.unsafe` where others could change what is in it, `.inUse` where another process
    ///   holds it, `.readOnly`, `.full`, `.failed`.
    public init(path: String) throws(DiskError) {
        self.path = path
        do {
            root = try FileDescriptor.openTrusted(path)
            lock = try root.open("lock", [.readWrite, .create, .noFollow])
            guard try lock.tryLock(.exclusive) else { throw Self.taken(path) }
        } catch let error as Errno {
            throw DiskError(error, "cache directory \(path)")
        } catch let error as UntrustedPath {
            throw DiskError(error, path)
        } catch let error as DiskError {
            throw error
        } catch {
            throw DiskError(.failed, "\(error)")
        }
    }

    /// The path of a file in it that leads through the open directory, whatever is at its path now.
    func filePath(_ name: String) -> String { "/proc/self/fd/\(root.number)/\(name)" }

    /// The size of its file system in bytes; 0 where the kernel does not say it.
    public var fileSystemBytes: UInt64 { (try? root.fileSystemStatus().totalBytes) ?? 0 }

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

    private static func taken(_ path: String) -> DiskError {
        DiskError(.inUse, "another process uses the cache directory \(path)")
    }
}

extension DiskError {
    fileprivate init(_ error: UntrustedPath, _ path: String) {
        switch error {
        case .system(let errno): self.init(errno, "cache directory \(path)")
        case .fault(let fault, let place, let isAbove):
            self.init(.unsafe, isAbove ? Self.above(fault, place, path) : Self.own(fault, path))
        }
    }

    private static func own(_ fault: DirectoryRule.Fault, _ path: String) -> String {
        switch fault {
        case .notDirectory: "the cache directory \(path) is not a directory: remove it"
        case .wrongOwner(let owner):
            "the cache directory \(path) belongs to user \(owner), not to user "
                + "\(CurrentProcess.userID): change its owner, or choose another --cache-dir"
        case .wrongMode(let mode):
            "the cache directory \(path) has mode 0\(String(mode, radix: 8)), so that others "
                + "can put files there: take their permission away (chmod 700), or choose "
                + "another --cache-dir"
        }
    }

    private static func above(
        _ fault: DirectoryRule.Fault, _ place: String, _ path: String
    ) -> String {
        let way = "\(place), which leads to the cache directory \(path),"
        switch fault {
        case .notDirectory: return "\(way) is not a directory: choose another --cache-dir"
        case .wrongOwner(let owner):
            let own = CurrentProcess.userID
            return "\(way) belongs to user \(owner), neither to user \(own) nor to root, so that "
                + "user can put another one in its place: choose another --cache-dir"
        case .wrongMode(let mode):
            return "\(way) has mode 0\(String(mode, radix: 8)), so that others can put another "
                + "one in its place: take their permission away (chmod go-w \(place)), or choose "
                + "another --cache-dir"
        }
    }
}

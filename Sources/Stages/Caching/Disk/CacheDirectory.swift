internal import Linux
internal import SQLite

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

/// Why the disk tier could not do something.
public struct DiskError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What follows from it.
    public enum Kind: String, Sendable, Hashable {
        /// Another process holds the cache directory.
        case inUse
        /// The cache directory belongs to somebody else, or others may write there.
        case unsafe
        /// No space, or the quota is used up.
        case full
        /// The file system or the permissions forbid writing.
        case readOnly
        /// The index is damaged, or is of another version.
        case badIndex
        /// It does not answer: an operation takes far too long.
        case stalled
        /// Anything else: input/output error, too many descriptors, …
        case failed
    }

    /// What follows from it.
    public let kind: Kind
    /// What happened, for logs and status.
    public let text: String

    /// Names a failure.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// `full: SQLite 13: database or disk is full`
    public var description: String { "\(kind.rawValue): \(text)" }

    init(_ error: SQLiteError) {
        let kind: Kind
        switch error.code {
        case .full: kind = .full
        case .readOnly: kind = .readOnly
        // Nothing here breaks a rule of the tables, unless what is in them does already.
        case .corrupt, .notADatabase, .error, .constraint, .mismatch: kind = .badIndex
        default: kind = .failed
        }
        self.init(kind, error.description)
    }

    /// Whatever calls of the index and of SQLite throw together.
    init(of error: any Error) {
        switch error {
        case let error as DiskError: self = error
        case let error as SQLiteError: self.init(error)
        default: self.init(.failed, "\(error)")
        }
    }

    init(_ error: Errno, _ what: String) {
        let kind: Kind
        switch error {
        case .noSpace, .quotaExceeded: kind = .full
        case .readOnlyFileSystem, .accessDenied, .notPermitted: kind = .readOnly
        default: kind = .failed
        }
        self.init(kind, "\(what): \(error)")
    }
}

/// Runs calls of SQLite and names their failure in the terms of the disk tier.
func onIndex<R>(_ body: () throws(SQLiteError) -> R) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error) }
}

/// Runs calls of the kernel and names their failure in the terms of the disk tier.
func onFiles<R: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(Errno) -> R
) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error, what()) }
}

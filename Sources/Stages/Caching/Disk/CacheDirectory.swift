internal import Linux
internal import SQLite

/// The directory of one disk cache, held exclusively by this process.
///
/// It must be owned by this user or an administrator, and other users can't write to it or replace
/// it, because its files determine what is served. The file `lock` in it stays locked (flock) while
/// this value exists, so that a second process can't open the same cache; the lock ends with the
/// process, however it exits.
package final class CacheDirectory: Sendable {
    /// The path as given by the caller.
    package let path: String
    let root: FileDescriptor
    private let lock: FileDescriptor

    /// Creates the directory and its parents if they are missing (mode 0700), verifies all of them
    /// and locks it. Follows links owned by this user or an administrator.
    ///
    /// - Throws: `.unsafe` if other users could change its contents, `.inUse` if another process
    ///   holds it, `.readOnly`, `.full`, `.failed`.
    package init(path: String) throws(DiskError) {
        self.path = path
        do {
            root = try FileDescriptor.openTrusted(path)
            lock = try root.open("lock", [.readWrite, .create, .noFollow])
            guard try lock.tryLock(.exclusive) else { throw Self.inUse(path) }
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

    /// Returns the path of a file through the open directory, independent of the current directory
    /// at `path`.
    func filePath(_ name: String) -> String { "/proc/self/fd/\(root.number)/\(name)" }

    /// The size of its file system in bytes; 0 if the kernel doesn't report it.
    package var fileSystemBytes: UInt64 { (try? root.fileSystemStatus().totalBytes) ?? 0 }

    /// Returns the size of a file in it; 0 if the file is missing.
    func bytes(of name: String) -> Int { (try? root.status(of: name).size) ?? 0 }

    /// Creates a file if it is missing, and restricts the mode set by an earlier version to 0600.
    func prepareFile(_ name: String) throws(Errno) {
        let file = try root.open(name, [.readWrite, .create, .noFollow])
        if try file.status().mode != 0o600 { try file.setMode(0o600) }
    }

    /// Restricts the mode of a file that may be missing. Doesn't open it: closing it would release
    /// SQLite's locks if this process has the file open as well.
    func narrow(_ name: String) throws(Errno) {
        guard let status = try? root.status(of: name), status.type == .regular,
            status.mode != 0o600
        else { return }
        try root.setMode(0o600, of: name)
    }

    private static func inUse(_ path: String) -> DiskError {
        DiskError(.inUse, "another process is using the cache directory \(path)")
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

    private static func own(_ fault: DirectoryRule.Violation, _ path: String) -> String {
        switch fault {
        case .notDirectory: "the cache directory \(path) is not a directory: remove it"
        case .wrongOwner(let owner):
            "the cache directory \(path) belongs to user \(owner), not to user "
                + "\(CurrentProcess.userID): change its owner, or choose another --cache-dir"
        case .wrongMode(let mode):
            "the cache directory \(path) has mode 0\(String(mode, radix: 8)), which allows other "
                + "users to create files there: remove that permission (chmod 700), or choose "
                + "another --cache-dir"
        }
    }

    private static func above(
        _ fault: DirectoryRule.Violation, _ place: String, _ path: String
    ) -> String {
        let way = "\(place), which leads to the cache directory \(path),"
        switch fault {
        case .notDirectory: return "\(way) is not a directory: choose another --cache-dir"
        case .wrongOwner(let owner):
            let own = CurrentProcess.userID
            return "\(way) belongs to user \(owner) instead of user \(own) or root, so that "
                + "user can replace it: choose another --cache-dir"
        case .wrongMode(let mode):
            return
                "\(way) has mode 0\(String(mode, radix: 8)), which allows other users to replace "
                + "it: remove that permission (chmod go-w \(place)), or choose another "
                + "--cache-dir"
        }
    }
}

package struct DiskError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The category of the error, which determines its handling.
    package enum Kind: String, Sendable, Hashable {
        /// Another process holds the cache directory.
        case inUse
        /// The cache directory belongs to another user, or other users can write to it.
        case unsafe
        /// The disk is full, or the quota is exhausted.
        case full
        /// The file system or its permissions prevent writing.
        case readOnly
        /// The index is damaged or has another version.
        case badIndex
        /// The disk is stalled: an operation takes far too long.
        case stalled
        /// Any other error: I/O errors, too many open files, …
        case failed
    }

    package let kind: Kind
    /// The description, for logs and status.
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// `full: SQLite 13: database or disk is full`
    package var description: String { "\(kind.rawValue): \(text)" }

    init(_ error: SQLiteError) {
        let kind: Kind
        switch error.code {
        case .full: kind = .full
        case .readOnly: kind = .readOnly
        // The statements never violate a constraint, unless the tables are damaged.
        case .corrupt, .notADatabase, .error, .constraint, .mismatch: kind = .badIndex
        default: kind = .failed
        }
        self.init(kind, error.description)
    }

    /// Converts the errors that calls of the index and of SQLite can throw.
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

/// Runs calls of SQLite and converts their errors to those of the disk tier.
func onIndex<R: ~Copyable>(_ body: () throws(SQLiteError) -> R) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error) }
}

/// Runs system calls and converts their errors to those of the disk tier.
func onFiles<R: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(Errno) -> R
) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error, what()) }
}

/// Does the same, but returns `nil` for an error that is expected.
func onFiles<R>(
    _ what: @autoclosure () -> String, except expected: Errno, _ body: () throws(Errno) -> R
) throws(DiskError) -> R? {
    do { return try body() } catch {
        if error == expected { return nil }
        throw DiskError(error, what())
    }
}

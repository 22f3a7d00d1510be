import Linux
import ProcessRuntime

/// An open directory whose type, owner and mode were verified with `fstat`.
struct VerifiedDirectory: ~Copyable {
    let path: String
    let descriptor: FileDescriptor

    typealias Rule = DirectoryRule

    private init(
        _ path: String, _ descriptor: consuming FileDescriptor, _ rule: Rule
    ) throws(RuntimeDirectoryError) {
        self.path = path
        self.descriptor = descriptor
        switch rule.fault(in: try status()) {
        case nil: return
        case .notDirectory: throw .notDirectory(path)
        case .wrongOwner(let owner):
            throw .wrongOwner(path, owner: owner, expected: CurrentProcess.userID)
        case .wrongMode(let mode): throw .wrongMode(path, mode: mode)
        }
    }

    borrowing func status() throws(RuntimeDirectoryError) -> FileStatus {
        do throws(Errno) { return try descriptor.status() } catch { throw .system(path, error) }
    }

    /// Opens a path, creating it and its parents if they are missing.
    static func at(path: String, _ rule: Rule) throws(RuntimeDirectoryError) -> VerifiedDirectory {
        let above = path.split(separator: "/").dropLast()
        for count in above.indices {
            let parent = "/" + above[...count].joined(separator: "/")
            _ = try explaining(parent) { () throws(Errno) in try make(parent) }
        }
        let directory = try explaining(path) { () throws(Errno) in try openMaking(path) }
        return try VerifiedDirectory(path, directory, rule)
    }

    /// Opens a subdirectory, creating it if it is missing.
    borrowing func directory(
        _ name: String, _ rule: Rule = .own
    ) throws(RuntimeDirectoryError) -> VerifiedDirectory {
        let path = "\(path)/\(name)"
        let directory: FileDescriptor
        do throws(Errno) {
            directory = try Self.openMaking(name, in: descriptor)
        } catch {
            throw Self.explained(error, path)
        }
        return try VerifiedDirectory(path, directory, rule)
    }

    /// Opens the directory of a pool's control segments in this socket directory, creating it if it
    /// is missing.
    ///
    /// It is owned by the coordinator's user, and its group contains the workers: each may add
    /// files and remove its own. They can do neither in the parent directory.
    borrowing func controlDirectory() throws(RuntimeDirectoryError) -> VerifiedDirectory {
        let control = try directory(RuntimePaths.controlName, .shared(by: try status().userID))
        let status = try control.status()
        // Also repairs the mode if an earlier start was interrupted between creating it and setting
        // the mode.
        guard status.userID == CurrentProcess.userID, status.mode & 0o1777 != 0o1770 else {
            return control
        }
        do throws(Errno) {
            // No setgid bit: files there don't need it, and services may not be permitted to set
            // it.
            try control.descriptor.setMode(0o1770)
        } catch {
            throw .system(control.path, error)
        }
        return control
    }

    private static func openMaking(_ path: String) throws(Errno) -> FileDescriptor {
        let isNew = try make(path)
        let directory = try FileDescriptor.openDirectory(path)
        // Overrides the umask.
        if isNew { try directory.setMode(0o700) }
        return directory
    }

    private static func openMaking(
        _ name: String, in parent: borrowing FileDescriptor
    ) throws(Errno) -> FileDescriptor {
        var isNew = true
        do throws(Errno) { try parent.makeDirectory(name) } catch .fileExists { isNew = false }
        let directory = try parent.openDirectory(name)
        if isNew { try directory.setMode(0o700) }
        return directory
    }

    /// Returns false if it already exists.
    private static func make(_ path: String) throws(Errno) -> Bool {
        do throws(Errno) {
            try FileDescriptor.makeDirectory(path: path)
            return true
        } catch .fileExists {
            return false
        }
    }

    private static func explaining<Value: ~Copyable>(
        _ path: String, _ body: () throws(Errno) -> Value
    ) throws(RuntimeDirectoryError) -> Value {
        do throws(Errno) { return try body() } catch { throw explained(error, path) }
    }

    private static func explained(_ errno: Errno, _ path: String) -> RuntimeDirectoryError {
        switch errno {
        case .symbolicLink, .notDirectory: .notDirectory(path)
        default: .system(path, errno)
        }
    }
}

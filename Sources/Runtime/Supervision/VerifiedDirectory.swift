import Linux
import SharedArena

/// An open directory of which `fstat` said that it is one, who owns it and who may change it.
struct VerifiedDirectory: ~Copyable {
    let path: String
    let descriptor: FileDescriptor

    typealias Rule = DirectoryRule

    private init(path: String, descriptor: consuming FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a path; it and the directories above it are made where they are missing.
    static func at(path: String, _ rule: Rule) throws(RuntimeDirectoryError) -> VerifiedDirectory {
        let above = path.split(separator: "/").dropLast()
        for count in above.indices {
            let parent = "/" + above[...count].joined(separator: "/")
            _ = try explaining(parent) { () throws(Errno) in try make(parent) }
        }
        let directory = try explaining(path) { () throws(Errno) in try openMaking(path) }
        try verify(path, directory, rule)
        return VerifiedDirectory(path: path, descriptor: directory)
    }

    /// Opens a name in this directory, and makes it where it is missing.
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
        try Self.verify(path, directory, rule)
        return VerifiedDirectory(path: path, descriptor: directory)
    }

    /// Opens the directory of a pool's control segments in this one, which is of its sockets;
    /// makes it where it is missing.
    ///
    /// Its owner is the coordinator's user, its group are the workers: each may add files, and
    /// remove its own. In this directory it can do neither.
    borrowing func controlDirectory() throws(RuntimeDirectoryError) -> VerifiedDirectory {
        let owner: UInt32
        do throws(Errno) { owner = try descriptor.status().userID } catch {
            throw .system(path, error)
        }
        let control = try directory(RuntimePaths.controlName, .shared(by: owner))
        do throws(Errno) {
            let status = try control.descriptor.status()
            // Also where a start was interrupted between making it and this.
            if status.userID == CurrentProcess.userID, status.mode & 0o1777 != 0o1770 {
                // No setgid: no file there needs it, and services may be forbidden to give it.
                try control.descriptor.setMode(0o1770)
            }
        } catch {
            throw .system(control.path, error)
        }
        return control
    }

    private static func openMaking(_ path: String) throws(Errno) -> FileDescriptor {
        let isNew = try make(path)
        let directory = try FileDescriptor.openDirectory(path)
        // Whatever the umask says.
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

    /// False where it is there already.
    private static func make(_ path: String) throws(Errno) -> Bool {
        do throws(Errno) {
            try FileDescriptor.makeDirectory(path: path)
            return true
        } catch .fileExists {
            return false
        }
    }

    private static func verify(
        _ path: String, _ directory: borrowing FileDescriptor, _ rule: Rule
    ) throws(RuntimeDirectoryError) {
        let status: FileStatus
        do throws(Errno) { status = try directory.status() } catch { throw .system(path, error) }
        switch rule.fault(in: status) {
        case nil: return
        case .notDirectory: throw .notDirectory(path)
        case .wrongOwner(let owner):
            throw .wrongOwner(path, owner: owner, expected: CurrentProcess.userID)
        case .wrongMode(let mode): throw .wrongMode(path, mode: mode)
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

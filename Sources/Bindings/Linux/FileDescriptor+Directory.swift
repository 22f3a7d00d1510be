import CLinux
import Glibc

extension FileDescriptor {
    /// Renames within this directory; replaces what has the new name, atomically.
    public borrowing func rename(_ name: String, to newName: String) throws(Errno) {
        try Self.rename(name, from: number, to: newName, in: number)
    }

    /// Moves a name of this directory into another of the same file system, atomically.
    public borrowing func rename(
        _ name: String, to newName: String, in target: borrowing FileDescriptor
    ) throws(Errno) {
        try Self.rename(name, from: number, to: newName, in: target.number)
    }

    /// Removes a name that is not a directory.
    public borrowing func unlink(_ name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_unlinkat(number, name, false) }
    }

    /// Removes an empty directory of this directory.
    public borrowing func removeDirectory(_ name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_unlinkat(number, name, true) }
    }

    /// Makes a directory in this directory; `mode` less the umask.
    public borrowing func makeDirectory(
        _ name: String, mode: UInt32 = 0o700
    ) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_mkdirat(number, name, mode) }
    }

    /// Makes a directory at a path; `mode` less the umask.
    public static func makeDirectory(path: String, mode: UInt32 = 0o700) throws(Errno) {
        let path = try checked(path: path)
        try syscall { clinux_mkdirat(AT_FDCWD, path, mode) }
    }

    /// What a symbolic link in this directory says.
    public borrowing func target(of name: String) throws(Errno) -> String {
        let number = number
        let name = try checked(path: name)
        return try readLink { clinux_readlinkat(number, name, $0.baseAddress, $0.count) }
    }

    /// Sets the permission bits of the open file, whatever the umask.
    public borrowing func setMode(_ mode: UInt32) throws(Errno) {
        let number = number
        try syscall { clinux_fchmod(number, mode) }
    }

    /// Sets the permission bits of a name in this directory, for example of a socket.
    public borrowing func setMode(_ mode: UInt32, of name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_fchmodat(number, name, mode) }
    }

    /// Gives the open file to another user and group; only root may.
    public borrowing func setOwner(userID: UInt32, groupID: UInt32) throws(Errno) {
        let number = number
        try syscall { clinux_fchown(number, userID, groupID) }
    }

    private static func rename(
        _ name: String, from source: Int32, to newName: String, in target: Int32
    ) throws(Errno) {
        let name = try checked(path: name)
        let newName = try checked(path: newName)
        try syscall { clinux_renameat(source, name, target, newName) }
    }
}

import CLinux

/// A Unix stream socket that others connect to. One thread.
public struct UnixListener: ~Copyable {
    /// Readable when somebody has connected.
    public let descriptor: FileDescriptor

    /// Binds a socket file of this mode, less the umask, which stays when the value ends.
    ///
    /// `waitingMax` connections wait to be accepted; more are refused with EAGAIN. Throws
    /// EADDRINUSE where the name is taken and ENAMETOOLONG for a path of more than 107 bytes.
    public init(path: String, mode: UInt32, waitingMax: Int = 16) throws(Errno) {
        let path = try checked(path: path)
        descriptor = FileDescriptor(
            owning: try syscall { clinux_socket_listen(path, mode, Int32(clamping: waitingMax)) })
    }

    /// The next connection, which does not block; nil where nobody waits.
    public borrowing func accept() throws(Errno) -> FileDescriptor? {
        let number = descriptor.number
        do throws(Errno) {
            return FileDescriptor(owning: try syscall { clinux_socket_accept(number) })
        } catch .wouldBlock {
            return nil
        }
    }
}

extension FileDescriptor {
    /// Sends what a socket takes at once, and returns how many bytes that were; throws EPIPE where
    /// the other side has gone, without the signal that a write would bring about.
    public borrowing func send(_ bytes: [UInt8]) throws(Errno) -> Int {
        let number = number
        return Int(try syscall { clinux_socket_send(number, bytes, bytes.count) })
    }

    /// Connects to a Unix stream socket without waiting; reads and writes do not block.
    ///
    /// Throws ECONNREFUSED where nobody listens any more, and EAGAIN where too many wait.
    public static func connect(toSocket path: String) throws(Errno) -> FileDescriptor {
        let path = try checked(path: path)
        return FileDescriptor(owning: try syscall { clinux_socket_connect(path) })
    }
}

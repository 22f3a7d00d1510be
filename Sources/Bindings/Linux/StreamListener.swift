import CLinux
import Glibc

/// A listening stream socket, of TCP or a Unix one. Another process may inherit it and accept:
/// connections wait until then.
public struct StreamListener: ~Copyable {
    /// Readable when somebody has connected.
    public let descriptor: FileDescriptor
    /// The port of TCP; `nil`: it is a Unix socket.
    public let port: UInt16?

    /// Connections that wait to be accepted.
    public static let waitingMax = 1_024

    /// Listens at an address in numbers; port 0 is one that the system chooses. `waitingMax`
    /// connections wait to be accepted.
    ///
    /// Throws EINVAL if it is not an address, EADDRINUSE if it is in use, EADDRNOTAVAIL if this
    /// machine does not have it, and EACCES for a port reserved for root.
    public init(
        address: String, port: UInt16, waitingMax: Int = StreamListener.waitingMax
    ) throws(Errno) {
        let made = FileDescriptor(
            owning: try syscall {
                clinux_tcp_listen(address, port, Int32(clamping: waitingMax))
            })
        try self.init(owning: made)
    }

    /// Listens at a socket file of exactly this mode, regardless of the umask. The file outlives
    /// the value; a stale one, at which no process listens, is replaced.
    ///
    /// Throws EADDRINUSE if a process listens there or the file is not a socket, and ENAMETOOLONG
    /// for a path of more than 107 bytes.
    public init(
        socketPath path: String, mode: UInt32, waitingMax: Int = StreamListener.waitingMax
    ) throws(Errno) {
        let path = try checked(path: path)
        try Self.removeLeftover(path)
        let made = FileDescriptor(
            owning: try syscall { clinux_socket_listen(path, mode, Int32(clamping: waitingMax)) })
        // The file that was bound has the mode less the umask.
        try syscall { clinux_fchmodat(AT_FDCWD, path, mode) }
        try self.init(owning: made)
    }

    /// Takes over a listening socket. Throws if it is neither of TCP nor a Unix one.
    public init(owning descriptor: consuming FileDescriptor) throws(Errno) {
        let number = descriptor.number
        let port = try syscall { clinux_stream_port(number) }
        self.port = port == 0 ? nil : UInt16(clamping: port)
        self.descriptor = descriptor
    }

    /// Gives the socket away without closing it; the caller closes it.
    public consuming func relinquish() -> Int32 { descriptor.relinquish() }

    /// Removes the socket file of a process that has ended.
    private static func removeLeftover(_ path: String) throws(Errno) {
        guard let status = try? FileDescriptor.status(path: path), status.type == .socket else {
            return
        }
        do throws(Errno) {
            try FileDescriptor.connect(toSocket: path).close()
        } catch .connectionRefused {
            try syscall { clinux_unlinkat(AT_FDCWD, path, false) }
        } catch {
            // Somebody is there: the name is taken.
        }
    }
}

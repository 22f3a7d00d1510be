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

/// A connected Unix socket that somebody else in this process owns, such as libzmq.
///
/// Its number is reused as soon as the owner closes it: the inode tells whether it still stands for
/// the same socket.
public struct ForeignSocket: Hashable, Sendable {
    /// The number of the descriptor.
    public let number: Int32
    private let inode: UInt64

    /// The socket that has this number now; throws `badDescriptor` where none has.
    public init(number: Int32) throws(Errno) {
        var status = clinux_status()
        try syscall { clinux_fstat(number, &status) }
        self.number = number
        inode = status.inode
    }

    /// Ends the connection in both directions, so that its owner sees an end and closes it; `false`
    /// where the number stands for something else by now.
    public func shutDown() throws(Errno) -> Bool {
        // A descriptor of our own: what it stands for cannot change between the look and the call.
        guard let copy = try? Self.duplicate(number) else { return false }
        let status = try copy.status()
        guard status.type == .socket, status.inode == inode else { return false }
        let number = copy.number
        try syscall { clinux_socket_shutdown(number) }
        return true
    }

    private static func duplicate(_ number: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try syscall { clinux_duplicate(number, 0) })
    }
}

/// Who is at the other end of a Unix socket, as the kernel recorded it at connect (SO_PEERCRED).
public struct PeerCredentials: Hashable, Sendable {
    /// The process.
    public let processID: ProcessID
    /// Its effective user.
    public let userID: UInt32
    /// Its effective group.
    public let groupID: UInt32

    /// Asks about a connected Unix socket by its number, for example the one that a message of
    /// libzmq came from; throws `Errno.badDescriptor` when that is closed already.
    public init(socket number: Int32) throws(Errno) {
        var raw = clinux_credentials()
        try syscall { clinux_peer(number, &raw) }
        processID = raw.pid
        userID = raw.uid
        groupID = raw.gid
    }
}

import CLinux
import Glibc

/// A listening TCP or Unix stream socket. Another process may inherit it and accept; connections
/// queue until then.
public struct StreamListener: ~Copyable {
    /// Readable when a connection is pending.
    public let descriptor: FileDescriptor
    /// The TCP port, or `nil` for a Unix socket.
    public let port: UInt16?

    /// The default backlog of connections waiting to be accepted.
    public static let waitingMax = 1_024

    /// Listens on a numeric address. With port 0 the system chooses a port. `waitingMax` is the
    /// backlog.
    ///
    /// Throws EINVAL if the address is invalid, EADDRINUSE if it's in use, EADDRNOTAVAIL if this
    /// machine doesn't have it, and EACCES for a privileged port.
    public init(
        address: String, port: UInt16, waitingMax: Int = StreamListener.waitingMax
    ) throws(Errno) {
        let created = FileDescriptor(
            owning: try syscall {
                clinux_tcp_listen(address, port, Int32(clamping: waitingMax))
            })
        try self.init(owning: created)
    }

    /// Listens on a socket file with exactly this mode, regardless of the umask. The file outlives
    /// the value. A stale file on which no process listens is replaced.
    ///
    /// Throws EADDRINUSE if a process listens there or the file isn't a socket, and ENAMETOOLONG
    /// for a path of more than 107 bytes.
    public init(
        socketPath path: String, mode: UInt32, waitingMax: Int = StreamListener.waitingMax
    ) throws(Errno) {
        let path = try checked(path: path)
        try Self.removeLeftover(path)
        let created = FileDescriptor(
            owning: try syscall { clinux_socket_listen(path, mode, Int32(clamping: waitingMax)) })
        // The umask was applied when the file was bound.
        try syscall { clinux_fchmodat(AT_FDCWD, path, mode) }
        try self.init(owning: created)
    }

    /// Takes ownership of a listening socket. Throws if it's neither a TCP nor a Unix socket.
    public init(owning descriptor: consuming FileDescriptor) throws(Errno) {
        let port = try descriptor.call { clinux_stream_port($0) }
        self.port = port == 0 ? nil : UInt16(clamping: port)
        self.descriptor = descriptor
    }

    /// Gives up ownership without closing; the caller must close the socket.
    public consuming func relinquish() -> Int32 { descriptor.relinquish() }

    /// Removes the socket file left behind by a process that has ended.
    private static func removeLeftover(_ path: String) throws(Errno) {
        guard let status = try? FileDescriptor.status(path: path), status.type == .socket else {
            return
        }
        do throws(Errno) {
            try FileDescriptor.connect(toSocket: path).close()
        } catch .connectionRefused {
            try syscall { clinux_unlinkat(AT_FDCWD, path, false) }
        } catch {
            // A process listens there: the name is in use.
        }
    }
}

/// A listening Unix stream socket. Belongs to one thread.
public struct UnixListener: ~Copyable {
    /// Readable when a connection is pending.
    public let descriptor: FileDescriptor

    /// Binds a socket file with this mode, less the umask. The file stays when the value ends.
    ///
    /// The backlog is `waitingMax`; further connections fail with EAGAIN. Throws EADDRINUSE if the
    /// name is in use and ENAMETOOLONG for a path of more than 107 bytes.
    public init(path: String, mode: UInt32, waitingMax: Int = 16) throws(Errno) {
        let path = try checked(path: path)
        descriptor = FileDescriptor(
            owning: try syscall { clinux_socket_listen(path, mode, Int32(clamping: waitingMax)) })
    }

    /// Returns the next connection, which is nonblocking, or `nil` if none is pending.
    public borrowing func accept() throws(Errno) -> FileDescriptor? {
        do throws(Errno) {
            return FileDescriptor(owning: try descriptor.call { clinux_socket_accept($0) })
        } catch .wouldBlock {
            return nil
        }
    }
}

extension FileDescriptor {
    /// Sends as many bytes as the socket accepts at once and returns their number. Throws EPIPE if
    /// the peer has closed, without raising SIGPIPE as a write would.
    public borrowing func send(_ bytes: [UInt8]) throws(Errno) -> Int {
        return Int(try call { clinux_socket_send($0, bytes, bytes.count) })
    }

    /// Connects to a Unix stream socket without blocking; reads and writes are nonblocking.
    ///
    /// Throws ECONNREFUSED if no process listens there, and EAGAIN if the backlog is full.
    public static func connect(toSocket path: String) throws(Errno) -> FileDescriptor {
        let path = try checked(path: path)
        return FileDescriptor(owning: try syscall { clinux_socket_connect(path) })
    }
}

/// A connected Unix socket owned by other code in this process, such as libzmq.
///
/// Its number is reused as soon as the owner closes it, so the inode is compared to detect whether
/// the number still refers to the same socket.
public struct ExternalSocket: Hashable, Sendable {
    /// The descriptor number.
    public let number: Int32
    private let inode: UInt64

    /// Refers to the socket that has this number now. Throws `badDescriptor` if there is none.
    public init(number: Int32) throws(Errno) {
        var status = clinux_status()
        try syscall { clinux_fstat(number, &status) }
        self.number = number
        inode = status.inode
    }

    /// Shuts the connection down in both directions, so that its owner sees end of file and closes
    /// it. Returns `false` if the number now refers to something else.
    public func shutDown() throws(Errno) -> Bool {
        // A duplicate can't change its target between the check and the call.
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

/// The credentials of the peer of a Unix socket, recorded by the kernel at connect (SO_PEERCRED).
public struct PeerCredentials: Hashable, Sendable {
    /// The peer's process ID.
    public let processID: ProcessID
    /// The peer's effective user ID.
    public let userID: UInt32
    /// The peer's effective group ID.
    public let groupID: UInt32

    /// Reads the credentials of a connected Unix socket by its number, such as the socket that a
    /// libzmq message came from. Throws `Errno.badDescriptor` if it's already closed.
    public init(socket number: Int32) throws(Errno) {
        var raw = clinux_credentials()
        try syscall { clinux_peer(number, &raw) }
        processID = raw.pid
        userID = raw.uid
        groupID = raw.gid
    }
}

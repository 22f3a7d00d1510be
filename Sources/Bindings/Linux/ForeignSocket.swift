import CLinux

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

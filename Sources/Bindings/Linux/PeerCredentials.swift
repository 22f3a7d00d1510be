import CLinux

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

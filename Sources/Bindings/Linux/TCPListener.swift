import CLinux

/// A TCP socket that others connect to. What accepts may be another process that inherits it: who
/// connects waits in between.
public struct TCPListener: ~Copyable {
    /// Readable when somebody has connected.
    public let descriptor: FileDescriptor
    /// Where it listens.
    public let port: UInt16

    /// Listens at an address in numbers; port 0 is one that the system chooses. `waitingMax`
    /// connections wait to be accepted.
    ///
    /// Throws EINVAL for what is no address, EADDRINUSE where it is taken, EADDRNOTAVAIL where it
    /// is none of this machine, EACCES for a port that only root may have.
    public init(address: String, port: UInt16, waitingMax: Int = 1_024) throws(Errno) {
        let made = FileDescriptor(
            owning: try syscall {
                clinux_tcp_listen(address, port, Int32(clamping: waitingMax))
            })
        try self.init(owning: made)
    }

    /// Takes over a socket that listens. Throws where it is none of TCP.
    public init(owning descriptor: consuming FileDescriptor) throws(Errno) {
        let number = descriptor.number
        port = UInt16(clamping: try syscall { clinux_tcp_port(number) })
        self.descriptor = descriptor
    }

    /// Gives the socket away without closing it; the caller closes it.
    public consuming func relinquish() -> Int32 { descriptor.relinquish() }
}

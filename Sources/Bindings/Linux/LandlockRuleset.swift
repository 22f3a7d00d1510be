import CLinux

/// Which files and directories this thread may open from now on, and the threads that it starts.
///
/// Everything that the kernel's version can forbid is forbidden but for what `allow` permits:
/// files and directories from version 1 on, TCP from 4, abstract sockets and signals to processes
/// outside from 6. What is open already stays open.
public struct LandlockRuleset: ~Copyable {
    /// The version of the kernel's Landlock: 1 and more.
    public let version: Int
    private let descriptor: FileDescriptor

    /// A ruleset that permits nothing. Throws ENOSYS and EOPNOTSUPP where the kernel has no
    /// Landlock, EPERM where a container engine keeps it from its containers.
    public init() throws(Errno) {
        let version = Int(try syscall { clinux_landlock_version() })
        let files = LandlockAccess.all(version: version).rawValue
        let network: UInt64 = version >= 4 ? Self.bindTCP | Self.connectTCP : 0
        let scopes: UInt64 = version >= 6 ? Self.abstractSockets | Self.signals : 0
        descriptor = FileDescriptor(
            owning: try syscall { clinux_landlock_create(files, network, scopes) })
        self.version = version
    }

    /// Permits `access` to all that lies below an open directory, now or later.
    public borrowing func allow(
        _ access: LandlockAccess, below directory: borrowing FileDescriptor
    ) throws(Errno) {
        let bits = access.intersection(.all(version: version)).rawValue
        let (ruleset, beneath) = (descriptor.number, directory.number)
        try syscall { clinux_landlock_allow(ruleset, beneath, bits) }
    }

    /// From now on the rules hold for the calling thread; there is no way back. Other threads that
    /// run already are not restricted: call it where there are none. Needs `no_new_privs`.
    public consuming func restrict() throws(Errno) {
        let ruleset = descriptor.number
        try syscall { clinux_landlock_restrict(ruleset) }
    }

    private static let bindTCP: UInt64 = 1 << 0
    private static let connectTCP: UInt64 = 1 << 1
    private static let abstractSockets: UInt64 = 1 << 0
    private static let signals: UInt64 = 1 << 1
}

public import Linux
public import Messages

/// The file from which operators take what they show at `admin/`: beside the socket, for its user
/// alone.
public enum AdminSecret {
    /// That of the stack that serves `endpoint`, as it is now; nil where the endpoint is no
    /// operators' one, or has none that can be read: the coordinator then says whether it asks.
    public static func beside(_ endpoint: String) -> ListenerSecret? {
        guard endpoint.hasSuffix(RuntimePaths.adminSuffix) else { return nil }
        let directory = endpoint.dropLast(RuntimePaths.adminSocketName.utf8.count)
        return ListenerSecret(inFile: directory + RuntimePaths.secretFileName)
    }

    /// Leaves it in `admin/`.
    public static func write(
        _ secret: ListenerSecret, in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let file = try directory.open(
            RuntimePaths.secretFileName, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
        try file.setMode(0o600)
        try file.writeAll(secret.bytes)
    }
}

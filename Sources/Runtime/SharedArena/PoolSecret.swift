import Linux
public import Messages

/// The file from which workers of a foreign pool take what they show at their listener.
public enum PoolSecret {
    /// That of a pool, as it is now; nil where there is none that can be read: the coordinator then
    /// says whether it asks.
    public static func of(_ pool: PoolName, in paths: RuntimePaths) -> ListenerSecret? {
        ListenerSecret(inFile: paths.backSecretFile(pool))
    }
}

extension ListenerSecret {
    /// What a file holds that is no link; nil where there is none, or nothing of that length.
    init?(inFile path: String) {
        let file = try? FileDescriptor.open(path, [.noFollow, .nonBlocking])
        guard let bytes = try? file?.readToEnd(bytesMax: Self.byteCount) else { return nil }
        self.init(bytes)
    }
}

public import Linux
public import Messages

/// What the children of a stack show one another when all of them run as one user: drawn once, and
/// given to each life of a child, so that those which are restarted know the others still.
///
/// The coordinator gets all, a worker that of its pool, in sealed memory that a descriptor names.
/// Workers of a foreign pool are nobody's children here: they find theirs beside their listener.
public struct StackSecrets {
    let listeners: ListenerSecrets
    private let files: [PoolName: SealedFile]

    /// Draws them, for these pools besides those of every stack.
    public init(for pools: [WorkerPool] = []) throws(Errno) {
        let further = pools.filter { !$0.isBuiltIn }
        let drawn = ListenerSecrets(further: further.map(\.name)) { Random.bytes(count: $0) }
        guard let listeners = drawn else { throw .invalidArgument }
        let coordinator = PoolName(.coordinator)
        let foreign = Set(further.filter { $0.trust == .foreign }.map(\.name))
        var files = [coordinator: try SealedFile(listeners.bytes, coordinator)]
        for (pool, secret) in listeners.workers where !foreign.contains(pool) {
            files[pool] = try SealedFile(secret.bytes, pool)
        }
        self.listeners = listeners
        self.files = files
    }

    /// The descriptor that a child of this pool inherits.
    func descriptorNumber(for pool: PoolName) -> Int32? { files[pool]?.descriptor.number }

    /// The name of a pool's memory, as `/proc` shows it.
    static func name(_ pool: PoolName) -> String { "imagebus-secret-\(pool)" }

    private final class SealedFile {
        let descriptor: FileDescriptor

        init(_ bytes: [UInt8], _ pool: PoolName) throws(Errno) {
            descriptor = try .sealed(bytes, name: StackSecrets.name(pool))
        }
    }
}

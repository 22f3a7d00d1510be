import Linux
import SharedArena

/// One coordinator for each runtime directory: binding a Unix socket silently takes it away from
/// whoever served there, so the lock comes first.
enum CoordinatorLock {
    static let fileName = "coordinator.lock"

    /// Holds the lock as long as the descriptor lives.
    static func take(in paths: RuntimePaths, _ listeners: [Listener]) throws -> FileDescriptor {
        let directory = try FileDescriptor.openDirectory(paths.root)
        let file = try directory.open(fileName, [.readWrite, .create, .noFollow], mode: 0o600)
        guard try file.tryLock(.exclusive) else { throw AlreadyServed(root: paths.root) }
        // Nobody serves there: we hold the lock.
        for listener in listeners {
            try? FileDescriptor.openDirectory(listener.directory(in: paths)).unlink(
                listener.socketName)
        }
        return file
    }

    /// Another coordinator serves.
    struct AlreadyServed: Error, CustomStringConvertible {
        let root: String

        var description: String {
            "another coordinator serves \(root): stop it, or choose another --runtime-dir"
        }
    }
}

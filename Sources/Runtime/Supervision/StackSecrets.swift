public import Linux
import Messages

/// What the children of a stack show one another when all of them run as one user: drawn once, and
/// given to each life of a child, so that those which are restarted know the others still.
///
/// The coordinator gets all, a worker that of its kind, in sealed memory that a descriptor names.
public struct StackSecrets {
    let doors: DoorSecrets
    private let files: [WorkerKind: SealedFile]

    /// Draws them.
    public init() throws(Errno) {
        guard let doors = DoorSecrets(Random.bytes(count: DoorSecrets.byteCount)) else {
            throw .invalidArgument
        }
        var files = [WorkerKind.coordinator: try SealedFile(doors.bytes, .coordinator)]
        for (kind, secret) in doors.workers { files[kind] = try SealedFile(secret.bytes, kind) }
        self.doors = doors
        self.files = files
    }

    /// The descriptor that a child of this kind inherits.
    func descriptorNumber(for kind: WorkerKind) -> Int32? { files[kind]?.descriptor.number }

    /// The name of a kind's memory, as `/proc` shows it.
    static func name(_ kind: WorkerKind) -> String { "imagebus-secret-\(kind.name)" }

    private final class SealedFile {
        let descriptor: FileDescriptor

        init(_ bytes: [UInt8], _ kind: WorkerKind) throws(Errno) {
            descriptor = try .sealed(bytes, name: StackSecrets.name(kind))
        }
    }
}

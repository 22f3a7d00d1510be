/// What a hello shows at a door where file modes alone do not tell who may connect: 256 random
/// bits.
public struct DoorSecret: Hashable, Sendable, CustomStringConvertible {
    /// The length of every secret.
    public static let byteCount = 32

    /// The bits.
    public let bytes: [UInt8]

    /// Takes exactly `byteCount` bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// No line of a log shows it.
    public var description: String { "(secret)" }
}

/// The secrets of all doors but `front/`, which the coordinator of one stack asks for.
public struct DoorSecrets: Hashable, Sendable {
    /// For operators.
    public let admin: DoorSecret
    /// For the workers of each kind.
    public let workers: [WorkerKind: DoorSecret]

    /// The length of `bytes`.
    public static let byteCount = DoorSecret.byteCount * (1 + WorkerKind.workers.count)

    /// Takes what `bytes` gave, or as many random bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let parts = stride(from: 0, to: bytes.count, by: DoorSecret.byteCount).compactMap {
            DoorSecret(bytes[$0..<$0 + DoorSecret.byteCount])
        }
        admin = parts[0]
        workers = Dictionary(uniqueKeysWithValues: zip(WorkerKind.workers, parts.dropFirst()))
    }

    /// All of them, that of `admin/` first.
    public var bytes: [UInt8] {
        admin.bytes + WorkerKind.workers.flatMap { workers[$0]?.bytes ?? [] }
    }
}

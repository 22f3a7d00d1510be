/// What a hello shows at a listener where file modes alone do not tell who may connect: 256 random
/// bits.
public struct ListenerSecret: Hashable, Sendable, CustomStringConvertible {
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

/// The secrets of all listeners but `front/`, which the coordinator of one stack asks for.
public struct ListenerSecrets: Hashable, Sendable {
    /// For operators.
    public let admin: ListenerSecret
    /// For the workers of each pool.
    public let workers: [PoolName: ListenerSecret]

    /// The length of `bytes` without further pools.
    public static let byteCount = ListenerSecret.byteCount * (1 + WorkerKind.workers.count)
    /// The length of `bytes` with as many of them as there may be.
    public static let byteCountMax = byteCount + WorkerPools.furtherMax * furtherByteCount
    private static let furtherByteCount = PoolName.bytesMax + ListenerSecret.byteCount

    /// Takes what `bytes` gave.
    public init?(_ bytes: [UInt8]) {
        guard (Self.byteCount...Self.byteCountMax).contains(bytes.count),
            (bytes.count - Self.byteCount) % Self.furtherByteCount == 0
        else { return nil }
        let parts = stride(from: 0, to: Self.byteCount, by: ListenerSecret.byteCount).compactMap {
            ListenerSecret(bytes[$0..<$0 + ListenerSecret.byteCount])
        }
        var workers = Dictionary(
            uniqueKeysWithValues: zip(WorkerKind.workers.map { PoolName($0) }, parts.dropFirst()))
        for start in stride(from: Self.byteCount, to: bytes.count, by: Self.furtherByteCount) {
            let row = bytes[start..<start + Self.furtherByteCount]
            let text = String(
                decoding: row.prefix(PoolName.bytesMax).prefix { $0 != 0 }, as: UTF8.self)
            guard let name = PoolName(text) else { return nil }
            workers[name] = ListenerSecret(row.dropFirst(PoolName.bytesMax))
        }
        admin = parts[0]
        self.workers = workers
    }

    /// Draws them by `random`, which gives so many random bytes, with one for each further pool.
    public init?(further: [PoolName], random: (_ count: Int) -> [UInt8]) {
        var bytes = random(Self.byteCount)
        for name in further {
            let text = Array(name.text.utf8)
            bytes += text + Array(repeating: 0, count: PoolName.bytesMax - text.count)
            bytes += random(ListenerSecret.byteCount)
        }
        self.init(bytes)
    }

    /// All of them, that of `admin/` first, then those of the pools of every stack, then those of
    /// further ones with their names.
    public var bytes: [UInt8] {
        let builtIn = WorkerKind.workers.map { PoolName($0) }
        let further = workers.keys.filter { !builtIn.contains($0) }.sorted { $0.text < $1.text }
        let rows = further.flatMap { name in
            let text = Array(name.text.utf8)
            return text + Array(repeating: 0, count: PoolName.bytesMax - text.count)
                + (workers[name]?.bytes ?? [])
        }
        return admin.bytes + builtIn.flatMap { workers[$0]?.bytes ?? [] } + rows
    }
}

/// What a supervisor keeps alive: a process of the stack, or a front that is its client.
public enum ProcessKind: Hashable, Sendable {
    /// The coordinator, or a worker.
    case stack(WorkerKind)
    /// Images over HTTP.
    case gateway

    /// Decides; holds no pixels.
    public static let coordinator = ProcessKind.stack(.coordinator)
    /// Fetches.
    public static let download = ProcessKind.stack(.download)
    /// Memory tier and disk tier.
    public static let cache = ProcessKind.stack(.cache)
    /// Bytes to pixels.
    public static let decode = ProcessKind.stack(.decode)
    /// Pixels to bytes.
    public static let transform = ProcessKind.stack(.transform)

    /// All of them, the coordinator first.
    public static let all = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]

    /// The word on the command line and in JSON; its program is `imagebus-` and this.
    public var name: String {
        switch self {
        case .stack(let kind): kind.name
        case .gateway: "gateway"
        }
    }

    /// As a part of the stack; nil for what is none.
    public var stackKind: WorkerKind? {
        switch self {
        case .stack(let kind): kind
        case .gateway: nil
        }
    }

    /// Whether it is a client of the coordinator, which ends before it does.
    public var isFront: Bool { stackKind == nil }
}

/// The kinds of process. A worker's kind is that of the pool at whose listener it connects, never a
/// claim.
public enum WorkerKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Decides; holds no pixels.
    case coordinator = 0
    /// Fetches; the only one with a network.
    case download = 1
    /// Memory tier and disk tier.
    case cache = 2
    /// Bytes to pixels.
    case decode = 3
    /// Pixels to bytes.
    case transform = 4

    /// How many kinds there are; no list of them is made to know that.
    public static var count: Int { Int(transform.rawValue) + 1 }

    /// The word on the command line, in paths and in JSON.
    public var name: String {
        switch self {
        case .coordinator: "coordinator"
        case .download: "download"
        case .cache: "cache"
        case .decode: "decode"
        case .transform: "transform"
        }
    }

    /// The kind of that name.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The four that do jobs.
    public static let workers: [WorkerKind] = [.download, .cache, .decode, .transform]
}

extension WorkerKind {
    /// Jobs that a worker of the kind takes at a time. The coordinator gives it no more, whatever
    /// it claims: a compromised worker must not draw the jobs of all the others.
    public var creditMax: UInt32 {
        switch self {
        case .coordinator: 0
        case .download, .cache: 256
        case .decode, .transform: 1
        }
    }
}

/// A client that is a program of the stack, as it says of itself: for those who look at the status,
/// and nothing is decided by it.
public struct FrontProcess: Hashable, Sendable {
    /// What it is, such as `gateway`.
    public var name: String
    /// How often its supervisor restarted it.
    public var restarts: UInt32
    /// What it cannot do any more.
    public var sandbox: SandboxLayers

    /// Bytes of a name.
    public static let nameBytesMax = 32

    /// Whether it may be shown beside the processes of the stack: a word of small letters that is
    /// none of theirs. Whoever may connect can say anything.
    public var isPlain: Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7A).contains($0) }
            && WorkerKind(name: name) == nil
    }

    /// Describes a front.
    public init(name: String, restarts: UInt32 = 0, sandbox: SandboxLayers = []) {
        (self.name, self.restarts, self.sandbox) = (name, restarts, sandbox)
    }
}

/// What keeps a worker from doing what it has no need of, from inside (PROTOCOL §8.1). The bits are
/// part of the protocol; unknown ones are kept.
public struct SandboxLayers: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Takes the bits of a message.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `no_new_privs`: no program that it starts gains rights.
    public static let noNewPrivileges = SandboxLayers(rawValue: 1)
    /// Resource limits.
    public static let resourceLimits = SandboxLayers(rawValue: 2)
    /// A filter of system calls.
    public static let seccomp = SandboxLayers(rawValue: 4)
    /// A view of the file system that has its inputs and outputs only.
    public static let landlock = SandboxLayers(rawValue: 8)

    /// The names of those that are in it, as in `status --json`.
    public var names: [String] {
        let all: [(SandboxLayers, String)] = [
            (.noNewPrivileges, "noNewPrivileges"), (.resourceLimits, "rlimits"),
            (.seccomp, "seccomp"), (.landlock, "landlock"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

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

/// What a child tells its supervisor on a pipe: a word, its incarnation in hex, a line feed.
public struct LifeSign: Hashable, Sendable {
    /// How far it is.
    public enum Stage: String, Hashable, Sendable {
        /// Its start is over, and its control page is there; it looks for its coordinator.
        case begun
        /// It is part of the stack: welcomed, or, as the coordinator, with its sockets bound.
        case ready
        /// Its loop turns: a front says so once a second.
        case alive
    }

    /// How far it is.
    public let stage: Stage
    /// Who says so.
    public let incarnation: Incarnation

    /// The longest line, without its feed.
    public static let lineBytesMax = 6 + Identifier128.byteCount * 2

    /// Names both.
    public init(_ stage: Stage, _ incarnation: Incarnation) {
        self.stage = stage
        self.incarnation = incarnation
    }

    /// Reads a line without its feed; nil where it is none of ours.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let stage = Stage(rawValue: String(words[0])),
            let bits = Identifier128(hex: String(words[1]))
        else { return nil }
        self.init(stage, Incarnation(bits))
    }

    /// The whole line.
    public var line: String { "\(stage.rawValue) \(incarnation.value.hex)\n" }
}

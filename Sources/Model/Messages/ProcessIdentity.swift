/// A kind of supervised process: part of the stack, or a front that is a client of it.
public enum ProcessKind: Hashable, Sendable {
    /// The coordinator, or a worker.
    case stack(WorkerKind)
    /// Serves images over HTTP.
    case gateway

    /// Makes decisions; holds no pixels.
    public static let coordinator = ProcessKind.stack(.coordinator)
    /// Fetches URLs.
    public static let download = ProcessKind.stack(.download)
    /// Holds the memory tier and the disk tier.
    public static let cache = ProcessKind.stack(.cache)
    /// Decodes bytes to pixels.
    public static let decode = ProcessKind.stack(.decode)
    /// Transforms pixels and encodes them.
    public static let transform = ProcessKind.stack(.transform)

    /// All kinds, the coordinator first.
    public static let all = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]

    /// The name on the command line and in JSON; the program is `imagebus-` followed by it.
    public var name: String { stackKind?.name ?? "gateway" }

    /// The kind within the stack; nil for a front.
    public var stackKind: WorkerKind? {
        if case .stack(let kind) = self { kind } else { nil }
    }

    /// Whether the process is a client of the coordinator, which terminates before it.
    public var isFront: Bool { stackKind == nil }
}

/// A kind of process of the stack. A worker's kind is that of the pool whose listener it connects
/// to, never what it claims.
public enum WorkerKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Makes decisions; holds no pixels.
    case coordinator = 0
    /// Fetches URLs; the only kind with network access.
    case download = 1
    /// Holds the memory tier and the disk tier.
    case cache = 2
    /// Decodes bytes to pixels.
    case decode = 3
    /// Transforms pixels and encodes them.
    case transform = 4

    /// The number of kinds, without allocating a list.
    public static var count: Int { Int(transform.rawValue) + 1 }

    /// The name on the command line, in paths and in JSON.
    public var name: String {
        switch self {
        case .coordinator: "coordinator"
        case .download: "download"
        case .cache: "cache"
        case .decode: "decode"
        case .transform: "transform"
        }
    }

    /// Looks up a kind by name.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The four kinds that perform jobs.
    public static let workers: [WorkerKind] = [.download, .cache, .decode, .transform]
}

extension WorkerKind {
    /// The maximum number of concurrent jobs of a worker. The coordinator enforces it regardless of
    /// the worker's claim, so that a compromised worker can't attract the jobs of all others.
    public var creditMax: UInt32 {
        switch self {
        case .coordinator: 0
        case .download, .cache: 256
        case .decode, .transform: 1
        }
    }
}

/// A client that is a program of the stack, as it describes itself. Only shown in the status; no
/// decision depends on it.
public struct FrontProcess: Hashable, Sendable {
    /// The name of the program, such as `gateway`.
    public var name: String
    /// The number of restarts by its supervisor.
    public var restarts: UInt32
    /// The active sandbox layers.
    public var sandbox: SandboxLayers

    /// Whether the name may be shown next to the processes of the stack: a word of lowercase
    /// letters that is not one of their names. Any client can claim any name.
    public var isPlain: Bool {
        !name.isEmpty && name.utf8.allSatisfy(\.isLowercaseLetter)
            && WorkerKind(name: name) == nil
    }

    /// Creates a description.
    public init(name: String, restarts: UInt32 = 0, sandbox: SandboxLayers = []) {
        (self.name, self.restarts, self.sandbox) = (name, restarts, sandbox)
    }
}

/// The sandbox layers that a worker has applied to itself (PROTOCOL §8.1). The bits are part of the
/// protocol; unknown ones are preserved.
public struct SandboxLayers: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates a set from the bits of a message.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `no_new_privs`: programs that it executes gain no privileges.
    public static let noNewPrivileges = SandboxLayers(rawValue: 1)
    /// Resource limits.
    public static let resourceLimits = SandboxLayers(rawValue: 2)
    /// A system call filter.
    public static let seccomp = SandboxLayers(rawValue: 4)
    /// A view of the file system restricted to its inputs and outputs.
    public static let landlock = SandboxLayers(rawValue: 8)

    /// The names of the active layers, as in `status --json`.
    public var names: [String] {
        let all: [(SandboxLayers, String)] = [
            (.noNewPrivileges, "noNewPrivileges"), (.resourceLimits, "rlimits"),
            (.seccomp, "seccomp"), (.landlock, "landlock"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// 256 random bits that a hello presents at a listener whose file mode alone doesn't restrict who
/// may connect.
public struct ListenerSecret: Hashable, Sendable, CustomStringConvertible {
    /// The size of a secret in bytes.
    public static let byteCount = 32

    /// The bits.
    public let bytes: [UInt8]

    /// Creates a secret from exactly `byteCount` bytes; returns `nil` for any other number.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// A placeholder, to keep secrets out of logs.
    public var description: String { "(secret)" }
}

/// The secrets of all listeners except `front/`, which the coordinator of one stack requires.
public struct ListenerSecrets: Hashable, Sendable {
    /// The secret of operators.
    public let admin: ListenerSecret
    /// The secret of the workers of each pool.
    public let workers: [PoolName: ListenerSecret]

    /// The size of `bytes` without further pools.
    public static let byteCount = ListenerSecret.byteCount * (1 + WorkerKind.workers.count)
    /// The size of `bytes` with the maximum number of further pools.
    public static let byteCountMax = byteCount + WorkerPools.furtherMax * furtherByteCount
    private static let furtherByteCount = PoolName.bytesMax + ListenerSecret.byteCount

    /// Decodes the value of `bytes`.
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

    /// Generates the secrets, including one per further pool; `random` returns the given number of
    /// random bytes.
    public init?(further: [PoolName], random: (_ count: Int) -> [UInt8]) {
        var bytes = random(Self.byteCount)
        for name in further {
            let text = Array(name.text.utf8)
            bytes += text + Array(repeating: 0, count: PoolName.bytesMax - text.count)
            bytes += random(ListenerSecret.byteCount)
        }
        self.init(bytes)
    }

    /// All secrets: that of `admin/`, those of the built-in pools, then those of further pools with
    /// their names.
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

/// A message from a child to its supervisor on a pipe: a word, its incarnation in hexadecimal
/// digits, a line feed.
public struct Heartbeat: Hashable, Sendable {
    /// The state of the child.
    public enum Stage: String, Hashable, Sendable {
        /// Started, with its control page present; it is connecting to its coordinator.
        case begun
        /// Part of the stack: welcomed, or, for the coordinator, with its sockets bound.
        case ready
        /// Its loop is running: sent by a front once per second.
        case alive
    }

    /// The state.
    public let stage: Stage
    /// The incarnation of the child.
    public let incarnation: Incarnation

    /// The maximum length of a line in bytes, without the line feed.
    public static let lineBytesMax = 6 + Identifier128.byteCount * 2

    /// Creates a message.
    public init(_ stage: Stage, _ incarnation: Incarnation) {
        self.stage = stage
        self.incarnation = incarnation
    }

    /// Parses a line without its line feed; returns nil if it is invalid.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let stage = Stage(rawValue: String(words[0])),
            let bits = Identifier128(hex: String(words[1]))
        else { return nil }
        self.init(stage, Incarnation(bits))
    }

    /// The complete line.
    public var line: String { "\(stage.rawValue) \(incarnation.value.hex)\n" }
}

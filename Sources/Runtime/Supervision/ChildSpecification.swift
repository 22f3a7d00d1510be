public import Linux
public import Messages

/// One child that a supervisor keeps alive.
public struct ChildSpecification: Hashable, Sendable {
    /// What it is.
    public var kind: ProcessKind
    /// Its pool; nil for what is in none.
    public var pool: PoolName?
    /// The path of its program.
    public var program: String
    /// Its own arguments; the supervisor appends those of `lifeArguments`.
    public var arguments: [String]
    /// A socket that listens, which each life inherits: who connects between two lives waits. It
    /// stays its owner's, and open as long as the stack.
    public var listener: Int32?

    /// The path of an external program, which `setpriv` becomes; nil for a program of ours.
    private(set) var externalProgram: String?
    /// Whether it is somebody else's program: it gets no arguments that it does not know, is told
    /// of its life in the environment, and neither keeps the stack from being ready nor ends it.
    public var isForeign: Bool { externalProgram != nil }
    /// What it finds in its environment besides what all find there.
    public private(set) var environment: [String: String] = [:]

    /// A worker of a foreign pool that has a command; nil for another pool. It ends with its
    /// supervisor, and gains no privileges.
    public init?(foreign pool: WorkerPool, runtimeDirectory: String) {
        guard pool.trust == .foreign, let command = pool.command, let path = command.first else {
            return nil
        }
        self.init(
            kind: .stack(pool.kind), pool: pool.name, program: Self.setpriv,
            arguments: ["--no-new-privs", "--pdeathsig", "KILL", "--"] + command)
        externalProgram = path
        environment = [
            "IMAGEBUS_RUNTIME_DIR": runtimeDirectory, "IMAGEBUS_POOL": pool.name.text,
            "IMAGEBUS_LIFE_FD": "\(Self.readyDescriptor)",
        ]
    }

    /// Of util-linux: who does not know of its supervisor's death is killed by the kernel.
    static let setpriv = "/usr/bin/setpriv"

    /// Describes a child; of the pool that every stack has of its kind, where none is named.
    public init(
        kind: ProcessKind, pool: PoolName? = nil, program: String, arguments: [String],
        listener: Int32? = nil, environment: [String: String] = [:]
    ) {
        self.kind = kind
        self.environment = environment
        self.pool = pool ?? kind.stackKind.map { PoolName($0) }
        self.listener = listener
        self.program = program
        self.arguments = arguments
    }

    /// The name of a kind's program.
    public static func programName(_ kind: ProcessKind) -> String { "imagebus-\(kind.name)" }

    /// The descriptor on which a child tells how far it is (`LifeSign`).
    public static let readyDescriptor: Int32 = 3

    /// The descriptor from which a child reads its secret, where it is given one.
    public static let secretDescriptor: Int32 = 4

    /// The descriptor on which a child listens, where it is given one.
    public static let listenerDescriptor: Int32 = 5

    /// The descriptor to which a child of ours writes its log. What comes on its standard output
    /// and error is the text of native libraries, which its supervisor writes to the log.
    public static let logDescriptor: Int32 = 6

    /// What differs from life to life: how often it was restarted, where it reports, and whose
    /// death it does not outlive.
    static func lifeArguments(
        restarts: UInt32, parent: Int32, hasSecret: Bool = false, listens: Bool = false
    ) -> [String] {
        [
            "--restarts", "\(restarts)", "--ready-fd", "\(readyDescriptor)",
            "--parent-pid", "\(parent)", "--log-fd", "\(logDescriptor)",
        ] + (hasSecret ? ["--secret-fd", "\(secretDescriptor)"] : [])
            + (listens ? ["--listen-fd", "\(listenerDescriptor)"] : [])
    }
}

/// What the children of a supervisor find in their environment: of what is there only what is named
/// here. Whatever else libraries look for, such as `LD_PRELOAD`, `VIPS_CONCURRENCY` or a proxy,
/// would change what workers load, how much they take or whom they reach.
enum ChildEnvironment {
    /// Certificates of the machine, the directory of temporary files, language and time zone.
    private static let names: Set<String> = [
        "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LANG", "TZ",
    ]
    private static let prefixes = ["LC_"]
    /// Of programs that are built with a sanitizer: where it reports, and what it looks for.
    private static let ofSanitizers: Set<String> = [
        "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]

    /// The part of `environment` that children get, and what they need besides.
    static func of(
        _ environment: [String: String], hasSanitizer: Bool = CurrentProcess.hasSanitizer
    ) -> [String: String] {
        var passed = environment.filter { name, _ in
            names.contains(name) || prefixes.contains { name.hasPrefix($0) }
                || (hasSanitizer && ofSanitizers.contains(name))
        }
        // glibc makes eight arenas a core otherwise, and memory creeps up.
        passed["MALLOC_ARENA_MAX"] = "2"
        // libimagequant, which makes palettes, takes every processor otherwise: the processes are
        // the parallelism. OpenMP reads it as it is loaded.
        passed["OMP_NUM_THREADS"] = "1"
        return passed
    }
}

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

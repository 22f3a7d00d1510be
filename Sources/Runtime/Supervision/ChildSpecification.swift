package import Linux
package import Model

/// A child process that the supervisor keeps running.
package struct ChildSpecification: Hashable, Sendable {
    package var kind: ProcessKind
    /// Its pool; nil if it doesn't belong to one.
    package var pool: PoolName?
    package var program: String
    /// Its own arguments; the supervisor appends `lifeArguments`.
    package var arguments: [String]
    /// A listening socket that each incarnation inherits, so that clients that connect during a
    /// restart wait. The specification's creator owns it and keeps it open for the lifetime of the
    /// stack.
    package var listener: Int32?

    /// The path of an external program, which `setpriv` executes; nil for a program of the stack.
    private(set) var externalProgram: String?
    /// Whether it is an external program. It gets no arguments that it doesn't know and receives
    /// its incarnation's parameters in the environment. The stack's readiness doesn't depend on it,
    /// and its end doesn't stop the stack.
    package var isExternal: Bool { externalProgram != nil }
    /// Additional environment variables besides those that every child gets.
    package private(set) var environment: [String: String] = [:]

    /// Creates the specification of a worker in an external pool with a command; nil for other
    /// pools. The worker is killed when its supervisor dies and can't gain privileges.
    package init?(external pool: WorkerPool, runtimeDirectory: String) {
        guard pool.trust == .external, let command = pool.command, let path = command.first else {
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

    /// From util-linux: makes the kernel kill a program that doesn't monitor its supervisor.
    static let setpriv = "/usr/bin/setpriv"

    /// Creates a specification; without `pool`, the child belongs to the default pool of its kind.
    package init(
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

    package static func programName(_ kind: ProcessKind) -> String { "imagebus-\(kind.name)" }

    /// The descriptor on which a child reports its startup stage (`Heartbeat`).
    package static let readyDescriptor: Int32 = 3

    /// The descriptor from which a child reads its secret, if it has one.
    package static let secretDescriptor: Int32 = 4

    /// The descriptor of a child's listening socket, if it has one.
    package static let listenerDescriptor: Int32 = 5

    /// The descriptor to which a child of the stack writes its log. Its standard output and error
    /// carry the output of native libraries, which the supervisor logs.
    package static let logDescriptor: Int32 = 6

    /// Returns the arguments that differ between incarnations: the restart count, the reporting
    /// descriptor, and the parent that it must not outlive.
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

/// The environment of the supervisor's children: an allowlist of the current environment. Other
/// variables that libraries read, such as `LD_PRELOAD`, `VIPS_CONCURRENCY` or proxy settings, could
/// change what workers load, how much they consume or what they connect to.
enum ChildEnvironment {
    /// Variables for the system's certificates, the temporary directory, language and time zone.
    private static let names: Set<String> = [
        "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LANG", "TZ",
    ]
    private static let prefixes = ["LC_"]
    /// Variables for programs built with a sanitizer: where it reports and what it checks.
    private static let ofSanitizers: Set<String> = [
        "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]

    /// Returns the allowed part of `environment` and the fixed variables.
    static func of(
        _ environment: [String: String], hasSanitizer: Bool = CurrentProcess.hasSanitizer
    ) -> [String: String] {
        var passed = environment.filter { name, _ in
            names.contains(name) || prefixes.contains { name.hasPrefix($0) }
                || (hasSanitizer && ofSanitizers.contains(name))
        }
        // By default, glibc creates eight arenas per core, and memory use creeps up.
        passed["MALLOC_ARENA_MAX"] = "2"
        // By default, libimagequant, which computes palettes, uses all processors; here the
        // processes provide the parallelism. OpenMP reads the variable when it is loaded.
        passed["OMP_NUM_THREADS"] = "1"
        return passed
    }
}

/// The secrets with which the children of a stack authenticate each other if all of them run as one
/// user. Generated once and passed to each incarnation, so that restarted children are still
/// recognized.
///
/// The coordinator gets all of them and a worker the one of its pool, each in sealed memory on an
/// inherited descriptor. Workers of external pools aren't children of the supervisor: they find
/// theirs next to their listener.
package struct StackSecrets {
    let listeners: ListenerSecrets
    private let files: [PoolName: SealedFile]

    /// Generates secrets for the default pools and these additional ones.
    package init(for pools: [WorkerPool] = []) throws(Errno) {
        let further = pools.filter { !$0.isBuiltIn }
        let drawn = ListenerSecrets(further: further.map(\.name)) { Random.bytes(count: $0) }
        guard let listeners = drawn else { throw .invalidArgument }
        let coordinator = PoolName(.coordinator)
        let external = Set(further.filter { $0.trust == .external }.map(\.name))
        var files = [coordinator: try SealedFile(listeners.bytes, coordinator)]
        for (pool, secret) in listeners.workers where !external.contains(pool) {
            files[pool] = try SealedFile(secret.bytes, pool)
        }
        self.listeners = listeners
        self.files = files
    }

    /// Returns the descriptor that a child of this pool inherits.
    func descriptorNumber(for pool: PoolName) -> Int32? { files[pool]?.descriptor.number }

    /// Returns the name of a pool's memory file, as shown in `/proc`.
    static func name(_ pool: PoolName) -> String { "imagebus-secret-\(pool)" }

    private final class SealedFile {
        let descriptor: FileDescriptor

        init(_ bytes: [UInt8], _ pool: PoolName) throws(Errno) {
            descriptor = try .sealed(bytes, name: StackSecrets.name(pool))
        }
    }
}

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

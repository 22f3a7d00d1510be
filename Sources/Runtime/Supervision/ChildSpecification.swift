public import Messages

/// One child that a supervisor keeps alive.
public struct ChildSpecification: Hashable, Sendable {
    /// What it is.
    public var kind: WorkerKind
    /// Its pool.
    public var pool: PoolName
    /// The path of its program.
    public var program: String
    /// Its own arguments; the supervisor appends those of `lifeArguments`.
    public var arguments: [String]

    /// Describes a child; of the pool that every stack has of its kind, where none is named.
    public init(
        kind: WorkerKind, pool: PoolName? = nil, program: String, arguments: [String]
    ) {
        self.kind = kind
        self.pool = pool ?? PoolName(kind)
        self.program = program
        self.arguments = arguments
    }

    /// The name of a kind's program.
    public static func programName(_ kind: WorkerKind) -> String { "imagebus-\(kind.name)" }

    /// The descriptor on which a child tells how far it is (`LifeSign`).
    public static let readyDescriptor: Int32 = 3

    /// The descriptor from which a child reads its secret, where it is given one.
    public static let secretDescriptor: Int32 = 4

    /// What differs from life to life: how often it was restarted, where it reports, and whose
    /// death it does not outlive.
    static func lifeArguments(
        restarts: UInt32, parent: Int32, hasSecret: Bool = false
    ) -> [String] {
        [
            "--restarts", "\(restarts)", "--ready-fd", "\(readyDescriptor)",
            "--parent-pid", "\(parent)",
        ] + (hasSecret ? ["--secret-fd", "\(secretDescriptor)"] : [])
    }
}

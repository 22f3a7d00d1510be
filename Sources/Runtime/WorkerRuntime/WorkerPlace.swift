public import Bootstrap
public import Messages

/// The pool of a worker, and the further pools whose segments it reads.
public struct WorkerPlace: Hashable, Sendable {
    /// `--pool`, else that of every stack.
    public let pool: PoolName
    /// Each by an `--input-pool`.
    public let inputs: [PoolName]

    /// Names of the arguments that say so, and of the limit of its arena.
    static let valued: Set<String> = ["pool", "input-pool", "arena-limit"]

    /// Throws for what is no name of a pool.
    public init(
        _ arguments: ProgramArguments, _ kind: WorkerKind
    ) throws(ConfigurationError) {
        pool = try arguments.value("pool").map(Self.name) ?? PoolName(kind)
        var inputs: [PoolName] = []
        for text in arguments.all("input-pool") { inputs.append(try Self.name(text)) }
        self.inputs = inputs
    }

    private static func name(_ text: String) throws(ConfigurationError) -> PoolName {
        guard let name = PoolName(text) else {
            throw ConfigurationError(
                "'\(text)' is no name of a pool: a small letter, then small letters, digits and "
                    + "'-', at most \(PoolName.bytesMax) in all")
        }
        return name
    }
}

import CommandLineInterface
import Messages
import StackAccess

/// Where the workers of one kind are served apart: their pool, and the further pools whose segments
/// they read. Under one `serve` for all kinds the configuration says so.
struct ServedPools: Hashable {
    /// nil: the pool that every stack has of the kind.
    var own: WorkerPool?
    var inputs: [PoolName] = []

    init() {}

    init(_ read: ReadOptions, only kind: WorkerKind?) throws(UsageError) {
        let name = try read.parsed("pool", Self.name)
        inputs =
            try read.parsed("input-pools") { (text) throws(UsageError) in
                var names: [PoolName] = []
                for part in text.split(separator: ",") { names.append(try Self.name(String(part))) }
                return names
            } ?? []
        guard name != nil || !inputs.isEmpty else { return }
        guard let kind, WorkerPool.kinds.contains(kind) else {
            throw UsageError("--pool and --input-pools: with --only download, decode or transform")
        }
        guard let name, name != PoolName(kind) else { return }
        guard WorkerKind(name: name.text) == nil else {
            throw UsageError("--pool: '\(name)' is the pool of another kind")
        }
        guard name != .vector || kind == .decode else {
            throw UsageError("--pool: 'vector' is a pool of decoders")
        }
        own = WorkerPool(name: name, kind: kind)
    }

    private static func name(_ text: String) throws(UsageError) -> PoolName {
        guard let name = PoolName(text) else {
            throw UsageError(
                "'\(text)' is no name of a pool: a small letter, then small letters, digits and "
                    + "'-', at most \(PoolName.bytesMax) in all")
        }
        return name
    }
}

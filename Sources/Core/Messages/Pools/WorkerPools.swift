/// One of the pools of a stack: an index into them.
public struct PoolID: Hashable, Comparable, Sendable {
    /// Its place among all.
    public let index: Int

    /// The pool that every stack has of a kind.
    public init(_ kind: WorkerKind) { index = Int(kind.rawValue) }

    fileprivate init(_ index: Int) { self.index = index }

    /// In the order of all.
    public static func < (left: PoolID, right: PoolID) -> Bool { left.index < right.index }
}

/// All pools of a stack. Those that every stack has come first, by the raw value of their kind, the
/// coordinator's among them; then the others in the order of the configuration.
public struct WorkerPools: Hashable, Sendable {
    /// Further pools at most: each has a listener and a queue.
    public static let furtherMax = 16

    /// By index.
    public let all: [WorkerPool]
    /// Pools of workers, by index.
    public let workers: [PoolID]
    /// By raw value of the kind: who is asked in turn, the further pools before the one of every
    /// stack, and first the one that draws.
    private let byKind: [[PoolID]]
    /// By raw value of the kind: whether its one pool is granted everything.
    private let areOpen: [Bool]

    /// The pools of every stack and those that are configured. One that is named as a kind is the
    /// pool of every stack with another grant and other limits.
    public init(_ configured: [WorkerPool] = []) {
        let builtIn = WorkerKind.allCases.map { kind in
            configured.first { $0.isBuiltIn && $0.kind == kind } ?? WorkerPool(kind)
        }
        let all = builtIn + configured.filter { !$0.isBuiltIn }.prefix(Self.furtherMax)
        self.all = all
        workers = all.indices.map(PoolID.init).filter { all[$0.index].kind != .coordinator }
        byKind = WorkerKind.allCases.map { kind in
            let further = all.indices.dropFirst(builtIn.count).filter { all[$0].kind == kind }
            // Another pool of ours may be granted every format, and does not draw all the same.
            let drawing = further.filter { all[$0].name == .vector }
            let others = further.filter { all[$0].name != .vector }
            return (drawing + others).map(PoolID.init) + [PoolID(kind)]
        }
        areOpen = byKind.map { $0.count == 1 && all[$0[0].index].grant == .all }
    }

    /// One of them.
    public subscript(id: PoolID) -> WorkerPool { all[id.index] }

    /// Those of a kind: whoever is first and is granted a job gets it.
    public func pools(of kind: WorkerKind) -> [PoolID] { byKind[Int(kind.rawValue)] }

    /// Whether all pools of the kind may do all work of it: then there is nothing to look at.
    public func isOpen(_ kind: WorkerKind) -> Bool { areOpen[Int(kind.rawValue)] }

    /// What the workers of a pool do. Asked for each job: unlike the pool itself, it is no copy of
    /// its grant.
    public func kind(of id: PoolID) -> WorkerKind { all[id.index].kind }

    /// Whether its workers are a cache, and not the one of every stack.
    public func isForeignCache(_ id: PoolID) -> Bool {
        kind(of: id) == .cache && id != PoolID(.cache)
    }

    /// Those that configuration added, in its order.
    public var further: [WorkerPool] { all.filter { !$0.isBuiltIn } }

    /// The pool of that name.
    public func id(of name: PoolName) -> PoolID? {
        all.firstIndex { $0.name == name }.map(PoolID.init)
    }
}

public import Messages

/// Where segments lie.
public struct SegmentDirectories: Hashable, Sendable {
    /// `arena/`, with one directory for each pool of producers.
    public let arenas: String
    /// `results/`
    public let results: String

    /// Names the two directories by absolute paths.
    public init(arenas: String, results: String) {
        self.arenas = arenas
        self.results = results
    }

    /// The directory of a producer's segments.
    public func path(of arena: ArenaName, producer: PoolName) -> String {
        switch arena {
        case .results: results
        case .stage: "\(arenas)/\(producer)"
        }
    }

    /// The same of the pool that every stack has of a kind.
    public func path(of arena: ArenaName, producer kind: WorkerKind) -> String {
        path(of: arena, producer: PoolName(kind))
    }
}

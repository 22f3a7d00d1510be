public import Messages

/// Where segments lie.
public struct SegmentDirectories: Hashable, Sendable {
    /// `arena/`, with one directory for each kind of producer.
    public let arenas: String
    /// `results/`
    public let results: String

    /// Names the two directories by absolute paths.
    public init(arenas: String, results: String) {
        self.arenas = arenas
        self.results = results
    }

    /// The directory of a producer's segments.
    public func path(of arena: ArenaName, producer: WorkerKind) -> String {
        switch arena {
        case .results: results
        case .stage: "\(arenas)/\(producer.name)"
        }
    }
}

/// The graphs that were used last, for one thread.
///
/// Holds at most `capacity` graphs, and of those so many as have `scratchBytesMax` bytes of scratch
/// memory together, but always the one used last.
public final class ZimgGraphCache {
    /// How often a graph was there, and how often it had to be built.
    public private(set) var counts: (hits: Int, misses: Int) = (0, 0)
    private let codePath: ZimgCodePath
    private let capacity: Int
    private let scratchBytesMax: Int
    /// The one used last comes first.
    private var kept: [Kept] = []

    /// An empty cache; its graphs are of one code path.
    public init(
        capacity: Int = 16, scratchBytesMax: Int = 32 << 20, codePath: ZimgCodePath = .automatic
    ) {
        precondition(capacity > 0, "a cache holds at least the graph in use")
        self.codePath = codePath
        self.capacity = capacity
        self.scratchBytesMax = scratchBytesMax
    }

    /// How many graphs are held.
    public var count: Int { kept.count }

    /// Runs `body` with the graph of `conversion`, which is built where it is not held.
    ///
    /// - Throws: what `ZimgGraph.init` and `body` throw.
    public func withGraph<Result>(
        _ conversion: ZimgConversion,
        _ body: (borrowing ZimgGraph) throws(ZimgError) -> Result
    ) throws(ZimgError) -> Result {
        try body(try take(conversion).graph)
    }

    private func take(_ conversion: ZimgConversion) throws(ZimgError) -> Kept {
        if let place = kept.firstIndex(where: { $0.graph.conversion == conversion }) {
            counts.hits += 1
            let found = kept.remove(at: place)
            kept.insert(found, at: 0)
            return found
        }
        counts.misses += 1
        let built = Kept(try ZimgGraph(conversion, codePath: codePath))
        kept.insert(built, at: 0)
        trim()
        return built
    }

    private func trim() {
        var bytes = 0
        let fitting = kept.prefix(capacity).prefix { kept in
            bytes += kept.graph.scratchBytes
            return bytes <= scratchBytesMax
        }
        kept.removeSubrange(max(fitting.count, 1)...)
    }

    private final class Kept {
        let graph: ZimgGraph

        init(_ graph: consuming ZimgGraph) {
            self.graph = graph
        }
    }
}

import Model

@testable import Coordinator

// Stacks with an external pool of caches, named "team".
extension Stack {
    static func withTeam(_ layout: CacheLayout) -> Stack {
        var stack = Stack.staffed { $0.dispatch.pools = .withTeam }
        stack.send(.caches(layout))
        return stack
    }

    @discardableResult
    mutating func hireTeam(credit: Int = 4) -> WorkerID {
        hire(.cache, credit: credit, pool: .team)
    }

    /// A counter of the pool.
    func teamCounter(_ name: String) -> Int {
        scheduler.report["foreignCache\(name).team"]
    }
}

extension WorkerPools {
    static var withTeam: WorkerPools {
        guard let name = PoolName("team") else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .cache)
        pool.trust = .external
        return WorkerPools([pool])
    }
}

extension PoolID {
    /// The further pool of `WorkerPools.withTeam`.
    static var team: PoolID? { PoolName("team").flatMap { WorkerPools.withTeam.id(of: $0) } }
}

/// A stack whose cache `tiers` queries its own caches `high` and `low`, and then the external one
/// `shared`.
struct PromotionStack {
    static let url = "http://example.org/a.jpg"
    static let original = "tiers\u{1F}\(url)"

    var stack: Stack
    var terms: LoadTerms

    init(_ promotion: CachePromotion = .memory, named cache: String = "tiers") {
        stack = .withTeam(Self.layout(promotion))
        stack.hireTeam()
        terms = .kept(in: cache)
    }

    static func layout(_ promotion: CachePromotion) -> CacheLayout {
        CacheLayout(
            [
                "tiers": CompositeCache(of: ["shared", "low", "high"]),
                "reversed": CompositeCache(of: ["low", "shared"]),
                "between": CompositeCache(of: ["low", "shared", "high"]),
                "any": CompositeCache(of: ["low", "shared"], policies: [.query: .concurrent]),
                "lowest": CompositeCache(of: ["shared", "high"], policies: [.query: .lowestOnly]),
            ], external: ["shared": ExternalCache(pool: "team", promotion: promotion)])
    }

    func text(_ cache: String, _ key: String = url) -> String { "\(cache)\u{1F}\(key)" }

    /// Jobs at the external cache.
    var shared: [Stack.Held] { stack.theirs }

    /// Jobs at our own.
    var own: [Stack.Held] { stack.ours }

    /// Stores at our own cache, except canceled ones.
    var stores: [StoreWork] {
        own.compactMap(\.work.store)
    }

    var promoted: Int { stack.scheduler.report["foreignCachePromoted.team"] }

    var isAtRest: Bool { stack.isAtRest && stack.faults == [] }

    mutating func load(_ image: ImageRequest = .image()) -> Token {
        stack.load(image, terms: terms)
    }

    /// Our own caches miss, as far as they are queried.
    mutating func missOwn() {
        while let held = own.first(where: { $0.work.query != nil }) { stack.finish(held, .miss) }
    }

    /// The external cache has the requested entry, with these tags.
    mutating func hit(tags: [String] = [], etag: String? = nil) {
        guard let held = shared.first, case .hit(var hit) = stack.hit(held, etag: etag) else {
            return
        }
        hit.metadata.tags = tags
        stack.finish(held, .hit(hit))
    }

    /// Completes the first store of our own cache, or its last removal.
    mutating func finishOwn(_ isMeant: (JobWork) -> Bool) {
        if let held = own.first(where: { isMeant($0.job.work) }) { stack.finish(held) }
    }

    mutating func remove(_ command: CacheCommand) { stack.ask(command) }
}

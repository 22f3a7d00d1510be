import Model

@testable import Coordinator

/// A stack whose cache `tiers` queries its own caches `high` and `low`, and then the external one
/// `shared`.
struct PromotionStack {
    static let url = "http://example.org/a.jpg"
    static let original = "tiers\u{1F}\(url)"

    var stack: Stack
    let client: ClientID
    var terms = LoadTerms()

    init(_ promotion: CachePromotion = .memory, named cache: String = "tiers") {
        (stack, client) = Stack.staffed {
            $0.dispatch.pools = WorkerPools([ExternalCacheTests.pool("team")])
        }
        stack.send(.caches(Self.layout(promotion)))
        (terms.cache, terms.originalCache) = (cache, cache)
        let pool = ExternalCacheTests.id("team", in: stack.scheduler.limits.dispatch.pools)
        stack.hire(.cache, credit: 4, pool: pool)
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
    var shared: [Stack.Held] { held(isExternal: true) }

    /// Jobs at our own.
    var own: [Stack.Held] { held(isExternal: false) }

    private func held(isExternal: Bool) -> [Stack.Held] {
        stack.allHeld.filter {
            $0.job.work.kind == .cache && !$0.isCancelled
                && stack.workers[$0.worker]?.isExternal == isExternal
        }
    }

    /// Stores at our own cache, except canceled ones.
    var stores: [StoreWork] {
        own.compactMap { if case .store(let work) = $0.job.work { work } else { nil } }
    }

    var promoted: UInt64 {
        stack.scheduler.report.counters.first { $0.name == "foreignCachePromoted.team" }?
            .value
            ?? 0
    }

    var isAtRest: Bool { stack.isAtRest && stack.faults == [] }

    mutating func load(_ image: ImageRequest = .image()) -> Token {
        stack.load(image, by: client, terms: terms)
    }

    /// Our own caches miss, as far as they are queried.
    mutating func missOwn() {
        while let held = own.first(where: { if case .query = $0.job.work { true } else { false } })
        {
            stack.finish(held, .miss)
        }
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

    mutating func remove(_ command: CacheCommand) {
        stack.questions[command.number] = client
        stack.send(.cache(client, command))
    }
}

import Model

@testable import Coordinator

// External caches, in every fourth walk.
extension Walk {
    static func hasExternalCaches(_ seed: UInt64) -> Bool { seed % 4 == 1 }

    static let poolsWithCache = WorkerPools([ExternalCacheTests.pool("team")])

    /// Loads use the caches x, y and z: one is external, one stands for it and two of our own.
    mutating func drawExternalCaches(seed: UInt64) {
        guard Self.hasExternalCaches(seed) else { return }
        var policies: [CompositeOperation: CompositePolicy] = [:]
        for operation in CompositeOperation.allCases where side.oneIn(2) {
            policies[operation] = CompositePolicy.allCases.randomElement(using: &side)
        }
        let members = [["x", "", "z"], ["", "x", "z"], ["z", "", "x"]]
        let composite = CompositeCache(
            of: members.randomElement(using: &side) ?? [], policies: policies)
        let cache = ExternalCache(
            pool: "team", timeout: side.oneIn(2) ? 20 : 2_000,
            promotion: CachePromotion.allCases.randomElement(using: &side) ?? .memory)
        stack.send(.caches(CacheLayout(["y": composite], external: ["x": cache])))
        hireExternalCache()
    }

    /// Our own cache worker, if it is connected.
    var ownCache: Stack.Worker? {
        stack.workers.values.first { $0.kind == .cache && !$0.isExternal }
    }

    /// Random answers about freshness, and steps of a removal that is to be continued.
    mutating func externalAnswer(_ held: Stack.Held) -> JobResult? {
        guard case .entry(let work) = held.job.work else { return nil }
        if work.wantsValidity, side.oneIn(2) {
            let born = stack.scheduler.calendarNow - Int64.random(in: -5_000...5_000, using: &side)
            let age = ResponseAge(bornMilliseconds: max(0, born))
            let caching = OriginCaching(CacheControl("max-age=60"), age)
            return .validity(
                Validity(caching: caching, etag: side.oneIn(4) ? "\"2\"" : "\"1\""))
        }
        if work.inSteps, side.oneIn(2) {
            var page = EntryPage(next: work.after + (side.oneIn(9) ? 0 : 1))
            (page.examined, page.total, page.disk.entries) = (2, side.oneIn(2) ? 0 : 9, 1)
            return .entries(page)
        }
        return nil
    }

    /// Adds its workers when others are added.
    mutating func hireExternalCache() {
        let pools = stack.scheduler.limits.dispatch.pools
        guard let pool = ExternalCacheTests.id("team", in: pools),
            stack.workers.values.count(where: \.isExternal) < 2
        else { return }
        stack.hire(.cache, credit: Int.random(in: 1...3, using: &side), pool: pool)
    }
}

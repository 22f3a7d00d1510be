import Model
import TestKit

@testable import Coordinator

// Composite caches, in every second walk.
extension Walk {
    /// Makes the cache names used by loads stand for 1 to 4 caches, with policies of their own.
    mutating func drawComposites(seed: UInt64) {
        guard seed.isMultiple(of: 2) else { return }
        var composites = DrawnComposites(seed: seed)
        stack.send(.caches(composites.drawAgain()))
        stack.composites = composites
    }

    /// Reloads the configuration, or addresses an operator's command to one of these caches.
    mutating func mean(_ command: inout CacheCommand) {
        guard var composites = stack.composites else { return }
        if composites.isDrawn(oneIn: 3) {
            let layout = composites.drawAgain()
            stack.composites = composites
            stack.send(.caches(layout))
        }
        if composites.isDrawn(oneIn: 2), !command.key.isEmpty {
            let name = DrawnComposites.names[command.key.utf8.count % 3]
            command.cache = composites.isDrawn(oneIn: 2) ? composites.cache() : name
        }
        stack.composites = composites
    }

    /// The cache in which an entry of memory is published: usually a member of a composite, whose
    /// name is then used in half of the cases.
    mutating func publishedCache() -> (cache: String, name: String?) {
        guard stack.composites?.isDrawn(oneIn: 4) == false,
            let (name, cache) = stack.composites?.member()
        else { return ("", nil) }
        return (cache, stack.composites?.isDrawn(oneIn: 2) == true ? name : nil)
    }

    /// Records the cache of a load, which may be answered only from the caches of its policy.
    mutating func ask(_ name: String?, for request: ImageRequest) {
        guard let name, let client = pick(stack.clients.sorted()) else { return }
        var terms = LoadTerms()
        (terms.cache, terms.originalCache) = (name, name)
        stack.load(request, by: client, terms: terms)
    }

    // MARK: - External caches, in every fourth walk

    static func hasExternalCaches(_ seed: UInt64) -> Bool { seed % 4 == 1 }

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

    private var hasTeam: Bool {
        stack.scheduler.limits.dispatch.pools.further.contains { $0.name == PoolName("team") }
    }

    /// Adds its workers when others are added.
    mutating func hireExternalCache() {
        guard hasTeam, stack.workers.values.count(where: \.isExternal) < 2 else { return }
        stack.hireTeam(credit: Int.random(in: 1...3, using: &side))
    }
}

/// Randomly drawn composite caches, and the jobs that are permitted for them, computed
/// independently from SEMANTICS §5.16.
///

/// A composite called `x` has the members `x.0`, `x.1` and so on, the lowest first, so that each
/// key shows its owner. Policies may be drawn again while jobs assigned under the previous ones are
/// in flight.
struct DrawnComposites {
    typealias Policies = [CompositeOperation: CompositePolicy]

    /// The policies of each name; more than one after they were drawn again.
    private(set) var drawn: [String: [Policies]] = [:]
    private var members: [String: Int] = [:]
    /// A separate generator, so that walks without composites stay the same.
    private var random: SeededGenerator

    static let names = ["x", "y", "z"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed &+ 0x5EED)
        for name in Self.names {
            members[name] = Int.random(in: 1...4, using: &random)
        }
    }

    /// Draws other policies for the same names. Returns the layout for the scheduler.
    mutating func drawAgain() -> CacheLayout {
        var layout: [String: CompositeCache] = [:]
        for name in Self.names {
            var policies: Policies = [:]
            for operation in CompositeOperation.allCases where random.oneIn(2) {
                policies[operation] = CompositePolicy.allCases.randomElement(using: &random)
            }
            drawn[name, default: []].append(policies)
            layout[name] = CompositeCache(of: all(name).reversed(), policies: policies)
        }
        return CacheLayout(layout)
    }

    mutating func isDrawn(oneIn count: Int) -> Bool { random.oneIn(count) }

    /// One of the caches, or a composite name.
    mutating func cache() -> String {
        let name = Self.names.randomElement(using: &random) ?? "x"
        return all(name).randomElement(using: &random) ?? name
    }

    /// The members, the highest first.
    private func all(_ name: String) -> [String] {
        (0..<(members[name] ?? 1)).reversed().map { "\(name).\($0)" }
    }

    // MARK: - Permitted jobs

    /// The members that an operation applies to, and whether memory comes first, under each policy
    /// so far.
    private func meanings(_ name: String, _ operation: CompositeOperation) -> [Meaning] {
        (drawn[name] ?? []).map { policies in
            let usual: CompositePolicy =
                switch operation {
                case .query, .contains: .serial
                case .store: .highestOnly
                case .remove, .clear: .concurrent
                }
            let all = all(name)
            return switch policies[operation] ?? usual {
            case .serial: Meaning(caches: all, memoryFirst: false)
            case .concurrent: Meaning(caches: all, memoryFirst: true)
            case .highestOnly: Meaning(caches: [all[0]], memoryFirst: false)
            case .lowestOnly: Meaning(caches: [all[all.count - 1]], memoryFirst: false)
            }
        }
    }

    private struct Meaning: Hashable {
        let caches: [String]
        let memoryFirst: Bool
    }

    /// The error in a job; `nil` if it is correct.
    func fault(of work: JobWork) -> String? {
        switch work {
        case .query(let work):
            fault(.query, [CacheKey.cache(inStored: work.key)] + work.caches, work.memoryFirst)
        case .store(let work):
            work.key.flatMap { key in
                fault(.store, [CacheKey.cache(inStored: key)] + work.caches, nil)
            }
        case .entry(let work) where work.action == .contains:
            fault(.contains, [CacheKey.cache(inStored: work.key)] + work.caches, work.memoryFirst)
        case .entry(let work) where work.action == .remove:
            removalFault([CacheKey.cache(inStored: work.key)] + work.caches)
        default: nil
        }
    }

    private func fault(
        _ operation: CompositeOperation, _ caches: [String], _ memoryFirst: Bool?
    ) -> String? {
        guard let name = caches.first else { return nil }
        if Self.names.contains(name) { return "\(operation) of \(name) itself" }
        guard let parent = Self.parent(of: name) else {
            return caches.count == 1 ? nil : "\(operation) of \(caches)"
        }
        // A member may be addressed alone by its own name.
        if caches.count == 1, memoryFirst != true { return soleFault(operation, name, parent) }
        let isAllowed = meanings(parent, operation).contains {
            $0.caches == caches && (memoryFirst == nil || $0.memoryFirst == memoryFirst)
        }
        return isAllowed ? nil : "\(operation) of \(caches), \(memoryFirst == true)"
    }

    private func soleFault(
        _ operation: CompositeOperation, _ name: String, _ parent: String
    ) -> String? {
        let isAllowed = meanings(parent, operation).contains { $0.caches == [name] }
        return isAllowed || Self.askedAlone.contains(operation) ? nil : "\(operation) of \(name)"
    }

    /// Operators address single members; loads do not.
    private static let askedAlone: Set<CompositeOperation> = [.contains, .remove]

    /// A refresh removes entries that its store doesn't replace: some members of one composite,
    /// each once.
    private func removalFault(_ caches: [String]) -> String? {
        guard caches.count > 1 || Self.names.contains(caches[0]) else { return nil }
        let parents = Set(caches.map(Self.parent))
        return parents.count == 1 && parents.first != .some(nil)
            && Set(caches).count == caches.count ? nil : "remove of \(caches)"
    }

    private static func parent(of cache: String) -> String? {
        let parts = cache.split(separator: ".")
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// Whether memory may answer a load of `name` with an entry of `cache`: by the current policy,
    /// with the first cache only unless memory comes first. In a walk, the cache process never
    /// finds an entry that is known to be in memory, so none of its answers are remembered.
    func mayAnswer(_ name: String, from cache: String) -> Bool {
        guard Self.names.contains(name) else { return name == cache }
        guard let meaning = meanings(name, .query).last else { return false }
        return meaning.memoryFirst ? meaning.caches.contains(cache) : meaning.caches[0] == cache
    }

    /// A name used by loads, and one of the caches that it stands for.
    mutating func member() -> (name: String, cache: String) {
        let name = ["x", "y"].randomElement(using: &random) ?? "x"
        return (name, all(name).randomElement(using: &random) ?? name)
    }
}

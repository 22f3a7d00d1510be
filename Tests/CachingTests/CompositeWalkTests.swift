import Model
import TestKit
import Testing

@testable import Caching

/// Random jobs on several caches, checked against SEMANTICS §5.16 with the real threads and a real
/// disk.
@Suite struct CompositeWalkTests {
    /// The expected content of one cache, by key.
    private struct Model {
        var memory: [String: [UInt8]] = [:]
        var disk: [String: [UInt8]] = [:]

        func tiers(_ key: String) -> CacheTypes {
            var tiers = CacheTypes.none
            if memory[key] != nil { tiers.insert(.memory) }
            if disk[key] != nil { tiers.insert(.disk) }
            return tiers
        }
    }

    private static let names = ["a", "b", "c", "d"]
    private static let keys = ["k", "l"]

    private final class Walk {
        let fixture: StageFixture
        var random: SeededGenerator
        var models: [String: Model] = [:]
        var serial: UInt64 = 0

        init(_ path: String, seed: UInt64) throws {
            fixture = try StageFixture(path)
            random = SeededGenerator(seed: seed)
            for name in CompositeWalkTests.names { models[name] = Model() }
        }

        /// One to four caches, in descending priority.
        func caches() -> [String] {
            let count = Int.random(in: 1...4, using: &random)
            return Array(CompositeWalkTests.names.shuffled(using: &random).prefix(count))
        }

        func key() -> String { CompositeWalkTests.keys.randomElement(using: &random) ?? "k" }

        func tiers() -> CacheTypes {
            CacheTypes(rawValue: UInt8.random(in: 1...3, using: &random))
        }

        func bytes() -> [UInt8] {
            serial += 1
            return sample(
                [300, 20_000, 1_200_000].randomElement(using: &random) ?? 300, seed: serial)
        }

        func text(_ cache: String, _ key: String) -> String { "\(cache)\u{1F}\(key)" }

        /// The order in which they are queried.
        func order(
            _ caches: [String], _ key: String, _ tiers: CacheTypes, memoryFirst: Bool
        ) -> [String] {
            guard memoryFirst, tiers.contains(.memory) else { return caches }
            let first = caches.filter { models[$0]?.memory[key] != nil }
            return first + caches.filter { !first.contains($0) }
        }

        // MARK: - Steps

        func query() throws {
            let (caches, key, tiers) = (caches(), key(), tiers())
            var work = QueryWork(
                key: text(caches[0], key), tiers: tiers,
                destination: Bool.random(using: &random) ? .results : .staging,
                promotes: Bool.random(using: &random))
            work.caches = Array(caches.dropFirst())
            work.memoryFirst = Bool.random(using: &random)
            let order = order(caches, key, tiers, memoryFirst: work.memoryFirst)
            let answer = order.first {
                models[$0]?.tiers(key).isDisjoint(with: tiers) == false
            }
            let before = fixture.stage.queries
            let result = try fixture.run(.query(work))
            expectAsked(before, order, until: answer)
            guard let answer else {
                #expect(result == .miss)
                return
            }
            guard case .hit(let hit) = result, let model = models[answer] else {
                Issue.record("\(answer) has it")
                return
            }
            let isMemory = tiers.contains(.memory) && model.memory[key] != nil
            let wanted = isMemory ? model.memory[key] : model.disk[key]
            #expect(hit.tier == (isMemory ? .memory : .disk))
            let isResult = work.destination == .results
            let read =
                isResult
                ? fixture.results.read(hit.reference)
                : fixture.staging.read(hit.reference, published: false)
            #expect(read == wanted, "of \(answer)")
            // A newer value in memory stays.
            if isResult, work.promotes, model.memory[key] == nil {
                models[answer]?.memory[key] = wanted
            }
            if !isResult { fixture.note(fixture.stage.release([hit.reference.block], now: at(0))) }
        }

        /// Expects misses in the caches before the answering one, and no query to those after it.
        private func expectAsked(
            _ before: [String: NamedCacheStatus], _ order: [String], until answer: String?
        ) {
            let now = fixture.stage.queries
            let missed = order.prefix { $0 != answer }
            for name in CompositeWalkTests.names {
                let none = NamedCacheStatus(name: name)
                let (old, new) = (before[name] ?? none, now[name] ?? none)
                #expect(new.misses - old.misses == (missed.contains(name) ? 1 : 0), "\(name)")
                let hits = new.memoryHits + new.diskHits - old.memoryHits - old.diskHits
                #expect(hits == (name == answer ? 1 : 0), "\(name)")
            }
        }

        func store() throws {
            let (caches, key, tiers, bytes) = (caches(), key(), tiers(), bytes())
            var work = StoreWork(
                key: text(caches[0], key), source: fixture.source.put(bytes), tiers: tiers,
                delivers: Bool.random(using: &random), waitsForDisk: true, metadata: jpegFacts)
            work.caches = Array(caches.dropFirst())
            guard case .stored(let report) = try fixture.run(.store(work)) else {
                Issue.record("stored")
                return
            }
            #expect(report.tiers == tiers && report.skipped == nil, "\(report)")
            #expect((report.delivered != nil) == work.delivers)
            if let reference = report.delivered {
                #expect(fixture.results.read(reference) == bytes)
            }
            for name in caches {
                models[name]?.memory[key] = tiers.contains(.memory) ? bytes : nil
                if tiers.contains(.disk) { models[name]?.disk[key] = bytes }
            }
        }

        func remove() throws {
            let (caches, key, tiers) = (caches(), key(), tiers())
            let result = try entry(.remove, caches, key, tiers, memoryFirst: false)
            #expect(result == .entry(tiers))
            for name in caches {
                if tiers.contains(.memory) { models[name]?.memory[key] = nil }
                if tiers.contains(.disk) { models[name]?.disk[key] = nil }
            }
        }

        func contains() throws {
            let (caches, key, tiers) = (caches(), key(), tiers())
            let memoryFirst = Bool.random(using: &random)
            let order = order(caches, key, tiers, memoryFirst: memoryFirst)
            let found = order.lazy.compactMap { self.models[$0]?.tiers(key).intersection(tiers) }
                .first { !$0.isEmpty }
            let result = try entry(.contains, caches, key, tiers, memoryFirst: memoryFirst)
            #expect(result == .entry(found ?? .none))
        }

        private func entry(
            _ action: EntryAction, _ caches: [String], _ key: String, _ tiers: CacheTypes,
            memoryFirst: Bool
        ) throws -> JobResult {
            var work = EntryWork(action: action, key: text(caches[0], key), tiers: tiers)
            (work.caches, work.memoryFirst) = (Array(caches.dropFirst()), memoryFirst)
            return try fixture.run(.entry(work))
        }

        /// Cancels a job: it ends exactly once and changes nothing.
        func cancel() throws {
            let caches = caches()
            var work = QueryWork(
                key: text(caches[0], key()), tiers: tiers(), destination: .staging,
                promotes: false)
            work.caches = Array(caches.dropFirst())
            let job = fixture.begin(.query(work))
            fixture.note(fixture.stage.cancel(job, now: at(0)))
            let result = try fixture.wait { fixture.outcome(job) }
            if case .hit(let hit) = result {
                fixture.note(fixture.stage.release([hit.reference.block], now: at(0)))
            }
        }
    }

    @Test(arguments: 0..<6)
    func everyJobIsAboutTheCachesThatItNames(part: Int) throws {
        // The first parts use fixed seeds; the last one uses a new seed on each run.
        let seed = part < 5 ? UInt64(part) : UInt64.random(in: 1_000...1 << 31)
        print("a walk over several caches: seed \(seed)")
        let directory = try DiskFixture()
        let walk = try Walk(directory.path, seed: seed)
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &walk.random) {
            case 0..<4: try walk.query()
            case 4..<7: try walk.store()
            case 7: try walk.remove()
            case 8: try walk.contains()
            default: try walk.cancel()
            }
        }
        try walk.fixture.drain()
        let stage = walk.fixture.stage
        #expect(stage.rounds.isEmpty && stage.turnsEnded.isEmpty && stage.awaitedStores.isEmpty)
        let isAtWork = stage.pending.values.contains { $0.isWork }
        #expect(!isAtWork)
        #expect(walk.fixture.staging.liveBlocks == 0, "staged blocks are released")
    }
}

import Linux
import Model
import Synchronization
import Testing

@testable import Caching

/// However slow file removal is, each maintenance step is short: hits wait for at most one step.
@Suite struct StepTimeTests {
    /// A clock that advances by a second on each reading.
    private final class SlowClock: Sendable {
        private let seconds = Atomic<UInt64>(0)

        func now() -> UInt64 { seconds.add(1, ordering: .relaxed).newValue * 1_000_000_000 }
    }

    /// One length stored in the index, one in a file.
    private static let lengths = [3_000, 40_000]

    private static func tier(
        _ fixture: borrowing DiskFixture, _ policy: DiskPolicy = DiskPolicy()
    ) throws -> DiskTier {
        let clock = SlowClock()
        return DiskTier(
            directory: try CacheDirectory(path: fixture.path), policy: policy, now: at(0)
        ) { clock.now() }
    }

    private static func fill(_ tier: DiskTier, _ count: Int, length: Int) {
        for number in 0..<count {
            tier.put("\(number)", sample(length), jpegFacts, at(Int64(number)))
        }
    }

    /// The number of entries removed by each step, until nothing is left to do.
    private static func steps(_ tier: DiskTier, _ now: UnixTime) -> [Int] {
        var removed: [Int] = []
        var before = tier.usage(now)?.entries ?? 0
        while tier.maintain(now) {
            let after = tier.usage(now)?.entries ?? 0
            if after < before { removed.append(before - after) }
            before = after
        }
        return removed
    }

    @Test(arguments: lengths)
    func aSlowTrimRemovesOneEntryInAStep(length: Int) throws {
        let fixture = try DiskFixture()
        let tier = try Self.tier(fixture, DiskPolicy(countMax: 20))
        Self.fill(tier, 20, length: length)
        tier.trimNow()
        #expect(Self.steps(tier, at(20)) == [Int](repeating: 1, count: 10))
        #expect(tier.state.counts.trimmed.entries == 10)
        for number in 0..<20 {
            #expect((tier.get("\(number)", at(20)) != nil) == (number >= 10), "entry \(number)")
        }
        #expect(try fixture.bodyFiles().count == (length > DiskTier.inlineBytesMax ? 10 : 0))
    }

    @Test(arguments: lengths)
    func aSlowEndOfAgeRemovesOneEntryInAStep(length: Int) throws {
        let fixture = try DiskFixture()
        let tier = try Self.tier(fixture, DiskPolicy(ageMax: 60))
        Self.fill(tier, 8, length: length)
        #expect(Self.steps(tier, at(1_000)) == [Int](repeating: 1, count: 8))
        #expect(tier.state.counts.expired.entries == 8)
        #expect(try fixture.bodyFiles().isEmpty)
    }

    @Test(arguments: lengths)
    func aSlowRemovalOfASelectionGoesOnWhereItWas(length: Int) throws {
        let fixture = try DiskFixture()
        let tier = try Self.tier(fixture)
        Self.fill(tier, 12, length: length)
        var selection = EntrySelection()
        selection.prefix = "1"
        var scan = DiskScan(selection: DiskSelection(selection, at(20)), purpose: .remove)
        var counts: [UInt64] = []
        while true {
            let step = try #require(tier.scan(scan, at(20)))
            counts.append(step.count.entries)
            scan.upTo = step.upTo
            guard let next = step.next else { break }
            scan.after = next
        }
        // Entries 1, 10 and 11.
        #expect(counts == [1, 1, 1])
        #expect(tier.usage(at(20))?.entries == 9)
        #expect(tier.get("10", at(20)) == nil && tier.get("2", at(20)) != nil)
    }

    @Test func slowTrashIsRemovedFileByFile() throws {
        let fixture = try DiskFixture()
        let tier = try Self.tier(fixture)
        // Several per bucket, of which there are 256.
        for number in 0..<600 { tier.put("\(number)", sample(17_000), jpegFacts, at(0)) }
        #expect(tier.clear(at(1)))
        var steps = 0
        while tier.maintain(at(1)) { steps += 1 }
        #expect(steps >= 600)
        let trash = try FileDescriptor.openDirectory("\(fixture.path)/trash")
        #expect(try trash.entries().isEmpty)
    }

    /// A lost index is rebuilt from the files; unknown files are removed, one per step.
    @Test func aSlowSweepLooksAtOneFileInAStep() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            Self.fill(tier, 700, length: 17_000)
        }
        let root = try FileDescriptor.openDirectory(fixture.path)
        for suffix in ["", "-wal", "-shm"] { try? root.unlink(DiskTier.indexName + suffix) }
        let tier = try Self.tier(fixture)
        var found: [Int] = []
        while tier.maintain(at(700)) { found.append(try #require(tier.usage(at(700))).entries) }
        let steps = zip(found, [0] + found).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 == 0 || $0 == 1 })
        #expect(found.last == 700)
        #expect(tier.get("0", at(700)) != nil && tier.get("699", at(700)) != nil)
    }

    @Test func slowUsesAreWrittenOneInAStep() throws {
        let fixture = try DiskFixture()
        let tier = try Self.tier(fixture)
        Self.fill(tier, 20, length: 100)
        tier.maintainAll(at(20))
        tier.touch((0..<20).map { "\($0)" }, at(30))
        var left: [Int] = []
        while tier.maintain(at(40)) { left.append(tier.accesses.times.count) }
        #expect(left == Array((1..<20).reversed()))
        #expect(tier.accesses.times.isEmpty)
        for number in 0..<20 { #expect(tier.locate("\(number)", at(40))?.accessed == at(30)) }
    }

    @Test func aFastTrimRemovesManyInAStep() throws {
        let fixture = try DiskFixture()
        let tier = DiskTier(
            directory: try CacheDirectory(path: fixture.path), policy: DiskPolicy(countMax: 400),
            now: at(0)
        ) { 0 }
        Self.fill(tier, 400, length: 100)
        tier.trimNow()
        #expect(Self.steps(tier, at(400)) == [128, 72])
    }

    /// A checkpoint of the log waits for the device: done once, not in each step.
    @Test func theIndexGivesItsPagesBackBitByBit() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        Self.fill(tier, 40, length: 12_000)
        for number in 0..<40 { #expect(tier.remove("\(number)", at(40))) }
        let index = try #require(tier.index)
        let root = try FileDescriptor.openDirectory(fixture.path)
        let logName = "\(DiskTier.indexName)-wal"
        var steps = 1
        while try index.shrink(pages: 16) {
            #expect(try root.status(of: logName).size > 0, "step \(steps)")
            steps += 1
        }
        // Three pages per body.
        #expect((7...12).contains(steps), "\(steps)")
        #expect(try root.status(of: logName).size == 0)
        #expect(try root.status(of: DiskTier.indexName).size < 25 * 4_096)
    }
}

import Model
import Testing

@testable import Caching

/// A clock that was ten years ahead is corrected: no entry vanishes, and none stays for ten years.
@Suite struct ClockSetBackTests {
    private let ahead: Int64 = 10 * 365 * 86_400

    @Test(arguments: ExpireType.allCases)
    func entriesOfTheFutureAreThereAndAgeFromNowOn(type: ExpireType) throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(
            DiskPolicy(ageMax: 1_000, expireType: type), now: at(ahead))
        for number in 0..<300 {
            tier.put("\(number)", sample(number < 5 ? 20_000 : 50), jpegFacts, at(ahead))
        }
        tier.touch(["7"], at(ahead + 1))
        tier.maintainAll(at(ahead + 2))
        #expect(tier.get("0", at(0)) != nil, "nothing vanishes")
        tier.maintainAll(at(0))
        for number in [0, 4, 5, 7, 299] {
            let row = try #require(tier.locate("\(number)", at(0)))
            #expect([row.created, row.stored, row.accessed].allSatisfy { $0 <= at(0) })
        }
        tier.maintainAll(at(999))
        #expect(tier.usage(at(999))?.entries == 300)
        tier.maintainAll(at(1_070))
        #expect(tier.usage(at(1_070))?.entries == 0, "nothing stays for ten years")
        #expect(try fixture.bodyFiles().isEmpty)
    }

    @Test func usesThatWereNotedAheadAreWrittenAndCorrected() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(50), jpegFacts, at(0))
        tier.touch(["a"], at(ahead))
        tier.maintainAll(at(5))
        #expect(tier.accesses.times.isEmpty, "they do not wait for ten years")
        tier.maintainAll(at(70))
        #expect(try #require(tier.locate("a", at(70))).accessed <= at(70))
    }

    @Test func filesThatAreTakenInAgainAreCorrectedToo() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier(now: at(ahead)).put("a", sample(40_000), jpegFacts, at(ahead)) }
        try fixture.removeIndex()
        let tier = try fixture.tier(DiskPolicy(ageMax: 1_000, expireType: .modification))
        tier.maintainAll(at(0))
        #expect(tier.get("a", at(1)) != nil)
        tier.maintainAll(at(70))
        tier.maintainAll(at(1_080))
        #expect(tier.usage(at(1_080))?.entries == 0)
    }

    @Test func aDiskThatFailedIsTriedAgainSoon() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.degrade(DiskError(.full, "no space"), at(ahead))
        #expect(!tier.isRetryDue(at(ahead + 1)))
        tier.maintainAll(at(0))
        #expect(tier.state.health == .healthy)
    }

    @Test func entriesInMemoryKeepWhatWasLeftOfTheirTime() throws {
        let fixture = try DiskFixture()
        let disk = DiskPolicy(ageMax: 1_000, expireType: .modification)
        let cache = try StageFixture(fixture.path, policy: CachePolicy(disk: disk))
        cache.now = at(ahead)
        cache.note(cache.stage.tick(now: cache.now))
        _ = try cache.put("k", sample(100))
        cache.now = at(ahead + 600)
        cache.note(cache.stage.tick(now: cache.now))
        cache.now = at(0)
        cache.note(cache.stage.tick(now: cache.now))
        cache.now = at(399)
        #expect(try cache.get("k", .memory) != nil)
        cache.now = at(401)
        #expect(try cache.get("k", .memory) == nil)
    }
}

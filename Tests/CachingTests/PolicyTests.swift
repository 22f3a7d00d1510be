import Model
import Testing

@testable import Caching

/// Cache settings of the operator (SEMANTICS §5.12).
@Suite struct PolicyTests {
    private func settings(_ texts: [CacheSetting: String]) -> CacheSettings {
        var settings = CacheSettings()
        for (setting, text) in texts { settings[setting] = setting.value(of: text) }
        return settings
    }

    private func policy(_ texts: [CacheSetting: String]) -> CachePolicy {
        var policy = CachePolicy()
        policy.apply(settings(texts))
        return policy
    }

    @Test func everySettingChangesThePolicy() {
        let texts: [CacheSetting: String] = [
            .memoryLimit: "3M", .memoryEntries: "7", .diskLimit: "5M", .diskEntries: "9",
            .maxAge: "2h", .expireType: "creation", .lowWater: "80", .memoryCache: "no",
            .diskCache: "no", .diskFirstUse: "no", .writeBehind: "no",
        ]
        for setting in CacheSetting.allCases {
            let text = texts[setting] ?? ""
            #expect(policy([setting: text]) != CachePolicy(), "\(setting.rawValue) does nothing")
        }
        let all = policy(texts)
        #expect(all.memoryBytesMax == 3 << 20 && all.memoryCountMax == 7)
        #expect(all.disk.bytesMax == 5 << 20 && all.disk.countMax == 9)
        #expect(all.disk.ageMax == 7_200 && all.disk.expireType == .creation)
        #expect(all.disk.lowWaterPercent == 80)
        #expect(!all.usesMemory && !all.usesDisk && !all.writesBehind)
        #expect(!all.writesFirstUse)
        #expect(policy([.maxAge: "never"]).disk.ageMax < 0)
        #expect(policy([.diskLimit: "none"]).disk.bytesMax == 0)
    }

    @Test func aDiskTierTakesATenthOfItsFileSystemAndTenGibibytesAtMost() {
        let gibibyte: UInt64 = 1 << 30
        for (total, limit) in [
            (0, 10 * gibibyte), (1 << 20, 1 << 20), (20 * gibibyte, 2 * gibibyte),
            (100 * gibibyte, 10 * gibibyte), (.max, 10 * gibibyte),
        ] {
            #expect(CacheSetting.usualDiskLimit(ofFileSystem: total) == limit, "\(total)")
        }
    }

    @Test func theWordsOfTheExpireTypeAreUpstreamsNumbers() {
        #expect(CacheSetting.expireTypes.count == ExpireType.allCases.count)
        for (type, word) in zip(ExpireType.allCases, CacheSetting.expireTypes) {
            #expect("\(type)" == word)
            #expect(policy([.expireType: word]).disk.expireType == type)
        }
    }

    @Test func memoryThatIsSwitchedOffKeepsNothingAndDelivers() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: policy([.memoryCache: "no"]))
        let report = try cache.put("a", sample(30_000), delivers: true)
        #expect(report.tiers == .disk && report.skipped == "memory: disabled")
        #expect(cache.results.read(try #require(report.delivered)) == sample(30_000))
        #expect(try cache.get("a")?.1 == .disk)
        #expect(try cache.get("a")?.1 == .disk, "and is not promoted")
        #expect(cache.stage.status().memoryEntries == 0)
    }

    /// Earlier entries that were replaced while the disk was off are not served when it is switched
    /// on again.
    @Test func aDiskThatIsSwitchedOffGivesAndTakesNothing() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        for key in ["a", "b"] { _ = try cache.put(key, sample(30_000), .disk) }
        cache.note(cache.stage.adopt(policy([.diskCache: "no"]), now: at(0)))
        #expect(try cache.query("a") == .miss)
        let report = try cache.put("a", sample(30_000, seed: 2))
        #expect(report.tiers == .memory && report.skipped == "disk: disabled")
        cache.note(cache.stage.adopt(CachePolicy(), now: at(0)))
        #expect(try cache.query("a", .disk) == .miss, "the older value went")
        #expect(try cache.get("b", .disk)?.bytes == sample(30_000))
    }

    @Test func withoutWriteBehindAStoreIsAnsweredByTheDisk() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: policy([.writeBehind: "no"]))
        let report = try cache.put("a", sample(30_000), waits: false)
        #expect(report.tiers == .all)
        #expect(cache.stage.pendingWrites == 0)
        #expect(cache.stage.diskStatus?.usage?.entries == 1)
    }

    @Test func namedCachesMayDoWithoutATier() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let named = ["x": policy([.diskCache: "no"]), "y": policy([.memoryCache: "no"])]
        cache.note(cache.stage.adopt(CachePolicy(), named: named, now: at(0)))
        for name in ["", "x\u{1F}", "y\u{1F}"] { _ = try cache.put(name + "k", sample(9_000)) }
        #expect(try cache.tiers(of: "k") == .all)
        #expect(try cache.tiers(of: "x\u{1F}k") == .memory)
        #expect(try cache.tiers(of: "y\u{1F}k") == .disk)
    }

    @Test func neitherTierHasMoreEntriesThanItMay() throws {
        let disk = try DiskFixture()
        let limits = policy([.memoryEntries: "3", .diskEntries: "4"])
        let cache = try StageFixture(disk.path, policy: limits)
        for number in 0..<20 {
            _ = try cache.put("\(number)", sample(9_000))
            #expect(cache.stage.status().memoryEntries <= 3)
            #expect(cache.stage.diskStatus?.usage?.entries ?? 0 <= 4)
        }
        #expect(try cache.get("19") != nil)
        #expect(cache.stage.diskStatus?.counts.trimmed.entries ?? 0 >= 16)
        // Existing entries are trimmed to the new limits as well.
        cache.note(
            cache.stage.adopt(policy([.memoryEntries: "1", .diskEntries: "1"]), now: at(0)))
        #expect(cache.stage.status().memoryEntries == 1)
    }

    @Test(arguments: ExpireType.allCases)
    func anotherDateCountsAtOnce(type: ExpireType) throws {
        let disk = try DiskFixture()
        let tier = try disk.tier(DiskPolicy(ageMax: 100, expireType: .access))
        tier.put("a", sample(30_000), jpegFacts, at(0))
        tier.put("a", sample(30_000, seed: 2), jpegFacts, at(60))
        #expect(tier.get("a", at(90)) != nil)
        tier.adopt(DiskPolicy(ageMax: 100, expireType: type), at(90))
        // Used at 90, stored at 60, first stored under its key at 0.
        let end: Int64 =
            switch type {
            case .access: 190
            case .modification, .change: 160
            case .creation: 100
            }
        tier.flush(at(90))
        #expect(tier.locate("a", at(end - 1)) != nil)
        #expect(tier.locate("a", at(end)) == nil)
    }

    @Test func theMemoryTierIsAPartOfWhatTheGroupMayUse() {
        #expect(CachePolicy.memoryBytes(ofLimit: nil) == 256 << 20)
        #expect(CachePolicy.memoryBytes(ofLimit: 2 << 30) == 512 << 20)
        #expect(CachePolicy.memoryBytes(ofLimit: 1 << 20) == 16 << 20)
        #expect(CachePolicy.memoryBytes(ofLimit: 1 << 40) == 4 << 30)
    }
}

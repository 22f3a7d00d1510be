import Linux
import TestKit
import Testing

@testable import Caching

/// The limit of the disk tier applies to everything in its directory.
@Suite struct DiskLimitTests {
    /// Bodies in the index only, in files only, and in both.
    @Test(arguments: [(0, 16_384), (16_385, 60_000), (0, 60_000), (0, 900)])
    func theWholeDirectoryStaysBelowTheLimit(shortest: Int, longest: Int) throws {
        let fixture = try DiskFixture()
        let policy = DiskPolicy(bytesMax: 3 << 19, lowWaterPercent: 70)
        let tier = try fixture.tier(policy)
        var random = SeededGenerator(seed: UInt64(longest))
        var largest = 0
        let writes = longest < 1_000 ? 1_600 : 300
        for number in 0..<writes {
            let length = Int.random(in: shortest...longest, using: &random)
            tier.put("https://a.test/\(number)", sample(length), originalFacts, at(Int64(number)))
            guard number % 50 == 49 else { continue }
            tier.maintainAll(at(Int64(number)))
            let bytes = try fixture.diskBytes()
            largest = max(largest, bytes)
            #expect(bytes <= policy.bytesMax, "after \(number) writes")
        }
        #expect(largest > policy.bytesMax / 2, "the limit was reached for: \(largest)")
    }

    @Test func theLogOfAnUnlimitedIndexIsCut() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        for number in 0..<1_500 { tier.put("\(number)", sample(12_000), jpegFacts, at(0)) }
        tier.touch((0..<1_500).map { "\($0)" }, at(60))
        tier.maintainAll(at(60))
        #expect(try #require(tier.usage(at(60))).overhead < 12 << 20)
    }
}

extension DiskFixture {
    /// The disk usage of all files, counted in blocks.
    func diskBytes() throws -> Int {
        let root = try FileDescriptor.openDirectory(path)
        let top = try names().filter { try root.status(of: $0).type == .regular }
        return try (top + bodyFiles()).reduce(0) { sum, name in
            sum + (try root.status(of: name).size + 4095) / 4096 * 4096
        }
    }
}

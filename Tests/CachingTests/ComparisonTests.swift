import Model
import Testing

@testable import Caching

/// Whether a payload equals a staged original.
@Suite struct ComparisonTests {
    private func compare(
        _ cache: StageFixture, _ bytes: [UInt8], with block: BlockID
    ) throws -> JobResult {
        try cache.run(
            .store(
                StoreWork(
                    key: nil, source: cache.source.put(bytes), tiers: .none, delivers: false,
                    waitsForDisk: false,
                    metadata: StoredMetadata(
                        info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))),
                    comparedWith: block)))
    }

    @Test(arguments: [100, (1 << 20) + 3])
    func theSameBytesAreFoundToBeTheSame(length: Int) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let bytes = sample(length)
        _ = try cache.put("k", bytes)
        guard case .hit(let hit) = try cache.query("k", .all, .staging) else {
            Issue.record("it is stored")
            return
        }
        let block = hit.reference.block
        var other = bytes
        other[length - 1] ^= 1
        for (bytes, isSame) in [(bytes, true), (other, false), (Array(bytes.dropLast()), false)] {
            let report = StoreReport(delivered: nil, tiers: .none, isSame: isSame)
            #expect(try compare(cache, bytes, with: block) == .stored(report))
        }
        cache.note(cache.stage.release([block], now: cache.now))
        let unknown = StoreReport(delivered: nil, tiers: .none)
        #expect(try compare(cache, bytes, with: block) == .stored(unknown))
        #expect(cache.staging.liveBlocks == 0)
    }

    @Test func aStoreToTheDiskAloneEndsTheOlderValueInMemory() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("k", sample(100))
        _ = try cache.put("k", sample(200), .disk)
        #expect(try cache.get("k")?.bytes == sample(200))
    }
}

import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Results of an earlier pipeline revision are misses (SEMANTICS §5.27).
@Suite struct RevisionTests {
    private static let result = "http://h/a-ImagebusGrayscaleTransformer().jpg"
    private static let original = "http://h/a.jpg"
    /// In the index and in files.
    private static let lengths = [900, 40_000]

    private static var older: StoredMetadata {
        var properties = jpegFacts
        properties.revision = 0
        return properties
    }

    private func fill(_ disk: borrowing DiskFixture, _ properties: StoredMetadata) throws {
        let tier = try disk.tier()
        for length in Self.lengths {
            tier.put("\(length)" + Self.result, sample(length), properties)
            tier.put("\(length)" + Self.original, sample(length), properties)
        }
    }

    private func expect(_ cache: StageFixture, results: Bool) throws {
        for length in Self.lengths {
            let (result, original) = ("\(length)" + Self.result, "\(length)" + Self.original)
            #expect(try (cache.get(original) != nil), "\(length)")
            #expect(try (cache.tiers(of: result) == CacheTypes.disk) == results, "\(length)")
            #expect(try (cache.get(result) != nil) == results, "\(length)")
        }
    }

    @Test(arguments: [true, false])
    func anOlderResultIsAMiss(isOlder: Bool) throws {
        let disk = try DiskFixture()
        try fill(disk, isOlder ? Self.older : jpegFacts)
        try expect(StageFixture(disk.path), results: !isOlder)
    }

    /// The rows of 129fceac: its values in `samples` fit into one byte.
    @Test func aRowWithoutARevisionIsOlder() throws {
        let disk = try DiskFixture()
        try fill(disk, jpegFacts)
        try Connection(path: disk.path + "/index.sqlite")
            .execute("UPDATE entries SET samples = samples & 255")
        try expect(StageFixture(disk.path), results: false)
    }

    /// A rebuilt index takes the revision from the files.
    @Test(arguments: [true, false])
    func filesKeepTheRevision(isOlder: Bool) throws {
        let disk = try DiskFixture()
        let properties = isOlder ? Self.older : jpegFacts
        let tier = try disk.tier()
        tier.put(Self.result, sample(40_000), properties)
        let header = BodyHeader(
            key: Self.result, bodyLength: 1, checksum: 2, created: at(0), stored: at(0),
            metadata: properties)
        #expect(
            try BodyHeader(#require(header.encoded()))?.metadata.revision == properties.revision)
    }

    @Test func aNewResultTakesThePlaceOfAnOlderOne() throws {
        let disk = try DiskFixture()
        try fill(disk, Self.older)
        let key = "900" + Self.result
        do {
            let cache = try StageFixture(disk.path)
            #expect(try cache.query(key) == .miss)
            #expect(try cache.put(key, sample(700, seed: 9)).tiers == .all)
            try cache.drain()
            #expect(try cache.get(key)?.bytes == sample(700, seed: 9))
        }
        #expect(try StageFixture(disk.path).get(key)?.bytes == sample(700, seed: 9))
    }

    /// Results stored by a coordinator of an earlier version are not served to one of this version.
    @Test func memoryAnswersNoOlderResult() throws {
        let cache = try StageFixture(nil)
        for (key, isAnswered) in [(Self.result, false), (Self.original, true)] {
            let work = StoreWork(
                key: key, source: cache.source.put(sample(500)), tiers: .memory, delivers: false,
                waitsForDisk: false, metadata: Self.older)
            _ = try cache.run(.store(work))
            #expect(try (cache.get(key) != nil) == isAnswered)
            let noticed = cache.stage.notices(now: cache.now).contains { $0.key == key }
            #expect(noticed == isAnswered)
        }
    }

    @Test func aReadOnlyDirectoryAnswersNoOlderResult() throws {
        let other = try DiskFixture()
        try fill(other, Self.older)
        let cache = try StageFixture(nil)
        cache.note(cache.stage.adopt(CachePolicy(), readOnly: ["": [other.path]], now: cache.now))
        try cache.wait {
            cache.stage.directoryStatuses.allSatisfy { !$0.reason.contains("not checked") }
                ? true : nil
        }
        for length in Self.lengths {
            #expect(try cache.get("\(length)" + Self.original) != nil)
            #expect(try cache.query("\(length)" + Self.result) == .miss)
        }
    }
}

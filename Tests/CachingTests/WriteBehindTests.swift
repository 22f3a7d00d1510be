import Model
import Testing

@testable import Caching

private func body(_ bytes: Int) throws -> Body { try Body(in: .other(HeapSpace()), length: bytes) }

@Suite struct WriteBehindTests {
    @Test func itAnswersFromTheStoreToTheCommit() throws {
        var queue = WriteBehind(bytesMax: 1 << 20)
        _ = queue.add(key: "a", body: try body(100), metadata: jpegFacts, stored: at(0))
        #expect(queue.write(of: "a")?.body.length == 100)
        #expect(queue.next().map(\.key) == ["a"])
        #expect(queue.write(of: "a") != nil, "still in flight")
        #expect(queue.next().isEmpty, "one group at a time")
        queue.finish()
        #expect(queue.write(of: "a") == nil)
        #expect(queue.isEmpty)
        #expect(queue.bytes == 0)
    }

    @Test func whatIsOverTheBoundIsSkippedAndCounted() throws {
        var queue = WriteBehind(bytesMax: 3_000)
        #expect(
            queue.add(key: "a", body: try body(2_000), metadata: jpegFacts, stored: at(0)) != nil)
        #expect(
            queue.add(key: "b", body: try body(2_000), metadata: jpegFacts, stored: at(0)) == nil)
        #expect(queue.skipped == 1)
        #expect(queue.write(of: "b") == nil)
        #expect(queue.bytes == 2_000 + 1 + MemoryTier.overhead)
    }

    /// Entries that exactly fill the limit fit; one byte more does not.
    @Test(arguments: [(0, true), (1, false)])
    func theBoundIsExact(more: Int, hasRoom: Bool) throws {
        let entry = 1 + MemoryTier.overhead
        var queue = WriteBehind(bytesMax: 3_000 + 2 * entry)
        func add(_ key: String, _ length: Int) throws -> Bool {
            queue.add(key: key, body: try body(length), metadata: jpegFacts, stored: at(0)) != nil
        }
        #expect(try add("a", 1_000))
        #expect(queue.hasRoom(key: "b", length: 2_000 + more, partBytes: 0) == hasRoom)
        #expect(try add("b", 2_000 + more) == hasRoom)
        // A waiting write of the same key is replaced and no longer counts.
        #expect(try add("a", hasRoom ? 1_000 : 3_001))
        #expect(queue.skipped == (hasRoom ? 0 : 2))
        _ = queue.next()
        queue.finish()
        #expect(queue.bytes == 0 && queue.isEmpty)
    }

    /// Tags and extended data count as well.
    @Test func tagsTakeRoom() throws {
        var metadata = jpegFacts
        metadata.tags = ["shop", "winter:2026"]
        let entry = 1 + MemoryTier.overhead
        var queue = WriteBehind(bytesMax: 1_000 + metadata.partBytes + entry - 1)
        #expect(metadata.partBytes > 1)
        #expect(
            queue.add(key: "a", body: try body(1_000), metadata: metadata, stored: at(0)) == nil)
        #expect(queue.skipped == 1 && queue.bytes == 0)
    }

    /// A write in flight counts until it is done, even if a newer one of its key waits.
    @Test func whatIsUnderWayMakesNoRoom() throws {
        var queue = WriteBehind(bytesMax: 3_000)
        _ = queue.add(key: "a", body: try body(2_000), metadata: jpegFacts, stored: at(0))
        _ = queue.next()
        #expect(
            queue.add(key: "a", body: try body(2_000), metadata: jpegFacts, stored: at(0)) == nil)
        queue.finish()
        #expect(
            queue.add(key: "a", body: try body(2_000), metadata: jpegFacts, stored: at(0)) != nil)
    }

    @Test func aNewerBodyOfAKeyTakesThePlaceOfOneThatWaits() throws {
        var queue = WriteBehind(bytesMax: 3_000)
        let first = try #require(
            queue.add(key: "a", body: try body(2_000), metadata: jpegFacts, stored: at(0)))
        let second = try #require(
            queue.add(key: "a", body: try body(2_100), metadata: jpegFacts, stored: at(1)))
        #expect(second.replaced == first.number)
        #expect(queue.count == 1)
        #expect(queue.next().map(\.body.length) == [2_100])
    }

    @Test func aNewerBodyWaitsBehindOneThatIsUnderWay() throws {
        var queue = WriteBehind(bytesMax: 1 << 20)
        _ = queue.add(key: "a", body: try body(1), metadata: jpegFacts, stored: at(0))
        _ = queue.next()
        _ = queue.add(key: "a", body: try body(2), metadata: jpegFacts, stored: at(1))
        #expect(queue.write(of: "a")?.body.length == 2)
        queue.finish()
        #expect(queue.write(of: "a")?.body.length == 2)
        #expect(queue.next().map(\.body.length) == [2])
    }

    @Test func whatWaitsIsOneGroupWithinItsLimits() throws {
        var queue = WriteBehind(bytesMax: 64 << 20)
        func add(_ count: Int, of length: Int) throws {
            for number in 0..<count {
                let body = try body(length)
                _ = queue.add(
                    key: "\(length)-\(number)", body: body, metadata: jpegFacts, stored: at(0))
            }
        }
        try add(WriteBehind.groupMax + 3, of: 10)
        #expect(queue.next().count == WriteBehind.groupMax)
        queue.finish()
        #expect(queue.next().count == 3)
        queue.finish()
        try add(5, of: WriteBehind.groupBytesMax / 2)
        #expect(queue.next().count == 2, "limited in bytes")
        queue.finish()
        #expect(queue.next().count == 2)
        queue.finish()
        _ = queue.next()
        queue.finish()
        try add(2, of: WriteBehind.groupBytesMax * 2)
        #expect(queue.next().count == 1, "a longer one is a group by itself")
        #expect(queue.count == 2)
    }

    @Test func aRemovedKeyIsNotWrittenAndAnswersNoMore() throws {
        var queue = WriteBehind(bytesMax: 1 << 20)
        let number = try #require(
            queue.add(key: "a", body: try body(1), metadata: jpegFacts, stored: at(0))
        ).number
        _ = queue.add(key: "b", body: try body(1), metadata: jpegFacts, stored: at(0))
        #expect(queue.remove("a") == number)
        #expect(queue.remove("absent") == nil)
        #expect(queue.write(of: "a") == nil)
        #expect(queue.next().map(\.key) == ["b"])
        #expect(queue.removeAll() == [])
        #expect(queue.write(of: "b") == nil, "in flight, but no longer found")
        queue.finish()
        #expect(queue.bytes == 0)
    }

    @Test func aQueryBeforeTheDiskHasItIsAHit() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        for number in 0..<20 {
            _ = cache.begin(
                cache.storing(
                    "k\(number)", sample(40_000, seed: UInt64(number)), .disk, waits: false))
        }
        // Nothing has been collected yet: all but the first are still waiting.
        let id = cache.begin(
            .query(QueryWork(key: "k19", tiers: .disk, destination: .results, promotes: false)))
        guard case .hit(let hit)? = cache.outcome(id) else {
            Issue.record("answered at once")
            return
        }
        #expect(hit.tier == .disk)
        #expect(cache.results.read(hit.reference) == sample(40_000, seed: 19))
        #expect(cache.stage.tiersInMemory(of: "k19", now: at(0)) == .disk)
    }

    @Test func aStoreOverTheBoundSaysSoAndIsCounted() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(writeBehindBytesMax: 100_000))
        let report = try cache.put("big", sample(200_000))
        #expect(report.tiers == .memory)
        #expect(report.skipped == "disk: the write-behind queue is full")
        let diskOnly = try cache.put("big", sample(200_000), .disk)
        #expect(diskOnly.tiers == .none)
        #expect(cache.stage.writeBehind.skipped == 2)
    }
}

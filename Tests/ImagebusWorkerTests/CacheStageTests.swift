import Glibc
import Linux
import Model
import ProcessRuntime
import Synchronization
import TestKit
import Testing

@testable import ImagebusWorker

@Suite struct CacheStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    private final class Kept: Cache {
        let entries = Mutex<[String: [UInt8]]>([:])
        let saysKeys: Bool

        init(saysKeys: Bool = true) { self.saysKeys = saysKeys }

        func get(_ key: String) throws -> [UInt8]? { entries.withLock { $0[key] } }
        func put(_ key: String, _ data: [UInt8], expires: Double?) throws -> Bool {
            entries.withLock { $0[key] = data }
            return true
        }
        func remove(_ key: String) throws { entries.withLock { $0[key] = nil } }
        func keys() throws -> [String]? { saysKeys ? entries.withLock { $0.keys.sorted() } : nil }
    }

    /// Lists ten keys per call.
    private final class Stepwise: Cache {
        let kept = Kept()
        let pause: Int
        private let listed = Mutex<[String]>([])

        init(pause: Int = 0) { self.pause = pause }

        func get(_ key: String) throws -> [UInt8]? { try kept.get(key) }
        func put(_ key: String, _ data: [UInt8], expires: Double?) throws -> Bool {
            try kept.put(key, data, expires: expires)
        }
        func remove(_ key: String) throws { try kept.remove(key) }
        func count() throws -> Int? { try kept.keys()?.count }
        func scan(after: UInt64) throws -> (keys: [String], next: UInt64)? {
            if after == 0 {
                let keys = try kept.keys() ?? []
                listed.withLock { $0 = keys }
            }
            usleep(UInt32(pause) * 1_000)
            return listed.withLock { all in
                let end = min(Int(after) + 10, all.count)
                return (Array(all[Int(after)..<end]), end == all.count ? 0 : UInt64(end))
            }
        }
    }

    private func stage<Author: Cache>(_ cache: Author) -> CacheStage<Author> {
        CacheStage(cache: cache, log: bench.log) { (_, target) throws(ImageError) in
            target.copyBytes(from: Array("image".utf8))
        }
    }

    private func perform(
        _ work: JobWork, _ stage: CacheStage<some Cache>, isCancelled: Bool = false
    ) throws(ImageError) -> JobResult {
        let report = LoadReport(
            millisecondsLeft: 60_000, bytesMax: 10, wantsProgress: false, send: { _, _ in })
        if isCancelled { report.cancel() }
        return try stage.perform(work, stage.turn(for: work), output: bench.arena, report)
    }

    private func store(
        _ key: String, tags: [String] = [], etag: String? = nil, born: Int64? = nil
    ) -> JobWork {
        var metadata = StoredMetadata(
            info: ImageInfo(format: .png, size: PixelSize(width: 3, height: 2)), etag: etag,
            caching: born.map(caching))
        metadata.tags = tags
        return .store(
            StoreWork(
                key: key,
                source: BlockReference(segment: 1, offset: 64, length: 5, block: BlockID(1)),
                tiers: .disk, delivers: false, waitsForDisk: true, metadata: metadata))
    }

    private func query(_ key: String, bytesMax: UInt64 = 5) -> JobWork {
        var work = QueryWork(key: key, tiers: .disk, destination: .staging, promotes: false)
        work.bytesMax = bytesMax
        return .query(work)
    }

    private func remove(
        _ selection: EntrySelection, after: UInt64 = 0, inSteps: Bool = false
    ) -> JobWork {
        var work = EntryWork(
            action: .removeSelected, key: "", tiers: .disk, selection: selection, after: after)
        work.inSteps = inSteps
        return .entry(work)
    }

    private func caching(_ born: Int64) -> OriginCaching {
        OriginCaching(CacheControl("max-age=60"), ResponseAge(bornMilliseconds: born))
    }

    @Test func whatIsStoredIsFoundWithinItsLimit() throws {
        let stage = stage(Kept())
        #expect(try perform(query("a"), stage) == .miss)
        #expect(
            try perform(store("a"), stage) == .stored(StoreReport(delivered: nil, tiers: .disk)))
        let hit = try #require(try perform(query("a"), stage).found)
        #expect(try bench.bytes(hit.reference) == Array("image".utf8))
        #expect(hit.tier == .disk && hit.metadata.info.size == PixelSize(width: 3, height: 2))
        #expect(try perform(query("a", bytesMax: 4), stage) == .miss)
        let entry = EntryWork(action: .remove, key: "a", tiers: .disk)
        #expect(try perform(.entry(entry), stage) == .entry(.disk))
        #expect(try perform(query("a"), stage) == .miss)
    }

    /// Records with a digest of other bytes or with a length past the end.
    @Test func aRecordThatLiesIsAMiss() throws {
        let cache = Kept()
        let stage = stage(cache)
        _ = try perform(store("a"), stage)
        let whole = try #require(try cache.get("a"))
        func answer(_ record: [UInt8]) throws -> JobResult {
            _ = try cache.put("a", record, expires: nil)
            return try perform(query("a"), stage)
        }
        var (others, beyond, undigested) = (whole, whole, whole)
        others.replaceSubrange((whole.count - 5)..., with: Array("other".utf8))
        beyond.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
        undigested.replaceSubrange(16..<32, with: [UInt8](repeating: 0, count: 16))
        let lies = [others, beyond, undigested, whole.dropLast(), whole + [0], []]
        for (number, lie) in lies.enumerated() {
            #expect(try answer(lie) == .miss, "\(number)")
        }
        // Empty bytes aren't an image, whatever the digest is.
        let empty = try CacheRecord.packed(
            StoredMetadata(info: ImageInfo(format: .png, size: PixelSize(width: 3, height: 2))),
            stored: 1, bodyByteCount: 0
        ) { _ in }
        #expect(try CacheRecord(empty)?.body.isEmpty == true)
        #expect(try answer(empty) == .miss)
        #expect(try answer(whole).found != nil)
    }

    @Test func aCancelledStoreKeepsNothing() throws {
        let cache = Kept()
        let error = refusal { try perform(store("a"), stage(cache), isCancelled: true) }
        #expect(error?.code == .cancelled && cache.entries.withLock { $0.isEmpty })
    }

    @Test func whatIsMeantIsRemoved() throws {
        let cache = Kept()
        let stage = stage(cache)
        for key in ["c\u{1F}http://h/a", "c\u{1F}http://h/b", "d\u{1F}http://h/a"] {
            _ = try perform(store(key, tags: key.hasSuffix("b") ? ["red"] : []), stage)
        }
        _ = try perform(remove(EntrySelection(cache: "c", olderThanSeconds: 60)), stage)
        #expect(cache.entries.withLock { $0.count } == 3)
        _ = try perform(remove(EntrySelection(cache: "c", tag: "red")), stage)
        #expect(try cache.keys() == ["c\u{1F}http://h/a", "d\u{1F}http://h/a"])
        _ = try perform(remove(EntrySelection(cache: "c")), stage)
        #expect(try cache.keys() == ["d\u{1F}http://h/a"])
        for selection in [EntrySelection(), EntrySelection(prefix: "http:")] {
            let error = refusal {
                try perform(remove(selection), self.stage(Kept(saysKeys: false)))
            }
            #expect(error?.code == .notSupported)
        }
    }

    @Test func whatIsMeantIsRemovedInSteps() throws {
        let cache = Stepwise(pause: 110)
        let stage = stage(cache)
        for number in 10..<35 {
            _ = try perform(store("\(number)", tags: number % 2 == 0 ? ["red"] : []), stage)
        }
        var (after, pages) = (UInt64(0), [EntryPage]())
        repeat {
            let work = remove(EntrySelection(tag: "red"), after: after, inSteps: true)
            let page = try #require(try perform(work, stage).page)
            pages.append(page)
            after = page.next
        } while after != 0
        #expect(pages.map(\.examined) == [10, 10, 5] && pages.map(\.total) == [20, 15, 12])
        #expect(pages.map(\.disk.entries) == [5, 5, 3])
        #expect(try cache.kept.keys()?.count == 12)
        // A coordinator that doesn't request steps gets the result in one.
        let page = try #require(try perform(remove(EntrySelection(prefix: "")), stage).page)
        #expect(page.next == 0 && page.disk.entries == 12)
        #expect(try cache.kept.keys() == [])
    }

    @Test func whatConfirmsAnEntryCountsBesideItAlone() throws {
        let cache = Kept()
        let stage = stage(cache)
        func known() throws -> Validity? {
            var work = EntryWork(action: .contains, key: "k", tiers: .disk)
            work.wantsValidity = true
            if case .validity(let known) = try perform(.entry(work), stage) { return known }
            return nil
        }
        func renew(_ etag: String, _ born: Int64) throws -> JobResult {
            var work = EntryWork(action: .renew, key: "k", tiers: .disk)
            work.renewal = Validity(caching: caching(born), etag: etag)
            return try perform(.entry(work), stage)
        }
        func says(_ etag: String, _ born: Int64) throws -> Bool {
            try known() == Validity(caching: caching(born), etag: etag)
        }
        #expect(try renew("1", 5) == .entry([]) && cache.keys() == [] && known() == nil)
        _ = try perform(store("k", etag: "1", born: 5), stage)
        #expect(try says("1", 5) && renew("2", 9) == .entry([]) && says("1", 5))
        #expect(try renew("1", 9) == .entry(.disk) && says("1", 9))
        #expect(try renew("1", 7) == .entry(.disk) && says("1", 9), "the later word counts")
        _ = try perform(store("k", etag: "2", born: 3), stage)
        #expect(try says("2", 3), "of other bytes nothing is known")
        _ = try perform(store("k", etag: "1", born: 12), stage)
        #expect(try says("1", 12))
        try cache.remove("k")
        #expect(try known() == nil && cache.keys()?.count == 1, "a confirmation isn't an entry")
        _ = try perform(.entry(EntryWork(action: .remove, key: "k", tiers: .disk)), stage)
        #expect(try cache.keys() == [])
        _ = try cache.put("gone\u{1D}", [1], expires: nil)
        let page = try #require(try perform(remove(EntrySelection(prefix: "go")), stage).page)
        #expect(try page.disk.entries == 0 && cache.keys() == [])
    }

    private final class Seen: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// A canceled job gives up its turn, and later ones don't wait for it.
    @Test func whoIsNotWantedWaitsForNobody() throws {
        let turns = CacheTurns()
        let first = turns.enqueue("a")
        let second = turns.enqueue("a")
        let third = turns.enqueue("a")
        #expect(throws: ImageError.self) {
            try second.wait { throw ImageError(.cancelled, "not wanted") }
        }
        second.end()
        first.end()
        try third.wait { throw ImageError(.internalError, "it is the first") }
    }

    /// A removal waits for the store before it, regardless of which thread runs first.
    @Test func jobsOfAKeyTakeTheirTurns() throws {
        let turns = CacheTurns()
        let (first, other, second, all) = (
            turns.enqueue("a"), turns.enqueue("b"), turns.enqueue("a"), turns.enqueue(nil)
        )
        try other.wait()
        other.end()
        let (waits, gate, seen) = (Gate(), Gate(), Seen())
        try withExtendedLifetime(first) {
            _ = try Thread(name: "second") {
                try? second.wait { waits.open() }
                seen.add(2)
                waits.open()
                second.end()
                try? all.wait()
                seen.add(3)
                gate.open()
            }
            try first.wait()
            // The second job waits, or wrongly runs before its turn.
            #expect(waits.wait())
            seen.add(1)
            first.end()
        }
        #expect(gate.wait())
        #expect(seen.all == [1, 2, 3])
    }
}

extension JobResult {
    fileprivate var found: CacheHit? { if case .hit(let hit) = self { hit } else { nil } }
    fileprivate var page: EntryPage? { if case .entries(let page) = self { page } else { nil } }
}

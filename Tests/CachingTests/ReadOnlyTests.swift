import Glibc
import Linux
import Model
import SQLite
import TestKit
import Testing

@testable import Caching

/// Read-only directories in which a cache looks for entries that it lacks (SEMANTICS §5.18).
@Suite final class ReadOnlyTests {
    /// Created by a stack that has exited.
    private let other: DiskFixture
    private let own: DiskFixture
    private let short = "http://example.org/short.jpg"
    private let long = "http://example.org/long.jpg"
    private let huge = "http://example.org/huge.jpg"

    init() throws {
        other = try DiskFixture()
        own = try DiskFixture()
        let tier = try other.tier()
        tier.put(short, sample(900))
        tier.put(long, sample(30_000))
        tier.put(huge, sample(2 << 20), originalFacts)
    }

    private func stage(
        _ directories: [String: [String]], policy: CachePolicy = CachePolicy(), disk: Bool = true
    ) throws -> StageFixture {
        let fixture = try StageFixture(disk ? own.path : nil, policy: policy)
        fixture.note(fixture.stage.adopt(policy, readOnly: directories, now: fixture.now))
        try fixture.wait {
            fixture.stage.directoryStatuses.allSatisfy { !$0.reason.contains("not checked") }
                ? true : nil
        }
        return fixture
    }

    private func stage() throws -> StageFixture { try stage(["": [other.path]]) }

    private func reason(_ fixture: StageFixture) -> String {
        fixture.stage.directoryStatuses.first?.reason ?? "none"
    }

    /// Names and contents of all files in the directory.
    private func contents() throws -> [String: [UInt8]] {
        var all: [String: [UInt8]] = [:]
        for name in try other.bodyFiles() + other.names() where name != "files" {
            all[name] = try FileDescriptor.open("\(other.path)/\(name)").readToEnd(
                bytesMax: 100 << 20)
        }
        return all
    }

    // MARK: - Hits

    @Test func whatIsThereIsAnsweredAndEntersMemoryAlone() throws {
        let before = try contents()
        let cache = try stage()
        #expect(reason(cache) == "")
        for (key, bytes) in [
            (short, sample(900)), (long, sample(30_000)), (huge, sample(2 << 20)),
        ] {
            let first = try cache.get(key)
            #expect(first?.bytes == bytes && first?.1 == .disk, "\(key)")
            #expect(try cache.tiers(of: key) == .memory, "it isn't written to the cache's disk")
            #expect(try cache.get(key)?.1 == .memory)
        }
        let directories = cache.stage.directoryStatuses
        #expect(directories.map(\.hits) == [3] && directories.map(\.damaged) == [0])
        #expect(cache.stage.counts.misses == 0 && cache.stage.counts.diskHits == 3)
        #expect(try contents() == before, "nothing is changed")
        #expect(try other.names() == ["files", "index.sqlite", "lock"])
    }

    /// Its thread hangs during a read: queries skip the directory until the thread answers.
    @Test func oneThatHangsIsDoneWithoutUntilItAnswers() throws {
        let cache = try stage()
        let gate = Gate()
        let arrival = cache.staging.close(with: gate)
        let work = QueryWork(key: short, tiers: .all, destination: .staging, promotes: false)
        let first = cache.begin(.query(work))
        // The cache's own disk has no entries.
        try cache.wait { arrival.isOpen ? true : nil }
        let late = MonotonicClock.now() + StallDetector.limit
        cache.note(cache.stage.tick(now: cache.now, uptime: late))
        #expect(cache.outcome(first) == .miss)
        #expect(reason(cache).contains("does not respond"))
        #expect(try cache.get(long) == nil)
        gate.open()
        try cache.wait {
            cache.note(cache.stage.tick(now: cache.now))
            return reason(cache) == "" ? true : nil
        }
        #expect(try cache.get(long)?.bytes == sample(30_000))
    }

    @Test func itHasTheFactsThatWereStored() throws {
        guard case .hit(let hit) = try stage().query(huge) else {
            Issue.record("there")
            return
        }
        #expect(hit.metadata == originalFacts)
    }

    @Test func onlyTheDiskIsMeantByIt() throws {
        let cache = try stage()
        #expect(try cache.get(long, .memory) == nil)
        guard case .hit(let hit) = try cache.query(long, .all, promotes: false) else {
            Issue.record("there")
            return
        }
        #expect(hit.tier == .disk)
        #expect(try cache.tiers(of: long) == CacheTypes.none, "no store type has memory")
    }

    @Test func decodersGetItAsAnyOriginal() throws {
        let cache = try stage()
        for (key, bytes) in [(long, sample(30_000)), (huge, sample(2 << 20))] {
            guard case .hit(let hit) = try cache.query(key, .all, .staging) else {
                Issue.record("there")
                return
            }
            #expect(cache.staging.read(hit.reference, published: false) == bytes)
        }
    }

    @Test func ownEntriesComeFirst() throws {
        let cache = try stage()
        _ = try cache.put(long, sample(30_000, seed: 2), .disk)
        #expect(try cache.get(long)?.bytes == sample(30_000, seed: 2))
        #expect(try cache.remove(long) == .entry(.all))
        #expect(try cache.get(long)?.bytes == sample(30_000), "nothing is removed there")
    }

    @Test func withoutADiskItIsAskedBehindMemory() throws {
        let cache = try stage(["": [other.path]], disk: false)
        #expect(try cache.get(long)?.bytes == sample(30_000))
        #expect(try cache.get("http://example.org/none.jpg") == nil)
        #expect(cache.stage.counts.misses == 1)
    }

    /// A named cache has its own directories; entries stored under the default cache's name are
    /// found there under any name.
    @Test func aDirectoryBelongsToOneCache() throws {
        do {
            let tier = try other.tier()
            tier.put("b\u{1F}\(short)", sample(700))
        }
        let cache = try stage(["b": [other.path]])
        #expect(try cache.get(long) == nil, "the default cache has none")
        #expect(try cache.get("a\u{1F}\(long)") == nil)
        #expect(try cache.get("b\u{1F}\(long)")?.bytes == sample(30_000))
        #expect(try cache.get("b\u{1F}\(short)")?.bytes == sample(700), "its own comes first")
        let named = cache.stage.queries
        #expect(named["b"]?.diskHits == 2 && named["b"]?.misses == 0)
        #expect(named["a"]?.misses == 1)
    }

    @Test func theFirstDirectoryThatHasItAnswers() throws {
        let second = try DiskFixture()
        do {
            let tier = try second.tier()
            tier.put(long, sample(30_000, seed: 3))
            tier.put("http://example.org/more.jpg", sample(500))
        }
        let cache = try stage(["": ["/nowhere", other.path, second.path]])
        #expect(try cache.get(long)?.bytes == sample(30_000))
        #expect(try cache.get("http://example.org/more.jpg")?.bytes == sample(500))
        #expect(cache.stage.directoryStatuses.map(\.hits) == [0, 1, 1])
    }

    @Test func oneOfSeveralCachesMayHaveOne() throws {
        let cache = try stage(["bundled": [other.path]])
        var work = QueryWork(
            key: "high\u{1F}\(long)", tiers: .all, destination: .results, promotes: true)
        work.caches = ["bundled"]
        guard case .hit(let hit) = try cache.run(.query(work)) else {
            Issue.record("there")
            return
        }
        #expect(cache.results.read(hit.reference) == sample(30_000))
        #expect(try cache.tiers(of: "bundled\u{1F}\(long)") == .memory)
        #expect(try cache.tiers(of: "high\u{1F}\(long)") == CacheTypes.none)
    }

    /// A value stored during the lookup of an older one remains the only one.
    @Test func aStoreMeanwhileIsNotReplacedInMemory() throws {
        let cache = try stage()
        let query = cache.begin(
            .query(
                QueryWork(key: long, tiers: .disk, destination: .results, promotes: true)))
        try cache.wait {
            cache.stage.pending.values.contains {
                if case .query(_, _, .lookingFurther) = $0 { true } else { false }
            } ? true : nil
        }
        let store = cache.begin(cache.storing(long, sample(30_000, seed: 5), .disk))
        try cache.wait { cache.outcome(query) }
        try cache.wait { cache.outcome(store) }
        #expect(try cache.tiers(of: long) == .disk)
        #expect(try cache.get(long)?.bytes == sample(30_000, seed: 5))
    }

    // MARK: - Misses

    @Test func whatIsMissingIsSaidAndUsedOnceItComes() throws {
        let place = own.scratch.path + "/later"
        let cache = try stage(["": [place]])
        #expect(reason(cache).contains("the directory does not exist: create or mount it"))
        #expect(try cache.get(long) == nil, "the cache does without it")
        #expect(rename(other.path, place) == 0)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { reason(cache) == "" ? true : nil }
        #expect(try cache.get(long)?.bytes == sample(30_000))
        #expect(rename(place, other.path) == 0)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { reason(cache).contains("does not exist") ? true : nil }
        #expect(try cache.get(short) == nil)
    }

    @Test func aDirectoryThatIsReplacedIsReadAnew() throws {
        let cache = try stage()
        #expect(try cache.get(short)?.bytes == sample(900))
        let newer = try DiskFixture()
        do { try newer.tier().put("http://example.org/new.jpg", sample(800)) }
        #expect(rename(other.path, own.scratch.path + "/old") == 0)
        #expect(rename(newer.path, other.path) == 0)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { cache.stage.isChecking ? nil : true }
        #expect(try cache.get("http://example.org/new.jpg")?.bytes == sample(800))
        #expect(try cache.get(long) == nil)
    }

    @Test func whatIsInUseIsNotRead() throws {
        let tier = try other.tier()
        tier.put("http://example.org/now.jpg", sample(100))
        let cache = try stage()
        #expect(reason(cache).contains("it is in use"), "\(reason(cache))")
        #expect(try cache.get(long) == nil)
        _ = tier.state.health
    }

    @Test func ownDirectoryIsNotItsOwnFurtherOne() throws {
        let cache = try stage(["": [own.path]])
        _ = try cache.put(long, sample(500), .disk)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { reason(cache).contains("it is in use") ? true : nil }
    }

    // MARK: - Untrusted files

    /// Replaces the file of the long body.
    private func replaceBody(_ make: (_ path: String) throws -> Void) throws {
        let name = try #require(
            try other.bodyFiles().first {
                try FileDescriptor.open("\(other.path)/\($0)").status().size < 100_000
            })
        let path = "\(other.path)/\(name)"
        try #require(rename(path, path + ".away") == 0)
        try make(path)
    }

    private func expectMiss(_ key: String? = nil) throws {
        let cache = try stage()
        #expect(try cache.get(key ?? long) == nil)
        #expect(try cache.get(short)?.bytes == sample(900), "others are there")
        #expect(cache.stage.directoryStatuses.first?.damaged == 1)
    }

    @Test func linksInsteadOfFilesAreNotFollowed() throws {
        try replaceBody { #expect(symlink($0 + ".away", $0) == 0) }
        try expectMiss()
    }

    @Test func linksInsteadOfFoldersAreNotFollowed() throws {
        #expect(rename(other.path + "/files", other.path + "/away") == 0)
        #expect(symlink("away", other.path + "/files") == 0)
        try expectMiss()
    }

    @Test func aPipeInsteadOfAFileIsNotWaitedFor() throws {
        try replaceBody { #expect(mkfifo($0, 0o600) == 0) }
        try expectMiss()
    }

    @Test func aFileOfAnotherKeyIsNotTaken() throws {
        let stranger = try DiskFixture()
        do { try stranger.tier().put("http://example.org/lung.jpg", sample(30_000)) }
        let file = try #require(try stranger.bodyFiles().first)
        try replaceBody { #expect(rename("\(stranger.path)/\(file)", $0) == 0) }
        try expectMiss()
    }

    @Test(arguments: [20, 100, 15_000])
    func aByteThatChangedIsNoticed(place: Int) throws {
        try replaceBody { path in
            var bytes = try FileDescriptor.open(path + ".away").readToEnd(bytesMax: 1 << 20)
            bytes[place] ^= 1
            try FileDescriptor.open(path, [.writeOnly, .create]).writeAll(bytes)
        }
        try expectMiss()
    }

    @Test func aBodyLargerThanMemoryIsAMiss() throws {
        let cache = try stage(["": [other.path]], policy: CachePolicy(memoryBytesMax: 1 << 20))
        #expect(try cache.get(huge) == nil)
        #expect(try cache.get(long) != nil)
    }

    @Test(arguments: ["directory", "link", "text"])
    func whatIsNoIndexIsSaid(kind: String) throws {
        let index = other.path + "/index.sqlite"
        #expect(rename(index, index + ".away") == 0)
        switch kind {
        case "directory": #expect(mkdir(index, 0o700) == 0)
        case "link": #expect(symlink(index + ".away", index) == 0)
        default:
            try FileDescriptor.open(index, [.writeOnly, .create]).writeAll(sample(9_000))
        }
        let cache = try stage()
        #expect(reason(cache).contains("copy it again"), "\(reason(cache))")
        #expect(try cache.get(long) == nil)
    }

    /// A never-ending view in place of the table: the query is aborted soon.
    @Test func anIndexThatWouldTakeForEverIsGivenUp() throws {
        try execute(
            """
            DROP TABLE entries;
            CREATE VIEW entries AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i AS number, 'k' || i AS key, 1 AS body_length, 1 AS checksum,
                NULL AS file_offset, 1 AS created, 1 AS stored, 1 AS accessed, 1 AS format,
                1 AS width, 1 AS height, 1 AS pages, 0 AS has_alpha, 0 AS still_of, 0 AS samples,
                NULL AS content_type, NULL AS etag, NULL AS last_modified, NULL AS cache_control,
                NULL AS expiry, zeroblob(1) AS body FROM n;
            """)
        let cache = try stage()
        #expect(try cache.get(long) == nil)
        #expect(reason(cache).contains("cannot be read"), "\(reason(cache))")
    }

    @Test func aValueWithoutEndIsNotRead() throws {
        try execute("UPDATE entries SET body = zeroblob(200000000) WHERE key = '\(short)'")
        let cache = try stage()
        #expect(try cache.get(short) == nil)
    }

    @Test func rowsThatSayWhatCannotBeAreMisses() throws {
        try execute("UPDATE entries SET pages = 0 WHERE key = '\(long)'")
        try expectMiss()
    }

    /// Created by an earlier version: missing columns are treated as for salvaged entries.
    @Test func anOlderIndexIsRead() throws {
        try execute("ALTER TABLE entries DROP COLUMN expiry; PRAGMA user_version = 3")
        let cache = try stage()
        #expect(try cache.get(short)?.bytes == sample(900))
        #expect(try cache.get(long)?.bytes == sample(30_000))
    }

    private func execute(_ sql: String) throws {
        let connection = try Connection(path: other.path + "/index.sqlite")
        try connection.execute(sql)
    }
}

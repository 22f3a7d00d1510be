import Glibc
import Linux
import TestKit
import Testing

@testable import Caching

/// Ownership of the cache directory, and access to its files.
@Suite struct CacheDirectoryTests {
    @Test func whatItMakesIsForItsOwnUserAlone() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("small", sample(100))
        tier.put("large", sample(40_000))
        let modes = try fixture.modes()
        #expect(modes["."] == 0o700)
        let names = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "lock"]
        for name in names + (try fixture.bodyFiles()) {
            #expect(modes[name] == 0o600, "\(name): \(String(modes[name] ?? 0, radix: 8))")
        }
        #expect(modes["files"] == 0o700)
    }

    @Test func filesOfAnEarlierVersionThatOthersMayReadAreNarrowed() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(100))
        let root = try FileDescriptor.openDirectory(fixture.path)
        let names = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"]
        for name in names { try root.setMode(0o644, of: name) }
        _ = try root.open("index.sqlite.bad-1", [.create, .writeOnly], mode: 0o644)
        try root.setMode(0o644, of: "index.sqlite.bad-1")
        tier.index = nil
        tier.open(at(0))
        let modes = try fixture.modes()
        for name in names + ["index.sqlite.bad-1"] { #expect(modes[name] == 0o600, "\(name)") }
        #expect(tier.get("a") == sample(100))
    }

    @Test(arguments: [0o770, 0o707, 0o777] as [UInt32])
    func aDirectoryInWhichOthersMayWriteIsRefused(mode: UInt32) throws {
        let fixture = try DiskFixture()
        try FileDescriptor.makeDirectory(path: fixture.path)
        try FileDescriptor.openDirectory(fixture.path).setMode(mode)
        let path = fixture.path
        let error = #expect(throws: DiskError.self) { _ = try CacheDirectory(path: path) }
        #expect(error?.kind == .unsafe)
        #expect(
            error?.text == "the cache directory \(path) has mode 0\(String(mode, radix: 8)), "
                + "which allows other users to create files there: remove that permission (chmod "
                + "700), or choose another --cache-dir")
        #expect(try fixture.names() == [], "nothing was written there")
    }

    @Test func oneThatOthersMayOnlyReadIsTaken() throws {
        let fixture = try DiskFixture()
        try FileDescriptor.makeDirectory(path: fixture.path)
        try FileDescriptor.openDirectory(fixture.path).setMode(0o755)
        _ = try CacheDirectory(path: fixture.path)
    }

    @Test(.enabled(if: CurrentProcess.userID == 0, "only root can change owners"))
    func aDirectoryOfSomebodyElseIsRefused() throws {
        let fixture = try DiskFixture()
        try FileDescriptor.makeDirectory(path: fixture.path)
        try FileDescriptor.openDirectory(fixture.path).setOwner(userID: 4242, groupID: 0)
        let path = fixture.path
        let error = #expect(throws: DiskError.self) { _ = try CacheDirectory(path: path) }
        #expect(error?.kind == .unsafe)
        #expect(
            error?.text == "the cache directory \(path) belongs to user 4242, not to user 0: "
                + "change its owner, or choose another --cache-dir")
    }

    // MARK: - Parent directories and links

    private func refusal(_ path: String) -> DiskError? {
        do throws(DiskError) {
            _ = try CacheDirectory(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [0o770, 0o707, 0o777] as [UInt32])
    func aDirectoryAboveInWhichOthersMayWriteIsRefused(mode: UInt32) throws {
        let fixture = try DiskFixture()
        let open = fixture.scratch.path + "/open"
        try FileDescriptor.makeDirectory(path: open)
        try FileDescriptor.makeDirectory(path: open + "/own")
        try FileDescriptor.openDirectory(open).setMode(mode)
        for path in [open + "/cache", open + "/own/cache"] {
            let error = refusal(path)
            #expect(error?.kind == .unsafe)
            #expect(
                error?.text == "\(open), which leads to the cache directory \(path), has mode "
                    + "0\(String(mode, radix: 8)), which allows other users to replace it: remove "
                    + "that permission (chmod go-w \(open)), or choose another --cache-dir")
        }
        #expect(try FileDescriptor.openDirectory(open).entries() == ["own"], "nothing was made")
        // If nobody can remove files of other users, as in /tmp, write permission for others is
        // harmless.
        try FileDescriptor.openDirectory(open).setMode(0o1000 | mode)
        #expect(refusal(open + "/own/cache") == nil)
        #expect(refusal(open + "/own/..")?.kind == .unsafe, "but for the directory itself")
    }

    @Test func linksOfOursAreFollowedToWhatMayBeTrusted() throws {
        let fixture = try DiskFixture()
        let (place, link) = (fixture.scratch.path + "/place", fixture.scratch.path + "/link")
        try FileDescriptor.makeDirectory(path: place)
        #expect(symlink("place/../place", link) == 0)
        let path = link + "/a/cache"
        _ = try CacheDirectory(path: path)
        #expect(try FileDescriptor.openDirectory(place + "/a/cache").entries() == ["lock"])
        try FileDescriptor.openDirectory(place).setMode(0o777)
        #expect(refusal(path)?.text.hasPrefix("\(place), which leads to") == true)
        #expect(symlink("loop", fixture.scratch.path + "/loop") == 0)
        #expect(refusal(fixture.scratch.path + "/loop/cache")?.kind == .failed)
    }

    @Test(.enabled(if: CurrentProcess.userID == 0, "only root can change owners"))
    func whatSomebodyElseMadeOnTheWayIsRefused() throws {
        let fixture = try DiskFixture()
        let (place, link) = (fixture.scratch.path + "/place", fixture.scratch.path + "/link")
        try FileDescriptor.makeDirectory(path: place)
        #expect(symlink("place", link) == 0)
        #expect(lchown(link, 4_242, 0) == 0)
        #expect(
            refusal(link + "/cache")?.text == "\(link), which leads to the cache directory "
                + "\(link)/cache, belongs to user 4242 instead of user 0 or root, so that "
                + "user can replace it: choose another --cache-dir")
        try FileDescriptor.openDirectory(place).setOwner(userID: 4_242, groupID: 0)
        #expect(refusal(place + "/cache")?.text.hasPrefix("\(place), which leads to") == true)
    }

    /// The directory that was checked is used, even if its path is replaced later.
    @Test func whatIsPutInItsPlaceLaterIsNotUsed() throws {
        let fixture = try DiskFixture()
        let directory = try CacheDirectory(path: fixture.path)
        let moved = fixture.scratch.path + "/moved"
        #expect(rename(fixture.path, moved) == 0)
        try FileDescriptor.makeDirectory(path: fixture.path)
        let tier = DiskTier(directory: directory, policy: DiskPolicy(), now: at(0))
        for (key, bytes) in [("small", sample(100)), ("large", sample(40_000))] {
            tier.put(key, bytes)
            #expect(tier.get(key) == bytes)
        }
        #expect(try fixture.names() == [])
        let names = try FileDescriptor.openDirectory(moved).entries()
        #expect(Set(["files", "index.sqlite", "index.sqlite-wal"]).isSubset(of: names))
    }

    @Test func anIndexThatIsALinkIsNotFollowed() throws {
        let fixture = try DiskFixture()
        _ = try CacheDirectory(path: fixture.path)
        let target = fixture.scratch.path + "/target"
        let path = fixture.path + "/index.sqlite"
        _ = try FileDescriptor.open(target, [.create, .writeOnly])
        #expect(symlink(target, path) == 0)
        let tier = try fixture.tier()
        #expect(tier.state.health.reason?.text.hasPrefix("cannot open index.sqlite: ELOOP") == true)
        #expect(FileBytes.read(target) == [])
    }
}

extension DiskFixture {
    /// The modes of the directory and of everything in it, two levels deep.
    func modes() throws -> [String: UInt32] {
        let root = try FileDescriptor.openDirectory(path)
        var modes = [".": try root.status().mode]
        for name in try names() { modes[name] = try root.status(of: name).mode }
        for name in try bodyFiles() { modes[name] = try root.status(of: name).mode }
        return modes
    }
}

import Downloading
import Glibc
import Linux
import Model
import TestKit
import Testing

/// Files below a root.
@Suite struct FileLoaderTests {
    private let folder = FolderOfFiles()

    @Test(arguments: [
        ("file:///a.jpg", "a.jpg"), ("FILE://LocalHost/a.jpg", "a.jpg"),
        ("file:///folder/b%20c+d.jpg", "folder/b c+d.jpg"),
        ("file:///%C3%BCml%C3%A4ut.jpg", "ümläut.jpg"), ("file:///inside", "a.jpg"),
        ("file:///folder/back", "a.jpg"),
    ]) func aFileArrives(url: String, name: String) async throws {
        let bench = try DownloadBench()
        bench.start(url, loader: folder.loader)
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == FolderOfFiles.bytes(of: name))
        #expect(body.httpStatus == 200 && body.contentType == nil)
        let last = try #require(bench.progress.values.last)
        #expect(Int(last.received) == FolderOfFiles.bytes(of: name).count)
        #expect(last.received == last.expected)
    }

    /// Compared with Python's dates and `stat`'s entity tag.
    @Test func aFileHasValidators() async throws {
        let bench = try DownloadBench()
        bench.start("file:///a.jpg", loader: folder.loader)
        let body = try #require(await bench.body())
        let output = try Tool.run([
            "python3", "-c",
            "import email.utils, os, sys; s = os.stat(sys.argv[1]); n = s.st_mtime_ns; "
                + "print(email.utils.formatdate(n // 10**9, usegmt=True)); "
                + "print('\"%x-%x-%x.%x\"' % (s.st_ino, s.st_size, n // 10**9, n % 10**9))",
            folder.root.file("a.jpg"),
        ])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect([body.lastModified, body.etag] == lines.map(Optional.some))

        for validators in [
            Validators(etag: body.etag, lastModified: nil),
            Validators(etag: nil, lastModified: body.lastModified),
            Validators(etag: body.etag, lastModified: "yesterday"),
        ] {
            let again = try DownloadBench()
            again.start("file:///a.jpg", validators: validators, loader: folder.loader)
            #expect(await again.failure()?.code == .cacheNotModified)
            #expect(again.space.liveCount == 0)
        }
        let other = try DownloadBench()
        other.start(
            "file:///a.jpg",
            validators: Validators(etag: "\"other\"", lastModified: body.lastModified),
            loader: folder.loader)
        #expect(await other.body() != nil, "the entity tag counts")
    }

    /// Known dates from the standard and from calendars.
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ]) func aFileIsDated(seconds: Int, text: String) async throws {
        let bench = try DownloadBench()
        var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, folder.root.file("a.jpg"), &times, 0) == 0)
        bench.start("file:///a.jpg", loader: folder.loader)
        #expect(await bench.body()?.lastModified == text)
    }

    @Test func aLargeFileArrivesAndTakesOneBlock() async throws {
        let bytes = OriginBody.generatedBytes(count: 5_000_001)
        folder.root.write(bytes, to: "large")
        let bench = try DownloadBench()
        bench.start("file:///large", loader: folder.loader)
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == bytes)
        #expect(bench.space.reservations == [bytes.count])
    }

    @Test func aFileOverTheLimitIsNotRead() async throws {
        let bench = try DownloadBench()
        bench.start(
            "file:///a.jpg", bodyBytesMax: UInt64(FolderOfFiles.bytes(of: "a.jpg").count - 1),
            loader: folder.loader)
        #expect(await bench.failure()?.code == .limitExceeded)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aRootThatIsNotThereSaysWhatToDo() async throws {
        let bench = try DownloadBench()
        bench.start("file:///a", loader: .file(FileRoot(path: "/nonexistent/root")))
        let error = try #require(await bench.failure())
        #expect(error.code == .invalidDownloadOperation)
        #expect(error.message.contains("mount it") && error.message.contains("ENOENT"))
    }

    /// Transfers continue, and a canceled file returns its block, while all readers are busy.
    @Test func filesHoldUpNoTransferAndAreCancelled() async throws {
        let bytes = OriginBody.generatedBytes(count: 40_000_000)
        folder.root.write(bytes, to: "large")
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        for id in 1...UInt64(24) { bench.start("file:///large", id: id, loader: folder.loader) }
        bench.start("/a", id: 100)
        for id in 2...UInt64(24) { bench.downloader.cancel(JobID(id)) }
        let outcomes = try #require(await bench.outcomes.wait(count: 25))
        #expect(Set(outcomes.map(\.id)).count == 25, "one outcome for each")
        #expect(outcomes.first { $0.id == JobID(100) }?.body != nil)
        let bodies = outcomes.compactMap(\.body)
        bench.downloader.stop()
        #expect(bench.space.liveCount == bodies.count)
        #expect(outcomes.compactMap(\.failure).allSatisfy { $0.code == .cancelled })
    }

    @Test func stoppingEndsFilesThatWait() async throws {
        folder.root.write(OriginBody.generatedBytes(count: 40_000_000), to: "large")
        let bench = try DownloadBench()
        for id in 1...UInt64(12) { bench.start("file:///large", id: id, loader: folder.loader) }
        bench.downloader.stop()
        let outcomes = try #require(await bench.outcomes.wait(count: 12))
        #expect(bench.space.liveCount == outcomes.compactMap(\.body).count)
    }
}

/// A root with readable files, and files outside of it that must not be read.
final class FolderOfFiles: Sendable {
    private let outer = TemporaryDirectory()
    let root: Root

    struct Root: Sendable {
        let path: String
        func file(_ name: String) -> String { path + "/" + name }

        func write(_ bytes: [UInt8], to name: String) {
            guard let file = fopen(file(name), "w") else {
                preconditionFailure("\(name): \(errno)")
            }
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }

        func link(_ name: String, to target: String) {
            precondition(symlink(target, file(name)) == 0, "\(name): \(errno)")
        }
    }

    var loader: FetchLoader { .file(FileRoot(path: root.path)) }

    /// Different for each name.
    static func bytes(of name: String) -> [UInt8] { Array("the bytes of \(name)".utf8) }

    init() {
        root = Root(path: outer.file("root"))
        mkdir(root.path, 0o700)
        mkdir(root.file("folder"), 0o700)
        for name in ["a.jpg", "folder/b c+d.jpg", "ümläut.jpg"] {
            root.write(Self.bytes(of: name), to: name)
        }
        root.write([], to: "empty")
        outer.write(Self.bytes(of: "secret"), to: "secret")
        outer.write(Self.bytes(of: "secret"), to: "root-secret")
        root.link("inside", to: "a.jpg")
        root.link("folder/back", to: "../a.jpg")
        root.link("up", to: "..")
        root.link("secret", to: "../secret")
        root.link("absolute", to: outer.file("secret"))
        root.link("own", to: root.file("a.jpg"))
        root.link("etc", to: "/etc")
        root.link("system", to: "/proc/self/root")
        root.link("process", to: "/proc/self")
        root.link("circle", to: "circle")
        root.link("zero", to: "/dev/zero")
        root.link("dangling", to: "nothing")
        mkfifo(root.file("pipe"), 0o600)
    }

    deinit { chmod(root.path, 0o700) }
}

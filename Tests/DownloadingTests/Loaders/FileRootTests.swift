import Downloading
import Glibc
import Model
import Synchronization
import TestKit
import Testing

/// Nothing on the disk lets a `file:` URL escape its root (RESOLVE_BENEATH of openat2).
@Suite struct FileRootTests {
    private let folder = FolderOfFiles()

    private func outcome(of url: String, _ root: String? = nil) async throws -> JobOutcome {
        let bench = try DownloadBench()
        bench.start(url, loader: root.map { .file(FileRoot(path: $0)) } ?? folder.loader)
        return try #require(await bench.outcome())
    }

    private func expectOutside(
        _ url: String, _ root: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let failure = try await outcome(of: url, root).failure
        #expect(failure?.code == .addressForbidden, "\(url)", sourceLocation: sourceLocation)
        #expect(
            failure?.message.contains("outside the root") == true, sourceLocation: sourceLocation)
    }

    /// Absolute links are refused even if they point to a file in the root.
    @Test(arguments: ["secret", "absolute", "own", "folder/up", "folder/twice", "chain"])
    func aLinkOutOfTheRootIsRefused(name: String) async throws {
        folder.root.link("folder/up", to: "../../secret")
        folder.root.link("folder/twice", to: "./../folder/../../secret")
        folder.root.link("chain", to: "folder/up")
        try await expectOutside("file:///\(name)")
    }

    /// Links within the path are refused, even if the path later returns into the root.
    @Test(arguments: [
        "up/secret", "up/root" + "/a.jpg", "folder/out/secret", "folder/out/root" + "/a.jpg",
    ])
    func aLinkOnTheWayOutIsRefused(path: String) async throws {
        folder.root.link("folder/out", to: "../..")
        try await expectOutside("file:///\(path)")
    }

    /// The root itself may be reached through links: the operator chose the path.
    @Test func whatLeadsToTheRootIsFollowed() async throws {
        let outer = TemporaryDirectory()
        #expect(symlink(folder.root.path, outer.file("alias")) == 0)
        let root = outer.file("alias")
        #expect(try await outcome(of: "file:///a.jpg", root).body != nil)
        try await expectOutside("file:///secret", root)
    }

    /// Everything lies below this root, but magic links of the kernel escape from it.
    @Test(arguments: [
        "self/root" + "/etc/passwd", "self/cwd", "thread-self/root" + "/etc/passwd",
    ])
    func aMagicLinkIsRefused(path: String) async throws {
        #expect(access("/proc/\(path)", R_OK) == 0, "it would be read")
        try await expectOutside("file:///\(path)", "/proc")
    }

    @Test func aMagicLinkToAFileIsRefused() async throws {
        let file = open(folder.root.file("a.jpg"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try await expectOutside("file:///self/fd/\(file)", "/proc")
        let plain = try await outcome(of: "file:///self/fd/../status", "/proc").failure
        #expect(plain?.code == .invalidURL)
    }

    /// `..` is never a name in a request, however it is spelled. Percent-encoded twice, it is one.
    @Test(arguments: [
        ("../secret", ErrorCode.invalidURL), ("%2e%2e/secret", .invalidURL),
        ("%2E./secret", .invalidURL), ("folder/..%2f../secret", .invalidURL),
        ("folder/%2e%2e/%2e%2e/secret", .invalidURL),
        ("%252e%252e/secret", .invalidDownloadStatusCode),
    ]) func noSpellingOfParentsLeadsOut(path: String, code: ErrorCode) async throws {
        #expect(try await outcome(of: "file:///\(path)").failure?.code == code)
    }

    /// Another process with write access renames entries back and forth during reads: each read
    /// returns the bytes inside, or none.
    @Test(arguments: ["swap/secret", "leaf"])
    func aRaceOfRenamesLeadsNowhere(path: String) async throws {
        mkdir(folder.root.file("within"), 0o700)
        folder.root.write(Self.inside, to: "within/secret")
        let swap = Swap(folder.root)
        let swaps = Task.detached { swap.run() }
        let bench = try DownloadBench()
        var (read, refused) = (0, 0)
        for id in 1...20_000 where id < 500 || read < 50 || refused < 50 {
            bench.start("file:///\(path)", id: UInt64(id), loader: folder.loader)
            guard let outcome = await bench.outcomes.wait(count: id)?.last else { break }
            if let body = outcome.body {
                let isInside = bench.space.bytes(body.reference) == Self.inside
                #expect(isInside, "a file outside of the root was read")
                guard isInside else { break }
                read += 1
            } else {
                #expect(outcome.failure?.code == .addressForbidden, "\(outcome.result)")
                refused += 1
            }
        }
        swap.isOver.store(true, ordering: .releasing)
        #expect(await swaps.value > 0)
        #expect(read > 0 && refused > 0, "the race is met: \(read) read, \(refused) refused")
    }

    private static let inside = Array("the bytes inside".utf8)

    /// Swaps an entry with one that leads outside, and back, each by one atomic rename: both names
    /// always exist.
    private final class Swap: Sendable {
        let isOver = Atomic(false)
        private let root: FolderOfFiles.Root

        init(_ root: FolderOfFiles.Root) {
            self.root = root
            link(root.file("within/secret"), root.file("leaf"))
            root.link("swap", to: "within")
        }

        func run() -> Int {
            var count = 0
            while !isOver.load(ordering: .acquiring) {
                root.link("new", to: "..")
                count += rename(root.file("new"), root.file("swap")) == 0 ? 1 : 0
                root.link("new", to: "../secret")
                rename(root.file("new"), root.file("leaf"))
                root.link("new", to: "within")
                rename(root.file("new"), root.file("swap"))
                link(root.file("within/secret"), root.file("new"))
                rename(root.file("new"), root.file("leaf"))
            }
            return count
        }
    }
}

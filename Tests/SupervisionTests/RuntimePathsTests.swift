import Linux
import Model
import ProcessRuntime
import TestKit
import Testing

@Suite struct RuntimePathsTests {
    @Test func everythingLiesBelowTheRuntimeDirectory() {
        let paths = RuntimePaths(root: "/run/imagebus//")
        #expect(paths.root == "/run/imagebus")
        #expect(paths.frontEndpoint == "ipc:///run/imagebus/front/front.sock")
        #expect(paths.adminSocket == "/run/imagebus/admin/admin.sock")
        #expect(paths.backSocket(PoolName(.decode)) == "/run/imagebus/back/decode/back.sock")
        #expect(paths.arenaDirectory(PoolName(.cache)) == "/run/imagebus/arena/cache")
        #expect(paths.resultsDirectory == "/run/imagebus/results")
        #expect(paths.controlDirectory(PoolName(.decode)) == "/run/imagebus/back/decode/control")
    }

    @Test func segmentsMayLieElsewhereAndSocketsMayNot() {
        let paths = RuntimePaths(root: "/srv/bus", segmentsRoot: "/dev/shm/imagebus-7/1-2")
        #expect(paths.frontSocket == "/srv/bus/front/front.sock")
        #expect(paths.resultsDirectory == "/dev/shm/imagebus-7/1-2/results")
        #expect(paths.segmentDirectories.arenas == "/dev/shm/imagebus-7/1-2/arena")
        #expect(
            paths.controlDirectory(PoolName(.cache))
                == "/dev/shm/imagebus-7/1-2/back/cache/control")
    }

    @Test func theFileSegmentsSaysWhere() throws {
        let folder = TemporaryDirectory()
        #expect(try RuntimePaths(resolving: folder.path).segmentsRoot == folder.path)
        folder.write(Array("/dev/shm/elsewhere\n".utf8), to: "segments")
        #expect(try RuntimePaths(resolving: folder.path).segmentsRoot == "/dev/shm/elsewhere")
    }

    @Test func aDirectoryThatIsNotThereHasItsOwnSegments() throws {
        #expect(try RuntimePaths(resolving: "/nowhere/at/all").segmentsRoot == "/nowhere/at/all")
    }

    @Test(arguments: ["relative\n", "/no/line/end", "", "/two\n/lines\n", "/a\u{0}b\n"])
    func aFileSegmentsWithAnythingElseIsRefused(_ content: String) {
        let folder = TemporaryDirectory()
        folder.write(Array(content.utf8), to: "segments")
        #expect(throws: RuntimePathsError.malformed(folder.file("segments"))) {
            try RuntimePaths(resolving: folder.path)
        }
    }

    @Test func aLinkInPlaceOfTheFileIsRefused() throws {
        let folder = TemporaryDirectory()
        let other = TemporaryDirectory()
        other.write(Array("/dev/shm/evil\n".utf8), to: "segments")
        try link(other.file("segments"), at: folder.file("segments"))
        #expect(throws: RuntimePathsError.unreadable(folder.file("segments"), .symbolicLink)) {
            try RuntimePaths(resolving: folder.path)
        }
    }

    @Test(arguments: [
        "ipc:///run/i/front/front.sock", "/run/i/front/front.sock",
        "ipc:///run/i/admin/admin.sock",
    ])
    func anEndpointNamesItsRuntimeDirectory(_ endpoint: String) throws {
        #expect(try RuntimePaths(endpoint: endpoint).root == "/run/i")
    }

    @Test(arguments: ["tcp://localhost:1", "front/front.sock", "ipc:///run/i", ""])
    func otherEndpointsAreRefused(_ endpoint: String) {
        #expect(throws: RuntimePathsError.notAnEndpoint(endpoint)) {
            try RuntimePaths(endpoint: endpoint)
        }
    }
}

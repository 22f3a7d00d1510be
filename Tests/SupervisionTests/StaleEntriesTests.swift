import Linux
import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Supervision

@Suite struct StaleEntriesTests {
    private static let dead = SegmentName(incarnation: life(1), number: 3).fileName
    private static let living = SegmentName(incarnation: life(2), number: 1).fileName

    private func tree(in folder: SharedFolder) throws -> RuntimePaths {
        let directory = try RuntimeDirectory(root: folder.path, kinds: Set(WorkerKind.allCases))
        return directory.paths
    }

    @Test func theNextStartRemovesWhatLiesAround() throws {
        let folder = try SharedFolder()
        let paths = try tree(in: folder)
        try makeSocket(at: paths.frontSocket)
        try makeSocket(at: paths.backSocket(PoolName(.decode)))
        let directories = [
            paths.arenaDirectory(PoolName(.decode)), paths.controlDirectory(PoolName(.decode)),
            paths.resultsDirectory,
        ]
        for directory in directories {
            try makeFile(Self.dead, in: directory)
            try makeFile("notes.txt", in: directory)
        }
        _ = try tree(in: folder)
        #expect(folder.entries(of: "front") == [])
        #expect(folder.entries(of: "back/decode") == ["control"])
        #expect(folder.entries(of: "arena/decode") == [".supervisors.lock", "notes.txt"])
        #expect(folder.entries(of: "back/decode/control") == [".supervisors.lock", "notes.txt"])
        #expect(folder.entries(of: "results") == [".supervisors.lock", "notes.txt"])
    }

    @Test func aSecondSupervisorOfAKindLeavesTheSegmentsOfTheFirst() throws {
        let folder = try SharedFolder()
        let first = try RuntimeDirectory(root: folder.path, kinds: [.decode])
        try makeFile(Self.living, in: first.paths.arenaDirectory(PoolName(.decode)))
        let second = try RuntimeDirectory(root: folder.path, kinds: [.decode])
        #expect(folder.entries(of: "arena/decode").contains(Self.living))
        second.clear()
        #expect(folder.entries(of: "arena/decode").contains(Self.living))
        withExtendedLifetime(first) {}
    }

    @Test func onlyTheSegmentsOfOneLifeAreRemoved() throws {
        let folder = try SharedFolder()
        let directory = try RuntimeDirectory(root: folder.path, kinds: [.cache])
        let paths = directory.paths
        for path in [paths.arenaDirectory(PoolName(.cache)), paths.resultsDirectory] {
            try makeFile(Self.dead, in: path)
            try makeFile(Self.living, in: path)
        }
        let counts = (0..<2).map { _ in directory.removeSegments(of: life(1), kind: .cache) }
        #expect(counts == [2, 0])
        #expect(folder.entries(of: "results") == [".supervisors.lock", Self.living])
    }

    private static let temporaryFolderIsOnDisk =
        (try? FileDescriptor.openDirectory("/tmp").fileSystemStatus())?.isTemporary == false

    @Test(.enabled(if: temporaryFolderIsOnDisk))
    func aDirectoryOnDiskHasItsSegmentsInSharedMemory() throws {
        let disk = TemporaryDirectory()
        let memory = try SharedFolder()
        let directory = try RuntimeDirectory(
            root: disk.path, kinds: Set(WorkerKind.allCases), sharedMemory: memory.path)
        let (paths, isElsewhere) = (directory.paths, directory.hasSegmentsElsewhere)
        #expect(isElsewhere)
        #expect(try RuntimePaths(resolving: disk.path) == paths)
        let status = try FileDescriptor.openDirectory(disk.path).status()
        let identity = "\(String(status.device, radix: 16))-\(String(status.inode, radix: 16))"
        #expect(
            paths.resultsDirectory
                == "\(memory.path)/imagebus-\(CurrentProcess.userID)/\(identity)/results")
        try makeFile(Self.dead, in: paths.resultsDirectory)
        directory.clear()
        #expect(memory.entries(of: "imagebus-\(CurrentProcess.userID)") == [])
        #expect(!disk.entries.contains("segments"))
    }

    @Test(.enabled(if: temporaryFolderIsOnDisk))
    func withoutSharedMemoryThereIsNoStack() throws {
        let disk = TemporaryDirectory()
        let other = TemporaryDirectory()
        do throws(RuntimeDirectoryError) {
            _ = try RuntimeDirectory(root: disk.path, kinds: [.cache], sharedMemory: other.path)
            Issue.record("segments on a disk")
        } catch {
            #expect(error == .noSharedMemory("\(disk.path) nor \(other.path)"))
        }
    }

    private func makeFile(_ name: String, in directory: String) throws {
        _ = try FileDescriptor.open("\(directory)/\(name)", [.writeOnly, .create])
    }

    private func makeSocket(at path: String) throws {
        let program = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
        let child = try ChildProcess(ChildCommand("/usr/bin/python3", ["-c", program, path]))
        try #require(try child.wait() == .exited(0))
    }
}

/// A temporary folder on tmpfs.
final class SharedFolder {
    private let directory: Linux.TemporaryDirectory

    init() throws(Errno) { directory = try Linux.TemporaryDirectory(in: "/dev/shm") }

    var path: String { directory.path }

    var entries: [String] { entries(of: "") }

    /// The sorted entries; empty if there is no such directory.
    func entries(of name: String) -> [String] {
        guard let folder = try? FileDescriptor.openDirectory("\(path)/\(name)") else { return [] }
        return ((try? folder.entries()) ?? []).sorted()
    }
}

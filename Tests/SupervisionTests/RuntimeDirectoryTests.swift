import Linux
import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Supervision

@Suite struct RuntimeDirectoryTests {
    private let folder: SharedFolder

    init() throws { folder = try SharedFolder() }

    private func pool(_ name: String, _ trust: WorkerPool.Trust = .own) throws -> WorkerPool {
        var pool = WorkerPool(name: try #require(PoolName(name)), kind: .decode)
        pool.trust = trust
        return pool
    }

    /// Leaves a segment of a life behind.
    private func leave(_ name: String, in path: String) throws {
        try FileDescriptor.openDirectory(path)
            .open(name, [.writeOnly, .create]).reserve(byteCount: 64)
    }

    /// Creates the directories of a stack, and gives them up.
    private func makeTree() throws {
        _ = try RuntimeDirectory(root: folder.path, kinds: Self.allKinds)
    }

    /// A further pool has its own listener and segments; an external one finds its secret there.
    @Test func furtherPoolsHaveDirectoriesAndForeignOnesASecret() throws {
        let raw = try pool("raw", .external)
        let vector = try pool("vector")
        let directory = try RuntimeDirectory(
            root: folder.path, kinds: Self.allKinds, pools: [vector, raw, WorkerPool(.decode)])
        let (root, shared) = (directory.paths.root, directory.paths.segmentsRoot)
        for path in ["\(root)/back", "\(shared)/arena"] {
            let names = DirectoryEntries.names(path)
            #expect(names.contains("raw") && names.contains("vector"), "\(path): \(names)")
        }
        #expect(DirectoryEntries.names("\(shared)/back/raw").contains("control"))
        let secrets = try StackSecrets(for: [vector, raw])
        try directory.leaveSecrets(of: secrets)
        let file = try FileDescriptor.open("\(root)/back/raw/secret")
        #expect(try file.status().mode & 0o777 == 0o600)
        #expect(
            try ListenerSecret(file.readToEnd(bytesMax: 64)) == secrets.listeners.workers[raw.name])
        #expect(!DirectoryEntries.names("\(root)/back/vector").contains("secret"))
        #expect(secrets.descriptorNumber(for: vector.name) != nil)
        #expect(secrets.descriptorNumber(for: raw.name) == nil, "no child of ours has it")
        directory.clear()
        #expect(!DirectoryEntries.names("\(root)/back/raw").contains("secret"))
    }

    /// Its pages are removed like those of every stack's workers, even if the stack has none of its
    /// kind. Files of external workers stay: they may outlive the stack.
    @Test func whatProcessesOfFurtherPoolsLeftIsRemovedAndWhatForeignOnesMadeStays() throws {
        let scans = try pool("scans", .external)
        let heavy = try pool("heavy")
        let kinds = Self.allKinds.subtracting([.decode])
        let directory = try RuntimeDirectory(
            root: folder.path, kinds: kinds, pools: [heavy, scans])
        let shared = directory.paths.segmentsRoot
        let life = Incarnation(Identifier128(high: 1, low: 2))
        for path in ["arena/heavy", "back/heavy/control", "arena/scans"] {
            try leave("\(life.value.hex).1", in: "\(shared)/\(path)")
        }
        #expect(directory.removeSegments(of: life, kind: .decode) == 2)
        #expect(DirectoryEntries.names("\(shared)/arena/scans").contains("\(life.value.hex).1"))
        directory.clear()
    }

    /// The memory of a pool that was removed from the configuration is released at the next start.
    /// Files of external workers stay.
    @Test func whatAPoolLeftThatIsNoMoreIsRemovedUnlessItIsForeign() throws {
        let gone = try pool("gone")
        let scans = try pool("scans", .external)
        let file = "\(Incarnation(Identifier128(high: 1, low: 2)).value.hex).1"
        func start(_ pools: [WorkerPool]) throws -> String {
            try RuntimeDirectory(root: folder.path, kinds: Self.allKinds, pools: pools)
                .paths.segmentsRoot
        }
        let shared = try start([gone, scans])
        func isThere(in pool: String) -> Bool {
            DirectoryEntries.names("\(shared)/arena/\(pool)").contains(file)
        }
        for pool in ["gone", "scans"] { try leave(file, in: "\(shared)/arena/\(pool)") }
        let used = try FileDescriptor.open("\(shared)/arena/gone/.supervisors.lock", .readWrite)
        #expect(try used.tryLock(.exclusive))
        _ = try start([])
        #expect(isThere(in: "gone"), "it is in use, and not waited for")
        try used.close()
        _ = try start([])
        #expect(!isThere(in: "gone") && isThere(in: "scans"))
    }

    /// If one pool is served separately, the kind's default pool isn't touched.
    @Test func aPoolThatIsServedApartHasItsOwnDirectoriesAlone() throws {
        let heavy = try pool("heavy")
        let directory = try RuntimeDirectory(root: folder.path, kinds: [.decode], only: heavy)
        let shared = directory.paths.segmentsRoot
        #expect(DirectoryEntries.names("\(shared)/arena") == ["heavy"])
        #expect(DirectoryEntries.names("\(shared)/back") == ["heavy"])
        let life = Incarnation(Identifier128(high: 1, low: 2))
        try leave("\(life.value.hex).1", in: "\(shared)/arena/heavy")
        #expect(directory.removeSegments(of: life, kind: .decode) == 1)
    }

    private static let allKinds = Set(WorkerKind.allCases)

    /// The error of an initializer of a noncopyable type.
    private func failure(
        root: String, kinds: Set<WorkerKind> = Self.allKinds
    ) -> RuntimeDirectoryError? {
        do throws(RuntimeDirectoryError) {
            _ = try RuntimeDirectory(root: root, kinds: kinds)
            return nil
        } catch {
            return error
        }
    }

    @Test func theWholeTreeIsMadeAndPrivate() throws {
        let root = folder.path + "/a/b"
        let directory = try RuntimeDirectory(root: root, kinds: Self.allKinds)
        let paths = directory.paths
        #expect(paths == RuntimePaths(root: root))
        let names =
            ["front", "admin", "results"]
            + WorkerKind.workers.map { "back/\($0.name)" }
            + WorkerKind.allCases.map { "arena/\($0.name)" }
        for name in names {
            let status = try FileDescriptor.openDirectory("\(root)/\(name)").status()
            #expect(status.mode == 0o700, "\(name)")
            #expect(status.userID == CurrentProcess.userID, "\(name)")
        }
        for kind in WorkerKind.workers {
            let path = "\(root)/back/\(kind.name)/control"
            #expect(try FileDescriptor.openDirectory(path).status().mode == 0o1770, "\(kind)")
        }
        #expect(try StackLock.isHeld(in: root))
    }

    @Test func aWorkersSupervisorMakesOnlyItsOwn() throws {
        _ = try RuntimeDirectory(root: folder.path, kinds: [.decode])
        #expect(folder.entries == ["arena", "back"])
        #expect(folder.entries(of: "arena") == ["decode"])
        #expect(folder.entries(of: "back") == ["decode"])
        #expect(try !StackLock.isHeld(in: folder.path))
    }

    @Test func anOpenControlDirectoryIsRefusedUnlessNobodyRemovesWhatIsAnothers() throws {
        try makeTree()
        let path = folder.path + "/back/decode/control"
        for (mode, isRefused) in [(0o3777, true), (0o2770, true), (0o1770, false), (0o700, false)] {
            try FileDescriptor.openDirectory(path).setMode(UInt32(mode))
            let expected = RuntimeDirectoryError.wrongMode(path, mode: UInt32(mode))
            let refusal = failure(root: folder.path, kinds: [.decode])
            #expect(refusal == (isRefused ? expected : nil), "\(mode)")
        }
    }

    @Test func aSecondStackIsRefusedAndTheFirstIsNamed() throws {
        let first = try RuntimeDirectory(root: folder.path, kinds: Self.allKinds)
        let refusal = failure(root: folder.path)
        #expect(
            refusal == .locked(folder.path + "/serve.lock", holder: CurrentProcess.processID))
        #expect(refusal?.description.contains("\(CurrentProcess.processID)") == true)
        #expect(failure(root: folder.path, kinds: [.decode]) == nil)
        withExtendedLifetime(first) {}
    }

    @Test func theLockEndsWithItsHolder() throws {
        try makeTree()
        #expect(try !StackLock.isHeld(in: folder.path))
        #expect(failure(root: folder.path) == nil)
    }

    @Test(arguments: [("admin", 0o750), ("front", 0o720), ("results", 0o777), ("", 0o770)])
    func aDirectoryThatOthersMayChangeIsRefused(_ name: String, _ mode: Int) throws {
        try makeTree()
        let path = name.isEmpty ? folder.path : "\(folder.path)/\(name)"
        try FileDescriptor.openDirectory(path).setMode(UInt32(mode))
        #expect(failure(root: folder.path) == .wrongMode(path, mode: UInt32(mode)))
    }

    @Test(.enabled(if: CurrentProcess.userID == 0), arguments: ["front", "arena/decode", ""])
    func aDirectoryOfSomebodyElseIsRefused(_ name: String) throws {
        try makeTree()
        let path = name.isEmpty ? folder.path : "\(folder.path)/\(name)"
        try FileDescriptor.openDirectory(path).setOwner(userID: 4711, groupID: 0)
        #expect(failure(root: folder.path) == .wrongOwner(path, owner: 4711, expected: 0))
    }

    @Test(arguments: ["front", "back", "arena/cache", "results"])
    func aLinkInPlaceOfADirectoryIsNotFollowed(_ name: String) throws {
        let elsewhere = try SharedFolder()
        try makeTree()
        let path = "\(folder.path)/\(name)"
        try FileDescriptor.removeTree(path: path)
        try link(elsewhere.path, at: path)
        #expect(failure(root: folder.path) == .notDirectory(path))
        #expect(elsewhere.entries == [])
    }

    @Test func aLinkInPlaceOfTheRuntimeDirectoryIsNotFollowed() throws {
        let elsewhere = try SharedFolder()
        try link(elsewhere.path, at: folder.path + "/bus")
        #expect(failure(root: folder.path + "/bus") == .notDirectory(folder.path + "/bus"))
    }

    @Test func aPathTooLongForASocketIsRefusedWithItsLength() {
        let root = "/tmp/" + String(repeating: "x", count: 90)
        let socket = root + "/back/transform/back.sock"
        let refusal = failure(root: root)
        #expect(refusal == .pathTooLong(socket, bytes: 120))
        #expect(refusal?.description.contains("13 bytes shorter") == true)
    }

    @Test func theLongestSocketPathThatTheKernelTakesIsAccepted() throws {
        let rest = RuntimeDirectory.socketPathBytesMax - "/back/transform/back.sock".utf8.count
        let fill = String(repeating: "x", count: rest - folder.path.utf8.count - 1)
        #expect(failure(root: "\(folder.path)/\(fill)") == nil)
        #expect(
            failure(root: "\(folder.path)/\(fill)x")
                == .pathTooLong("\(folder.path)/\(fill)x/back/transform/back.sock", bytes: 108))
    }

    @Test func aRelativePathIsRefused() {
        #expect(failure(root: "bus") == .notAbsolute("bus"))
    }
}

/// Creates a symbolic link.
func link(_ target: String, at path: String) throws {
    let child = try ChildProcess(ChildCommand("/bin/ln", ["-s", target, path]))
    try #require(try child.wait() == .exited(0))
}

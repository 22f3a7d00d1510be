import Glibc
import Testing

@testable import Linux

@Suite struct SpaceTests {
    @Test func reservedSpaceIsTheFilesSize() throws {
        let root = try TestDirectory()
        let file = try root.file("segment", "")
        try file.reserve(byteCount: 1 << 20)
        #expect(try file.status().size == 1 << 20)
        try file.synchronize()
    }

    @Test func aFullMemoryFileSystemIsATypedError() throws {
        let root = try TestDirectory(in: "/dev/shm")
        let file = try root.file("segment", "")
        let system = try file.fileSystemStatus()
        #expect(system.isTemporary)
        #expect(system.availableBytes <= system.totalBytes)
        #expect(throws: Errno.noSpace) {
            try file.reserve(byteCount: Int(system.totalBytes) + (1 << 20))
        }
    }

    @Test func anOrdinaryDirectoryIsNotInMemory() throws {
        let directory = try FileDescriptor.openDirectory("/proc")
        #expect(try !directory.fileSystemStatus().isTemporary)
    }

    /// In a separate process, as the limit would apply to every other test.
    @Test func aFileBeyondTheLimitIsATypedError() async {
        await #expect(processExitsWith: .success) {
            try Signal(rawValue: SIGXFSZ).ignore()
            var limit = try ResourceLimit.current(.fileSize)
            limit.soft = 4_096
            try limit.apply(to: .fileSize)
            let root = try TestDirectory()
            let file = try root.file("big", "")
            do throws(Errno) {
                try file.reserve(byteCount: 8_192)
                exit(1)
            } catch {
                if error != .fileTooLarge { exit(2) }
            }
        }
    }

    @Test func limitsAreRaisedNoFurtherThanAllowed() async {
        await #expect(processExitsWith: .success) {
            try ResourceLimit(soft: 64, hard: 128).apply(to: .descriptors)
            guard try ResourceLimit.raise(.descriptors, to: 100) == 100 else { exit(1) }
            guard try ResourceLimit.raise(.descriptors, to: 1_000) == 128 else { exit(2) }
            let held = try ResourceLimit.current(.descriptors)
            guard held == ResourceLimit(soft: 128, hard: 128) else { exit(3) }
        }
    }
}

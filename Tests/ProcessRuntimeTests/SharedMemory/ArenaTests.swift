import Linux
import Model
import Testing

@testable import ProcessRuntime

/// An arena in a real directory, with readers for it.
final class ArenaBench {
    let folder: TemporaryDirectory
    let incarnation = Incarnation(Identifier128(high: 1, low: 2))
    let arena: Arena
    let directories: SegmentDirectories

    init(_ name: ArenaName = .stage, totalBytesMax: Int = 64 << 20) throws {
        folder = try TemporaryDirectory()
        directories = SegmentDirectories(
            arenas: "\(folder.path)/arena", results: "\(folder.path)/results")
        for path in [directories.arenas, "\(directories.arenas)/decode", directories.results] {
            try FileDescriptor.makeDirectory(path: path)
        }
        arena = try Arena(
            directory: directories.path(of: name, producer: PoolName(.decode)), name: name,
            incarnation: incarnation, totalBytesMax: totalBytesMax)
    }

    func reference(_ block: OutputBlock, _ length: Int) -> BlockReference {
        var reference = block.reference(length: length)
        reference.producer = BlockReference.Producer(kind: .decode, incarnation: incarnation)
        return reference
    }

    var stagePath: String { directories.path(of: .stage, producer: PoolName(.decode)) }

    func segmentName(_ reference: BlockReference) -> String {
        SegmentName(incarnation: incarnation, number: reference.segment).fileName
    }

    /// The error of a reader that sees the segment for the first time; nil if it succeeds.
    func failure(of reference: BlockReference) -> ErrorCode? {
        do throws(ImageError) {
            try BlockCopier(directories: directories).check(reference)
            return nil
        } catch {
            return error.code
        }
    }

    func fill(_ block: OutputBlock, _ length: Int, with byte: UInt8) {
        for index in 0..<length { block.bytes[index] = byte }
    }
}

@Suite struct ArenaTests {
    private let bench: ArenaBench

    init() throws { bench = try ArenaBench() }

    @Test func aReaderGetsWhatAProducerWrote() throws {
        let block = try bench.arena.reserve(5000)
        #expect(block.bytes.count >= 5000)
        bench.fill(block, 5000, with: 7)
        let reader = BlockReader(directories: bench.directories)
        let reference = bench.reference(block, 5000)
        let sum = try reader.bytes(of: reference).reduce(0) { $0 + Int($1) }
        #expect(sum == 35000)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 64)
        defer { copy.deallocate() }
        try BlockCopier(directories: bench.directories).copy(reference, into: copy)
        #expect(copy.allSatisfy { $0 == 7 })
    }

    @Test func segmentsAreAnnouncedOnceAndInOrder() throws {
        _ = try bench.arena.reserve(100)
        let large = try bench.arena.reserve(3 << 20)
        let changes = bench.arena.drainAnnouncements()
        #expect(changes.opened.map(\.number) == [1, 2])
        #expect(changes.closed.isEmpty)
        #expect(bench.arena.drainAnnouncements().isEmpty)
        bench.arena.retire(large.id)
        #expect(bench.arena.drainAnnouncements().closed.map(\.number) == [2])
    }

    @Test func aFullArenaRefusesAndRecovers() throws {
        let bench = try ArenaBench(totalBytesMax: 4 << 20)
        var blocks: [OutputBlock] = []
        let error = #expect(throws: ImageError.self) {
            while true { blocks.append(try bench.arena.reserve(200_000)) }
        }
        #expect(error?.code == .arenaFull)
        #expect(blocks.count > 10)
        bench.arena.free(blocks[3].id)
        bench.arena.free(blocks[3].id)
        let again = try bench.arena.reserve(200_000)
        #expect(again.offset == blocks[3].offset && again.id != blocks[3].id)
    }

    @Test(arguments: [1_000, 2 << 20])
    func bytesWithTwoIDsAreFreeWithTheLast(count: Int) throws {
        let block = try bench.arena.reserve(count)
        bench.fill(block, 10, with: 5)
        let other = try #require(bench.arena.share(block))
        #expect(other.id != block.id && other.offset == block.offset)
        #expect(bench.arena.usage.usedBytes < 2 * (count + 2 * ArenaLimits.page))
        bench.arena.free(block.id)
        #expect(!bench.arena.isInUse(block.id) && bench.arena.isInUse(other.id))
        let next = try bench.arena.reserve(count)
        #expect((next.segment, next.offset) != (other.segment, other.offset))
        bench.fill(next, 10, with: 6)
        #expect(other.bytes.prefix(10).allSatisfy { $0 == 5 })
        bench.arena.free(other.id)
        bench.arena.free(other.id)
        bench.arena.discard(next)
        #expect(bench.arena.usage.blocks == 0)
        #expect(bench.arena.share(block) == nil, "a released block isn't shared")
    }

    @Test func everythingFreedLeavesOneWarmSegmentAndNothingUsed() throws {
        let bench = try ArenaBench(totalBytesMax: 256 << 20)
        let blocks = try (0..<60).map { _ in try bench.arena.reserve(900_000) }
        #expect(bench.arena.usage.segments > 2)
        for block in blocks { bench.arena.discard(block) }
        let usage = bench.arena.usage
        #expect(usage.blocks == 0 && usage.usedBytes == 0 && usage.segments == 1)
    }

    /// A worker that exits abruptly may have a thread that still writes.
    @Test func afterTheNamesAreGoneWhatIsMappedIsWrittenAllTheSame() throws {
        let block = try bench.arena.reserve(2 << 20)
        bench.arena.unlinkAll()
        let directory = try FileDescriptor.openDirectory(
            bench.directories.path(of: .stage, producer: PoolName(.decode)))
        #expect(try directory.entries().isEmpty)
        block.bytes.initializeMemory(as: UInt8.self, repeating: 7)
        #expect(block.bytes.allSatisfy { $0 == 7 })
    }

    @Test func aLargeBlockIsReusedWarmAfterItWasFreed() throws {
        let first = try bench.arena.reserve(2 << 20)
        bench.arena.free(first.id)
        let second = try bench.arena.reserve(2 << 20)
        #expect(second.segment == first.segment && second.id != first.id)
    }

    @Test func whatIsKeptWarmIsLittleOnASmallFileSystem() {
        let small = ArenaLimits(totalBytesMax: 1 << 30, fileSystemBytes: 8 << 20)
        #expect(small.spareBytesMax == 256 << 10)
        let large = ArenaLimits(totalBytesMax: 1 << 30, fileSystemBytes: 24 << 30)
        #expect(large.spareBytesMax == 128 << 20)
    }

    @Test func growingKeepsTheBytes() throws {
        let small = try bench.arena.reserve(1000)
        bench.fill(small, 1000, with: 9)
        let grown = try bench.arena.resize(small, to: 2 << 20, keeping: 1000)
        #expect(grown.bytes.prefix(1000).allSatisfy { $0 == 9 })
        #expect(bench.arena.usage.blocks == 1)
    }

    @Test func aReferenceBeyondItsSegmentIsRefused() throws {
        let block = try bench.arena.reserve(100)
        var reference = bench.reference(block, 100)
        let reader = BlockReader(directories: bench.directories)
        for (offset, length) in [
            (block.offset, UInt64(1 << 40)), (UInt64.max - 5, 10), (0, 10), (UInt64(1) << 40, 1),
        ] {
            reference.offset = offset
            reference.length = length
            #expect(throws: ImageError.self) {
                _ = try reader.bytes(of: reference).count
            }
        }
    }

    @Test(.enabled(if: CurrentProcess.userID == 0, "only root gives files away"))
    func aSegmentOfAnotherThanTheDirectorysOwnerIsRefused() throws {
        let reference = bench.reference(try bench.arena.reserve(100), 100)
        let directory = try FileDescriptor.openDirectory(bench.stagePath)
        try directory.open(bench.segmentName(reference)).setOwner(userID: 4711, groupID: 0)
        #expect(bench.failure(of: reference) == .stale)
        try directory.setOwner(userID: 4711, groupID: 0)
        #expect(bench.failure(of: reference) == nil)
    }

    @Test(arguments: ["a link", "a pipe"])
    func whatIsNoFileOfItsOwnIsRefused(_ what: String) throws {
        let reference = bench.reference(try bench.arena.reserve(100), 100)
        let name = bench.segmentName(reference)
        let directory = try FileDescriptor.openDirectory(bench.stagePath)
        try directory.rename(name, to: "elsewhere")
        let line =
            what == "a link"
            ? ["/bin/ln", "-s", "elsewhere", "\(bench.stagePath)/\(name)"]
            : ["/usr/bin/mkfifo", "\(bench.stagePath)/\(name)"]
        let child = try ChildProcess(ChildCommand(line[0], Array(line.dropFirst())))
        try #require(try child.wait() == .exited(0))
        #expect(bench.failure(of: reference) != nil)
        try directory.rename("elsewhere", to: name)
        #expect(bench.failure(of: reference) == nil)
    }

    @Test(arguments: [0o2750, 0o700, 0o770, 0o777])
    func aDirectoryInWhichOthersWriteIsNotRead(_ mode: Int) throws {
        let reference = bench.reference(try bench.arena.reserve(100), 100)
        try FileDescriptor.openDirectory(bench.stagePath).setMode(UInt32(mode))
        #expect(bench.failure(of: reference) == (mode & 0o022 == 0 ? nil : .internalError))
    }

    @Test func segmentsAreReadableByTheGroupWhateverTheUmask() throws {
        let reference = bench.reference(try bench.arena.reserve(100), 100)
        let directory = try FileDescriptor.openDirectory(bench.stagePath)
        #expect(try directory.status(of: bench.segmentName(reference)).mode == 0o640)
    }
}

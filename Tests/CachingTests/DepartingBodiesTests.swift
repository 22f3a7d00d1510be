import Model
import Testing

@testable import Caching

/// Large bodies evicted from memory: those whose readers have released them are reused, all others
/// are retired, so that no reader sees another body in their memory (SEMANTICS §14.6).
@Suite struct DepartingBodiesTests {
    private let space = TestSpace()
    private var departing = DepartingBodies(bytesMax: 2_000)

    /// Adds a body without other references. Returns its block.
    private mutating func add(_ length: Int = 1_000) throws -> BlockID {
        let body = try Body(in: .results(space), length: length)
        departing.add(body)
        return body.reference.block
    }

    @Test mutating func onlyWhatIsReleasedIsUsedAgain() throws {
        let (first, second) = (try add(), try add())
        #expect(departing.bytes == 2_000 && space.liveBlocks == 2, "within the limit")
        departing.release(second)
        #expect(!space.isRetired(second) && space.liveBlocks == 1)
        departing.release(second)
        departing.release(BlockID(99))
        #expect(departing.bytes == 1_000, "unknown ones are ignored")
        let gaveUp = departing.giveUpOldest()
        #expect(gaveUp)
        #expect(space.isRetired(first) && departing.bytes == 0)
        let gaveUpMore = departing.giveUpOldest()
        #expect(!gaveUpMore)
    }

    @Test mutating func theOldestAreGivenUpWhereTooMuchWaits() throws {
        let blocks = [try add(), try add(), try add(1)]
        #expect(blocks.map { space.isRetired($0) } == [true, false, false])
        #expect(departing.bytes == 1_001)
        let large = try add(2_001)
        #expect((blocks + [large]).allSatisfy { space.isRetired($0) }, "it exceeds the limit alone")
        #expect(departing.bytes == 0 && space.liveBlocks == 0)
    }

    /// Readers known only to an earlier coordinator may still have large bodies mapped.
    @Test mutating func aNewCoordinatorReleasesNothingThatOthersRead() throws {
        departing = DepartingBodies(bytesMax: 8 << 20)
        let waiting = try add()
        var living = [
            try Body(in: .results(space), length: CacheStage.largeBytes),
            try Body(in: .results(space), length: CacheStage.largeBytes - 1),
        ]
        let blocks = living.map { $0.reference.block }
        departing.distrust(living)
        #expect(space.isRetired(waiting) && departing.bytes == 0)
        for body in living { departing.add(body) }
        living = []
        for block in blocks { departing.release(block) }
        #expect(blocks.map { space.isRetired($0) } == [true, false])
        #expect(space.liveBlocks == 0 && departing.bytes == 0)
        let later = try add(CacheStage.largeBytes)
        departing.release(later)
        #expect(!space.isRetired(later), "it had no readers before")
    }
}

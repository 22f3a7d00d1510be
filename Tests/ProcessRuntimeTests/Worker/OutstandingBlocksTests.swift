import Model
import Testing

@testable import ProcessRuntime

@Suite struct OutstandingBlocksTests {
    private func reference(_ block: UInt64, _ arena: ArenaName = .stage) -> BlockReference {
        BlockReference(arena: arena, segment: 1, offset: 64, length: 1, block: BlockID(block))
    }

    @Test func whatWasNotReleasedIsFreedWithTheSession() {
        var blocks = OutstandingBlocks()
        blocks.add(ShortList(reference(1)))
        blocks.add(ShortList(contentsOf: [reference(2), reference(3), reference(4)]))
        blocks.remove([BlockID(2)])
        #expect(Set(blocks.removeAll()) == [BlockID(1), BlockID(3), BlockID(4)])
        #expect(blocks.removeAll().isEmpty)
    }

    @Test func resultsAreTheCachesOwn() {
        var blocks = OutstandingBlocks()
        blocks.add(ShortList(reference(1, .results)))
        blocks.add(ShortList())
        #expect(blocks.removeAll().isEmpty)
    }
}

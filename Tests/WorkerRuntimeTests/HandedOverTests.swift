import Messages
import Testing

@testable import WorkerRuntime

@Suite struct HandedOverTests {
    private func reference(_ block: UInt64, _ arena: ArenaName = .stage) -> BlockReference {
        BlockReference(arena: arena, segment: 1, offset: 64, length: 1, block: BlockID(block))
    }

    @Test func whatWasNotReleasedIsFreedWithTheSession() {
        var blocks = HandedOver()
        for block in 1...3 { blocks.add(reference(UInt64(block))) }
        blocks.remove([BlockID(2)])
        #expect(Set(blocks.takeAll()) == [BlockID(1), BlockID(3)])
        #expect(blocks.takeAll().isEmpty)
    }

    @Test func resultsAreTheCachesOwn() {
        var blocks = HandedOver()
        blocks.add(reference(1, .results))
        blocks.add(nil)
        #expect(blocks.takeAll().isEmpty)
    }
}

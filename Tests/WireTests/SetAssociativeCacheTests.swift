import TestKit
import Testing
import Wire

@Suite struct SetAssociativeCacheTests {
    private final class Box {
        let hash: Int
        let name: String

        init(_ hash: Int, _ name: String) { (self.hash, self.name) = (hash, name) }
    }

    private func find(_ table: SetAssociativeCache<Box>, _ box: Box) -> Box? {
        table.find(box.hash) { $0.name == box.name }
    }

    @Test func fourOfOneHashAreThereAndAFifthTakesThePlaceOfOne() {
        var table = SetAssociativeCache<Box>(bits: 5)
        let boxes = (0..<5).map { Box(8, "\($0)") }
        for box in boxes.prefix(4) { table.enter(box, 8) { $0.name == box.name } }
        #expect(boxes.prefix(4).allSatisfy { find(table, $0) === $0 })
        table.enter(boxes[4], 8) { $0.name == "4" }
        #expect(find(table, boxes[4]) === boxes[4])
        #expect(boxes.count { find(table, $0) != nil } == 4)
    }

    @Test func aNewerOneTakesThePlaceOfTheSame() {
        var table = SetAssociativeCache<Box>(bits: 2)
        let (others, old, new) = ((0..<3).map { Box(1, "\($0)") }, Box(1, "x"), Box(1, "x"))
        for box in others + [old, new] { table.enter(box, 1) { $0.name == box.name } }
        #expect(find(table, old) === new)
        #expect(others.allSatisfy { find(table, $0) === $0 })
    }

    /// As many as a server may use concurrently: almost none evicts another.
    @Test func tenThousandHaveTheirPlaces() {
        var table = SetAssociativeCache<Box>(bits: 15)
        var random = SeededGenerator(seed: 1)
        let boxes = (0..<10_000).map { Box(Int(truncatingIfNeeded: random.next()), "\($0)") }
        for box in boxes { table.enter(box, box.hash) { $0.name == box.name } }
        #expect(boxes.count { find(table, $0) === $0 } > 9_900)
    }

    @Test func aTableOfNoPlacesHasFour() {
        var table = SetAssociativeCache<Box>(bits: 0)
        for number in 0..<100 { table.enter(Box(number, "\(number)"), number) { _ in false } }
        #expect((0..<100).count { number in table.find(number) { $0.hash == number } != nil } == 4)
    }
}

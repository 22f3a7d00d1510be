import Testing

@testable import Caching

/// Access times are batched: written at most ten seconds after the first, or when the batch is
/// full.
@Suite struct AccessBatchTests {
    private var batch = AccessBatch()

    @Test mutating func itIsDueTenSecondsAfterTheFirstUse() {
        #expect(!batch.isDue(at(1_000)), "there is none")
        batch.note("a", at(5))
        batch.note("b", at(9))
        #expect(!batch.isDue(at(14)) && batch.isDue(at(15)))
        #expect(!batch.isDue(at(5)) && batch.isDue(at(4)), "the clock was set back")
    }

    @Test mutating func itIsDueWithEnoughKeys() {
        for number in 1..<AccessBatch.countEnough { batch.note("\(number)", at(0)) }
        batch.note("1", at(0))
        #expect(!batch.isDue(at(0)), "one key twice is one")
        batch.note("0", at(0))
        #expect(batch.isDue(at(0)))
    }

    @Test mutating func theLatestUseCounts() {
        for moment in [5, 3, 7] as [Int64] { batch.note("a", at(moment)) }
        #expect(batch["a"] == at(7) && batch["b"] == nil)
        batch.note("a", at(6))
        #expect(batch["a"] == at(7))
    }

    @Test mutating func beyondTheLimitOnlyKnownKeysAreNoted() {
        for number in 0..<AccessBatch.countMax { batch.note("\(number)", at(0)) }
        batch.note("more", at(1))
        batch.note("0", at(1))
        #expect(batch["more"] == nil && batch["0"] == at(1))
        #expect(batch.times.count == AccessBatch.countMax)
    }

    /// The interval starts again with the next access.
    @Test mutating func whatWasHandedOutIsOver() {
        batch.note("a", at(0))
        batch.note("b", at(1))
        #expect(batch.removeAll() == ["a": at(0), "b": at(1)])
        #expect(batch.times.isEmpty && !batch.isDue(at(1_000)))
        batch.note("c", at(50))
        #expect(!batch.isDue(at(59)) && batch.isDue(at(60)))
        #expect(batch.popFirst()?.key == "c" && batch.popFirst() == nil)
        #expect(!batch.isDue(at(1_000)))
        batch.note("d", at(70))
        batch.note("e", at(75))
        #expect(batch.popFirst() != nil)
        #expect(!batch.isDue(at(79)) && batch.isDue(at(80)), "one of the two is left")
    }
}

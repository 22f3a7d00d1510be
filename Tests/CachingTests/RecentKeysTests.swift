import Testing

@testable import Caching

/// Between one and two times as many keys are known as the capacity says.
@Suite struct RecentKeysTests {
    private var keys = RecentKeys(capacity: 100)

    private func hash(_ number: UInt64) -> UInt64 { (number + 1) &* 0x9E37_79B9_7F4A_7C15 }

    private mutating func note(_ numbers: Range<UInt64>) {
        for number in numbers { keys.note(hash(number)) }
    }

    private func known(_ numbers: Range<UInt64>) -> Int {
        numbers.count { keys.contains(hash($0)) }
    }

    /// A few that were never noted are taken for others, and a few of those that are forgotten.
    @Test mutating func theOldestAreForgottenTogether() {
        #expect(known(0..<100) == 0)
        note(0..<100)
        #expect(known(0..<100) == 100)
        note(100..<200)
        #expect(known(0..<200) == 200, "twice as many")
        note(200..<215)
        #expect(known(100..<215) == 115)
        #expect(known(0..<100) < 20)
    }

    @Test mutating func whatIsNotedAgainIsKnownAndTakesNoRoom() {
        #expect(!keys.note(hash(0)) && keys.note(hash(0)))
        for _ in 0..<1_000 { keys.note(hash(0)) }
        note(1..<90)
        #expect(known(0..<90) == 90)
    }

    /// A key that is used again and again stays, whatever comes beside it.
    @Test mutating func whatIsNotedAgainIsNew() {
        for round in 0..<20 as Range<UInt64> {
            #expect(keys.note(hash(0)) == (round > 0))
            note(1 + 50 * round..<51 + 50 * round)
        }
    }
}

import ProcessRuntime
import Testing

@Suite struct LineBudgetTests {
    private let second: UInt64 = 1_000_000_000

    @Test func aFloodIsCutAndCounted() {
        var budget = LineBudget(linesPerSecond: 3)
        let verdicts = (0..<10).map { budget.admit(at: 5 * second + $0) }
        #expect(verdicts.prefix(3).allSatisfy { $0 == .write(leftOut: 0) })
        #expect(verdicts.dropFirst(3).allSatisfy { $0 == .leaveOut })
        #expect(budget.admit(at: 6 * second) == .write(leftOut: 7))
        #expect(budget.admit(at: 6 * second) == .write(leftOut: 0))
        #expect(budget.drainLeftOut() == 0)
    }

    @Test func whatWasLeftOutLastIsStillKnownAtTheEnd() {
        var budget = LineBudget(linesPerSecond: 1)
        for _ in 0..<4 { _ = budget.admit(at: second) }
        #expect(budget.drainLeftOut() == 3)
    }
}

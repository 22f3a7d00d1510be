import Linux
import Testing

@Suite struct ProcessorTimeTests {
    @Test func whatThisProcessDoesIsCounted() throws {
        let before = try ProcessorTime.nanoseconds(of: CurrentProcess.processID)
        let until = MonotonicClock.now() + 20_000_000
        while MonotonicClock.now() < until {}
        let after = try ProcessorTime.nanoseconds(of: CurrentProcess.processID)
        #expect(after > before)
    }

    @Test func aProcessThatIsNotThereHasNone() {
        #expect(throws: Errno.noSuchFile) { try ProcessorTime.nanoseconds(of: 999_999_999) }
    }
}

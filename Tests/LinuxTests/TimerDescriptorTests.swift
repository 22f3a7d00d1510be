import Linux
import Testing

@Suite struct TimerDescriptorTests {
    @Test func itIsReadableAtItsMomentAndNotBefore() throws {
        let timer = try TimerDescriptor()
        #expect(try !timer.descriptor.wait(for: .readable, milliseconds: 0))
        let moment = MonotonicClock.now() + 20_000_000
        try timer.set(nanoseconds: moment)
        #expect(try timer.descriptor.wait(for: .readable, milliseconds: 10_000))
        #expect(MonotonicClock.now() >= moment)
        let drained = [timer.drain(), timer.drain()]
        #expect(drained == [true, false])
        #expect(try !timer.descriptor.wait(for: .readable, milliseconds: 0))
    }

    @Test func aMomentThatHasPassedIsNow() throws {
        let timer = try TimerDescriptor()
        try timer.set(nanoseconds: 1)
        #expect(try timer.descriptor.wait(for: .readable, milliseconds: 0))
        try timer.set(nanoseconds: MonotonicClock.now() + 60_000_000_000)
        let isDue = timer.drain()
        #expect(!isDue, "a new moment replaces the old one")
    }
}

import Linux
import Model
import ProcessRuntime
import Testing

@Suite struct ReadyPipeTests {
    private let name = Incarnation(Identifier128(high: 1, low: 2))

    @Test func signsFollowReadyWhereItBeats() throws {
        let pipe = try FileDescriptor.pipe()
        do {
            let own = try pipe.writeEnd.duplicate().relinquish()
            var ready = ReadyPipe(inherited: Int(own), beats: true)
            for stage in [Heartbeat.Stage.begun, .ready, .alive] {
                let isHeard = ready.report(stage, name)
                #expect(isHeard)
            }
        }
        try pipe.writeEnd.close()
        let text = String(
            decoding: try pipe.readEnd.readToEnd(bytesMax: 4_096), as: UTF8.self)
        let bits = name.value.hex
        #expect(text == "begun \(bits)\nready \(bits)\nalive \(bits)\n")
    }

    /// Once: later messages have no reader. A test's process has SIGPIPE ignored.
    @Test func itSaysThatNobodyReads() throws {
        try Signal.brokenPipe.ignore()
        let pipe = try FileDescriptor.pipe()
        try pipe.readEnd.close()
        var ready = ReadyPipe(
            inherited: Int(try pipe.writeEnd.duplicate().relinquish()), beats: true)
        let isHeard = [ready.report(.begun, name), ready.report(.alive, name)]
        #expect(isHeard == [false, true])
    }

    /// The supervisor is merely busy.
    @Test func whoReadsLateIsNotGone() throws {
        let pipe = try FileDescriptor.pipe()
        var ready = ReadyPipe(
            inherited: Int(try pipe.writeEnd.duplicate().relinquish()), beats: true)
        var heard = 0
        for _ in 0..<10_000 where ready.report(.alive, name) { heard += 1 }
        #expect(heard == 10_000)
        var buffer = [UInt8](repeating: 0, count: 1_024)
        #expect(try buffer.withUnsafeMutableBytes { try pipe.readEnd.read(into: $0) } == 1_024)
    }

    @Test func withoutADescriptorNobodyIsMissed() {
        var ready = ReadyPipe(inherited: nil, beats: true)
        let isHeard = ready.report(.begun, name)
        #expect(isHeard)
    }
}

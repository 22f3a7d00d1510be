import Linux
import TestKit
import Testing
import ZeroMQ

/// A wait ends exactly when its time is over, although libzmq has internal work meanwhile: it wakes
/// the descriptor of a socket whenever a peer connects or disconnects.
@Suite struct PollSetTimeTests {
    /// Connects one peer after the other until the gate is open, for ten seconds at most.
    private static func visit(
        _ endpoint: Endpoint, until gate: Gate, counting visits: Monitor<Int>
    ) throws {
        let context = try Context()
        let end = MonotonicClock.now() + 10_000_000_000
        while !gate.isOpen, MonotonicClock.now() < end {
            let peer = try Socket(.dealer, in: context, SocketOptions(frameBytesMax: 1_024))
            var monitor = try SocketMonitor(peer, in: context)
            try peer.connect(endpoint)
            let isConnected = try monitor.waitFor {
                if case .handshakeSucceeded = $0 { true } else { false }
            }
            if isConnected { visits.withLock { $0 += 1 } }
        }
    }

    @Test func aWaitEndsInTimeWhilePeersComeAndGo() throws {
        let pair = try SocketPair()
        let (gate, visits, endpoint) = (Gate(), Monitor(0), pair.endpoint)
        let thread = BackgroundThread {
            try? Self.visit(endpoint, until: gate, counting: visits)
        }
        defer { gate.open() }
        #expect(visits.wait { $0 > 0 })
        let (before, start) = (visits.current, MonotonicClock.now())
        #expect(try pair.polls.wait(milliseconds: 500) == .timedOut)
        let milliseconds = (MonotonicClock.now() - start) / 1_000_000
        #expect((498..<5_000).contains(milliseconds))
        #expect(visits.current > before, "some came meanwhile")
        gate.open()
        #expect(thread.join())
    }
}

import Glibc
import Linux
import Synchronization
import Testing
import ZeroMQ

@Suite struct SocketMonitorTests {
    @Test func aConnectionIsSeenFromBothSides() throws {
        let pair = try SocketPair()
        var serving = try SocketMonitor(pair.router, in: pair.context)
        let dealer = try Socket(.dealer, in: pair.context, SocketOptions(frameBytesMax: 1_000))
        var calling = try SocketMonitor(dealer, in: pair.context)
        try dealer.connect(pair.endpoint)
        #expect(try calling.waitFor { if case .connected = $0 { true } else { false } })
        #expect(try calling.waitFor { if case .handshakeSucceeded = $0 { true } else { false } })
        #expect(try serving.waitFor { if case .accepted = $0 { true } else { false } })
        #expect(try serving.waitFor { if case .handshakeSucceeded = $0 { true } else { false } })
        #expect(try serving.next() == nil)
    }

    @Test func aClosedPeerIsADisconnectionOfItsDescriptor() throws {
        let pair = try SocketPair()
        var monitor = try SocketMonitor(pair.router, in: pair.context)
        var descriptor: Int32?
        do {
            let dealer = try pair.dealer()
            #expect(try dealer.send(text: "here for now") == .sent)
            #expect(try pair.receive())
            descriptor = pair.source
        }
        let known = try #require(descriptor)
        #expect(try monitor.waitFor { $0 == .disconnected(descriptor: known) })
        let gone = try #require(pair.peer)
        // The event may arrive before the ROUTER itself has noticed the disconnect by receiving.
        let limit = MonotonicClock.now() + 10_000_000_000
        var outcome = SendOutcome.sent
        while outcome != .hostUnreachable, MonotonicClock.now() < limit {
            _ = try pair.reader.receive(from: pair.router)
            outcome = try pair.router.send(to: gone)
            // Without waiting: if the peer disconnects just now, there is nothing to wait for.
            if outcome == .sent { _ = try pair.router.send("lost".utf8Span.span.bytes) }
            usleep(1_000)
        }
        #expect(outcome == .hostUnreachable)
    }

    /// The peer is another process, killed without a chance to say goodbye.
    @Test func aKilledPeerIsADisconnection() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let watcher = KilledPeerWatcher()
        let thread = try Thread(name: "watcher") { watcher.serve(path: path) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let socket = try Socket(.dealer, in: try Context(), SocketOptions(frameBytesMax: 100))
            try socket.connect(try Endpoint(path: path))
            guard try socket.send(text: "hello") == .sent, try socket.receiveText() == ["die"]
            else { exit(1) }
            kill(getpid(), SIGKILL)
        }
        thread.join()
        #expect(watcher.hasSeenTheEnd.withLock { $0 })
    }

    @Test func aMonitorMayEndBeforeItsSocket() throws {
        let pair = try SocketPair()
        do { _ = try SocketMonitor(pair.router, in: pair.context) }
        let dealer = try pair.dealer()
        #expect(try dealer.send(text: "nobody watches") == .sent)
        #expect(try pair.receive())
        // And the socket may be monitored again.
        var again = try SocketMonitor(pair.router, in: pair.context)
        _ = try pair.dealer()
        #expect(try again.waitFor { if case .accepted = $0 { true } else { false } })
    }

    @Test func aSocketMayEndBeforeItsMonitor() throws {
        let context = try Context()
        let directory = try TemporaryDirectory()
        let endpoint = try Endpoint(path: directory.path + "/s")
        let (listening, monitorStopped): (UInt16, UInt16) = (0x0008, 0x0400)
        var monitor: SocketMonitor
        do {
            let socket = try Socket(.router, in: context, SocketOptions(frameBytesMax: 1))
            monitor = try SocketMonitor(socket, in: context)
            try socket.bind(endpoint)
        }
        #expect(try monitor.waitFor { $0 == .other(listening) })
        #expect(try monitor.waitFor { $0 == .other(monitorStopped) })
    }

    @Test func aStrangerThatDoesNotSpeakTheProtocolIsSeen() throws {
        var options = SocketOptions(frameBytesMax: 1_000)
        options.handshakeMilliseconds = 200
        let pair = try SocketPair(options)
        var monitor = try SocketMonitor(pair.router, in: pair.context)
        let stranger = try Stranger(path: pair.endpoint.path)
        try stranger.descriptor.writeAll(Array(repeating: 0x47, count: 64))
        // A failed handshake has one of three numbers.
        #expect(
            try monitor.waitFor {
                switch $0 {
                case .other(0x0800), .other(0x2000), .other(0x4000), .disconnected: true
                default: false
                }
            })
    }
}

extension SocketMonitor {
    /// Takes events until one matches; false if none does within ten seconds.
    mutating func waitFor(_ fits: (MonitorEvent) -> Bool) throws -> Bool {
        var polls = PollSet(capacity: 1)
        polls.add(socket)
        for _ in 0..<1_000 {
            while let event = try next() { if fits(event) { return true } }
            if try polls.wait(milliseconds: 10_000) == .timedOut { return false }
        }
        return false
    }
}

/// A bare Unix socket.
private struct Stranger: ~Copyable {
    let descriptor: FileDescriptor

    init(path: String) throws {
        descriptor = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = UInt16(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let number = descriptor.number
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw Errno.inputOutput }
    }
}

/// Serves one peer on its own thread: answers its hello, and waits for its disconnect.
private final class KilledPeerWatcher: Sendable {
    let hasSeenTheEnd = Mutex(false)

    func serve(path: String) {
        guard let seen = try? Self.seesTheEnd(path: path) else { return }
        hasSeenTheEnd.withLock { $0 = seen }
    }

    private static func seesTheEnd(path: String) throws -> Bool {
        let pair = try SocketPair(path: path)
        var monitor = try SocketMonitor(pair.router, in: pair.context)
        guard try pair.receive(), let descriptor = pair.source,
            let peer = pair.peer, try pair.router.send(to: peer) == .sent,
            try PeerCredentials(socket: descriptor).processID != CurrentProcess.processID,
            try pair.router.send(text: "die") == .sent
        else { return false }
        return try monitor.waitFor { $0 == .disconnected(descriptor: descriptor) }
    }
}

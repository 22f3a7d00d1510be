import Glibc
import TestKit
import Testing

@testable import MicroHTTPD

/// What an evented server takes of strangers at most, with real sockets.
@Suite struct EventedLimitTests {
    private final class Answering: EventedHandler {
        var count = 0
        func handle(_ exchange: EventedExchange) {
            count += 1
            exchange.answer(HTTPReply(body: .bytes([7])))
        }
        func ended(_: EventedExchange, _: HTTPEnd) {}
    }

    /// Runs the server on this thread until that is so; a minute and a half is for a machine that
    /// is busy with other things.
    private func run(_ server: borrowing EventedHTTPServer, until isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(90))
        while !isDone() {
            try #require(ContinuousClock.now < deadline, "nothing happens")
            var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, Int32(min(server.millisecondsUntilDue ?? 100, 100)))
            server.run()
        }
    }

    private func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits()
        change(&limits)
        return limits
    }

    @Test func whoSaysItsHeadTooSlowlyIsLetGo() throws {
        let server = try EventedHTTPServer(
            limits: limits { ($0.headSeconds, $0.idleSeconds) = (1, 3_600) }, handler: Answering())
        let silent = try RawClient(port: server.port)
        let slow = try RawClient(port: server.port)
        slow.send("GET / HTTP/1.1\r\nHost: a\r\n")
        let body = try RawClient(port: server.port)
        body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1")
        try run(server) { server.connectionCount == 3 }
        var lines = 0
        try run(server) {
            // Each byte is traffic, so no idle time ends it.
            if lines < 10_000 { slow.send("X: 1\r\n") }
            lines += 1
            return server.connectionCount == 0
        }
        #expect(silent.response().head.isEmpty && slow.response().status != 200)
        #expect(body.response().status != 200)
    }

    @Test func whoHasAskedMayRestForItsIdleTime() throws {
        let handler = Answering()
        let server = try EventedHTTPServer(
            limits: limits { ($0.headSeconds, $0.idleSeconds) = (1, 3_600) }, handler: handler)
        let client = try RawClient(port: server.port)
        client.get("/")
        try run(server) { handler.count == 1 }
        // Others are let go of meanwhile, more than once.
        for _ in 0..<2 {
            let silent = try RawClient(port: server.port)
            try run(server) { server.connectionCount == 2 }
            try run(server) { server.connectionCount == 1 }
            withExtendedLifetime(silent) {}
        }
        client.get("/")
        try run(server) { handler.count == 2 }
    }

    @Test func connectionsOfOneAddressHaveTheirLimit() throws {
        let server = try EventedHTTPServer(
            limits: limits { $0.connectionsPerPeer = 2 }, handler: Answering())
        let first = try RawClient(port: server.port)
        let second = try RawClient(port: server.port)
        try run(server) { server.connectionCount == 2 }
        let third = try RawClient(port: server.port)
        let ended = Recorder<Int>()
        let reader = Reader(third)
        let thread = BackgroundThread { ended.append(reader.read()) }
        try run(server) { !ended.values.isEmpty }
        #expect(thread.join() && ended.values == [0], "it is closed without a word")
        #expect(server.connectionCount == 2)
        withExtendedLifetime(first) {}
        withExtendedLifetime(second) {}
    }

    @Test func connectionsInAllHaveTheirLimitAndOthersWait() throws {
        let handler = Answering()
        let server = try EventedHTTPServer(
            limits: limits { ($0.connections, $0.connectionsPerPeer) = (2, 0) }, handler: handler)
        let second = try RawClient(port: server.port)
        do {
            let first = try RawClient(port: server.port)
            try run(server) { server.connectionCount == 2 }
            withExtendedLifetime(first) {}
        }
        let third = try RawClient(port: server.port)
        third.get("/")
        try run(server) { handler.count == 1 }
        withExtendedLifetime(second) {}
    }

    @Test func whoConnectsToASocketThatRefusesIsNotAcceptedAndASharedOneGoesOn() throws {
        let handler = Answering()
        let listener = cmicrohttpdListener()
        let port = listener.port
        do {
            let server = try EventedHTTPServer(listener: dup(listener.socket), handler: handler)
            let there = try RawClient(port: port)
            server.refuseConnections()
            there.get("/")
            try run(server) { handler.count == 1 }
            server.stopListening()
        }
        // Whoever holds the socket goes on with it: connections are made again.
        let later = try RawClient(port: port)
        let next = try EventedHTTPServer(listener: listener.socket, handler: handler)
        later.get("/")
        try run(next) { handler.count == 2 }
    }

    /// A socket of 127.0.0.1 that listens and does not block.
    private func cmicrohttpdListener() -> (socket: Int32, port: UInt16) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let made = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                _ = bind(made, raw, length)
                _ = getsockname(made, raw, &length)
            }
        }
        listen(made, 16)
        return (made, UInt16(bigEndian: address.sin_port))
    }

    // Unchecked: made here, and used by its one thread alone.
    private final class Reader: @unchecked Sendable {
        private let client: RawClient
        init(_ client: consuming RawClient) { self.client = client }
        func read() -> Int { client.response().status }
    }
}

import Glibc
import Linux
import TestKit
import Testing

@testable import MicroHTTPD

/// Limits of an evented server for untrusted clients, tested with real sockets.
@Suite struct EventedLimitTests {
    private final class Answering: EventedHandler {
        var count = 0
        var refused: [PeerAddress] = []
        let exempt: PeerAddress?

        init(exempt: String? = nil) { self.exempt = exempt.flatMap { PeerAddress(text: $0) } }

        func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool { peer == exempt }
        func refusedConnection(of peer: PeerAddress) { refused.append(peer) }

        func handle(_ exchange: EventedExchange) {
            count += 1
            exchange.answer(HTTPReply(body: .bytes([7])))
        }
        func ended(_: EventedExchange, _: HTTPEnd) {}
    }

    @Test func whoSaysItsHeadTooSlowlyIsLetGo() throws {
        let server = try EventedHTTPServer(
            limits: .with { ($0.headSeconds, $0.idleSeconds) = (1, 3_600) }, handler: Answering())
        let silent = try RawClient(port: server.port)
        let slow = try RawClient(port: server.port)
        slow.send("GET / HTTP/1.1\r\nHost: a\r\n")
        let body = try RawClient(port: server.port)
        body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1")
        try server.run { server.connectionCount == 3 }
        var lines = 0
        try server.run {
            // Each byte is traffic, so no idle timeout applies.
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
            limits: .with { ($0.headSeconds, $0.idleSeconds) = (1, 3_600) }, handler: handler)
        let client = try RawClient(port: server.port)
        client.get("/")
        try server.run { handler.count == 1 }
        // Other connections are closed in the meantime, more than once.
        for _ in 0..<2 {
            let silent = try RawClient(port: server.port)
            try server.run { server.connectionCount == 2 }
            try server.run { server.connectionCount == 1 }
            withExtendedLifetime(silent) {}
        }
        client.get("/")
        try server.run { handler.count == 2 }
    }

    /// The owner's other work comes in between, however much the peers pipeline: a run ends with
    /// the turn in which it has begun 64 requests, and a turn begins few per connection.
    @Test func aRunLeavesTheRestToTheNextOne() throws {
        let (connections, requests) = (40, 50)
        let handler = Answering()
        let server = try EventedHTTPServer(handler: handler)
        let clients = try (0..<connections).map { _ in Peer(try RawClient(port: server.port)) }
        try server.run { server.connectionCount == connections }
        let text = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: requests)
        for peer in clients { peer.client.send(text) }
        var (before, most) = (0, 0)
        try server.run {
            most = max(most, handler.count - before)
            before = handler.count
            return handler.count == connections * requests
        }
        #expect(most < 64 + 4 * connections)
        withExtendedLifetime(clients) {}
    }

    @Test func connectionsOfOneAddressHaveTheirLimit() throws {
        let handler = Answering()
        let server = try EventedHTTPServer(
            limits: .with { $0.connectionsPerPeer = 2 }, handler: handler)
        let first = try RawClient(port: server.port)
        let second = try RawClient(port: server.port)
        try server.run { server.connectionCount == 2 }
        let third = Peer(try RawClient(port: server.port))
        let status = try server.run(third) { $0.client.response().status }
        #expect(status == 0, "it is closed without a word")
        #expect(server.connectionCount == 2)
        #expect(handler.refused.map(\.text) == ["127.0.0.1"])
        withExtendedLifetime(first) {}
        withExtendedLifetime(second) {}
    }

    /// Closed connections do not count, and each address is counted separately.
    @Test func aConnectionThatEndedMakesRoomForAnotherOne() throws {
        let handler = Answering()
        let server = try EventedHTTPServer(
            limits: .with { $0.connectionsPerPeer = 1 }, handler: handler)
        for count in 1...3 {
            do {
                let client = try RawClient(port: server.port)
                client.get("/")
                try server.run { handler.count == count }
                withExtendedLifetime(client) {}
            }
            try server.run { server.connectionCount == 0 }
        }
        #expect(handler.refused == [])
    }

    @Test func anAddressThatIsExemptHasNoLimit() throws {
        let handler = Answering(exempt: "127.0.0.1")
        let server = try EventedHTTPServer(
            limits: .with { $0.connectionsPerPeer = 1 }, handler: handler)
        let first = try RawClient(port: server.port)
        let second = try RawClient(port: server.port)
        try server.run { server.connectionCount == 2 }
        #expect(handler.refused == [])
        withExtendedLifetime(first) {}
        withExtendedLifetime(second) {}
    }

    @Test func connectionsInAllHaveTheirLimitAndOthersWait() throws {
        let handler = Answering()
        let server = try EventedHTTPServer(
            limits: .with { ($0.connections, $0.connectionsPerPeer) = (2, 0) }, handler: handler)
        let second = try RawClient(port: server.port)
        do {
            let first = try RawClient(port: server.port)
            try server.run { server.connectionCount == 2 }
            withExtendedLifetime(first) {}
        }
        let third = try RawClient(port: server.port)
        third.get("/")
        try server.run { handler.count == 1 }
        withExtendedLifetime(second) {}
    }

    @Test func whoConnectsToASocketThatRefusesIsNotAcceptedAndASharedOneGoesOn() throws {
        let handler = Answering()
        let listener = try StreamListener(address: "127.0.0.1", port: 0)
        let port = listener.port ?? 0
        do {
            let server = try EventedHTTPServer(
                listener: dup(listener.descriptor.number), handler: handler)
            let there = try RawClient(port: port)
            server.refuseConnections()
            there.get("/")
            try server.run { handler.count == 1 }
            server.stopListening()
        }
        // The owner of the socket continues with it: connections are accepted again.
        let later = try RawClient(port: port)
        let next = try EventedHTTPServer(listener: listener.relinquish(), handler: handler)
        later.get("/")
        try next.run { handler.count == 2 }
    }
}

import TestKit
import Testing

@testable import MicroHTTPD

/// Peers that send or read a little now and then, so that they are never idle: they are
/// disconnected all the same. The library's own limit is far away.
@Suite struct SlowPeerTests {
    private static let limits = HTTPLimits.with { ($0.headSeconds, $0.bodyBytes) = (1, 1 << 20) }

    private static let starts = [
        "GET / HTTP/1.1\r\nHost: a\r\nX: ", "GET /", "\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n",
    ]

    @Test func whoTricklesIsEnded() throws {
        let handler = TestHandler { _ in HTTPReply() }
        let server = try EventedHTTPServer(
            limits: Self.limits, handler: handler)
        let ended = Recorder<Bool>()
        let threads = try Self.starts.map { start in
            let peer = try Peer(server, sending: start)
            return BackgroundThread {
                ended.append(peer.client.trickle(start == "\r\n" ? "\r\n" : "a"))
            }
        }
        try server.run { ended.values.count == threads.count }
        #expect(threads.allSatisfy { $0.join() } && ended.values.allSatisfy { $0 })
        try server.run { server.connectionCount == 0 }
        #expect(handler.seen.count == 1, "the whole one before a part of one")
    }

    @Test func whoWaitsForAnAnswerMayWait() throws {
        let handler = TestHandler { _ in nil }
        let server = try EventedHTTPServer(
            limits: Self.limits, handler: handler)
        let client = try RawClient(port: server.port)
        client.get("/")
        try server.run { handler.seen.count == 1 }
        let end = ContinuousClock.now.advanced(by: .milliseconds(1_500))
        try server.run { ContinuousClock.now >= end }
        #expect(server.waitingCount == 1 && handler.ends.isEmpty)
        handler.seen[0].answer(HTTPReply())
        try server.run { handler.ends == [.complete] }
    }

    @Test func whoReadsTooSlowlyIsEnded() throws {
        let gone = Recorder<Bool>()
        let count = 256 << 20
        let handler = TestHandler { _ in
            let owner = MarkedOwner(zeros: count, gone)
            return HTTPReply(body: .memory(UnsafeRawBufferPointer(owner.bytes), owner: owner))
        }
        let server = try EventedHTTPServer(
            limits: .with { ($0.idleSeconds, $0.leastBytesPerSecond) = (1, 1 << 30) },
            handler: handler)
        let peer = Peer(try RawClient(port: server.port))
        peer.client.get("/")
        let taken = Recorder<Int>()
        // Far more than a byte per second, but too slow for the whole response within the test.
        let thread = BackgroundThread { taken.append(peer.client.sip(atOnce: 1 << 16)) }
        try server.run { handler.ends == [.peerLeft] && !gone.values.isEmpty }
        try server.run { !taken.values.isEmpty }
        #expect(thread.join() && taken.values[0] < count)
    }

    /// The response timeout restarts as long as the peer reads fast enough.
    @Test func whoReadsFastEnoughHasAsLongAsItTakes() throws {
        let gone = Recorder<Bool>()
        let count = 16 << 20
        let handler = TestHandler { _ in
            let owner = MarkedOwner(zeros: count, gone)
            return HTTPReply(body: .memory(UnsafeRawBufferPointer(owner.bytes), owner: owner))
        }
        let server = try EventedHTTPServer(
            limits: .with { ($0.idleSeconds, $0.leastBytesPerSecond) = (1, 1 << 10) },
            handler: handler)
        let peer = try Peer(
            server, sending: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let begun = ContinuousClock.now
        // 5 MB/s at most: longer than three of the timeouts per part.
        let taken = try server.run(peer) { $0.client.sip(atOnce: 100_000) }
        #expect(taken > count && handler.ends == [.complete])
        #expect(ContinuousClock.now - begun > .seconds(2))
    }

    /// The kernel buffers only a part of an unread response; the rest stays in the server.
    @Test func theSystemKeepsLittleOfWhatNobodyReads() throws {
        let body = [UInt8](repeating: 0, count: 1 << 20)
        let handler = TestHandler { _ in HTTPReply(body: .bytes(body)) }
        let server = try EventedHTTPServer(limits: .with { $0.idleSeconds = 1 }, handler: handler)
        let client = try RawClient(port: server.port, receiving: 4_096)
        client.get("/")
        try server.run { handler.seen.count == 1 }
        let end = ContinuousClock.now + .milliseconds(200)
        try server.run { ContinuousClock.now >= end || !handler.ends.isEmpty }
        #expect(handler.ends.isEmpty)
        try server.run { handler.ends == [.peerLeft] && server.connectionCount == 0 }
    }

    /// A truncated request in the packet that closes the connection.
    @Test func aPartOfARequestThatIsTheLastWordIsLetGoOf() throws {
        let handler = TestHandler { _ in HTTPReply() }
        let server = try EventedHTTPServer(handler: handler)
        let peer = try Peer(server, sending: "GET / HTTP/1.1\r\nHost: a\r\n")
        peer.client.finish()
        let received = try server.run(peer) { $0.client.everything() }
        #expect(received == [])
        #expect(server.connectionCount == 0 && handler.seen.isEmpty)
    }

    /// A client that closes its sending side after a request still reads the complete response, and
    /// always gets one, regardless of the idle timeout.
    @Test(arguments: [("/", "HTTP/1.1 200"), ("/wait", "HTTP/1.1 499")])
    func whoHasSaidAllIsLetGoOf(target: String, status: String) throws {
        let handler = TestHandler { $0.target == "/wait" ? nil : HTTPReply() }
        let server = try EventedHTTPServer(
            limits: .with { $0.idleSeconds = 3_600 }, handler: handler)
        let peer = Peer(try RawClient(port: server.port))
        peer.client.get(target)
        peer.client.finish()
        let received = try server.run(peer) { $0.client.everything() }
        #expect(String(decoding: received, as: UTF8.self).hasPrefix(status))
        #expect(server.connectionCount == 0)
    }

    @Test func whoHasLeftBeforeTheWaitIsNotWaitedFor() throws {
        let handler = TestHandler { $0.target == "/wait" ? nil : HTTPReply() }
        let server = try EventedHTTPServer(handler: handler)
        let client = try RawClient(port: server.port)
        client.get("/first")
        client.get("/wait")
        client.finish()
        try server.run { handler.ends.count == 2 }
        #expect(handler.seen.map(\.target) == ["/first", "/wait"])
        #expect(handler.ends == [.complete, .peerLeft] && server.waitingCount == 0)
    }
}

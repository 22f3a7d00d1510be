import Glibc
import TestKit
import Testing

@testable import MicroHTTPD

@Suite struct EventedServerTests {
    /// The response that a client reads.
    private func responses(
        _ server: borrowing EventedHTTPServer, to text: String, bodyBytes count: Int = .max
    ) throws -> RawClient.Response {
        try server.run(Peer(server, sending: text)) { $0.client.response(bodyBytes: count) }
    }

    private static func get(_ target: String, _ more: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(more)\r\n"
    }

    @Test func anAnswerAtOnceArrives() throws {
        let handler = TestHandler { exchange in
            HTTPReply(
                status: 203, headers: [("ETag", "\"1\"")],
                body: .bytes(Array("\(exchange.method) \(exchange.target)".utf8)))
        }
        let server = try EventedHTTPServer(handler: handler)
        let wanted = Array("GET /a%20b//c?n=%2F".utf8)
        let response = try responses(
            server, to: Self.get("/a%20b//c?n=%2F"), bodyBytes: wanted.count)
        #expect(response.head.first?.hasPrefix("HTTP/1.1 203") == true)
        #expect(response.head.contains("ETag: \"1\""))
        #expect(response.body == wanted)
        #expect(handler.seen[0].target == "/a%20b//c?n=%2F")
    }

    @Test func headersAndPeerAreThoseOfTheRequest() throws {
        var found: [String?] = []
        let handler = TestHandler { exchange in
            found = [exchange.header("accept"), exchange.header("None"), exchange.peer.text]
            return HTTPReply(body: .bytes([1]))
        }
        let server = try EventedHTTPServer(handler: handler)
        _ = try responses(server, to: Self.get("/", "Accept: image/webp\r\n"), bodyBytes: 1)
        #expect(found == ["image/webp", nil, "127.0.0.1"])
        #expect(handler.seen[0].header("accept") == nil || handler.ends.isEmpty)
    }

    /// RFC 9110 §5.3: in order, regardless of the case of their names and of fields in between.
    @Test func linesOfOneFieldAreOneValue() throws {
        var found: [String?] = []
        let handler = TestHandler { exchange in
            found = ["Accept", "X", "Accep", "Range"].map { exchange.header($0) }
            return HTTPReply(body: .bytes([1]))
        }
        let server = try EventedHTTPServer(handler: handler)
        let lines = "Accept: a/b;q=0.5\r\nX:\r\naCCEPT: c/d\r\nx: 1\r\nRange: r\r\nAccept:e/f\r\n"
        _ = try responses(server, to: Self.get("/", lines), bodyBytes: 1)
        #expect(found == ["a/b;q=0.5, c/d, e/f", ", 1", nil, "r"])
    }

    /// In the preferred format (RFC 9110 §5.6.7), and only once.
    @Test func anAnswerHasTheDateAtWhichItWasMade() throws {
        let server = try EventedHTTPServer(handler: TestHandler { _ in HTTPReply() })
        let before = time(nil)
        let response = try responses(server, to: Self.get("/", "Connection: close\r\n"))
        let dates = response.head.filter { $0.lowercased().hasPrefix("date:") }
        let permitted = (before...time(nil)).map { Self.dateLine(of: $0) }
        #expect(dates.count == 1 && permitted.contains(dates[0]), "\(dates)")
    }

    private static func dateLine(of seconds: time_t) -> String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        let bytesMax = 64
        var text = [CChar](repeating: 0, count: bytesMax)
        let count = strftime(&text, bytesMax, "Date: %a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The client gets an error instead of no response.
    @Test(arguments: ["", "a\nb", "a\rb"])
    func aHeaderThatCannotBeOneIsAFault(value: String) throws {
        let handler = TestHandler { _ in
            HTTPReply(headers: [("X-Bad", value)], body: .bytes([1, 2]))
        }
        let server = try EventedHTTPServer(handler: handler)
        let response = try responses(server, to: Self.get("/", "Connection: close\r\n"))
        #expect(response.status == 500 && response.body.isEmpty)
    }

    @Test func anAnswerMayComeLater() throws {
        let handler = TestHandler { _ in nil }
        let server = try EventedHTTPServer(handler: handler)
        let peer = try Peer(server, sending: Self.get("/later"))
        try server.run { handler.seen.count == 1 }
        #expect(server.waitingCount == 1)
        handler.seen[0].answer(HTTPReply(body: .bytes(Array("late".utf8))))
        handler.seen[0].answer(HTTPReply(status: 500))
        let response = try server.run(peer) { $0.client.response(bodyBytes: 4) }
        #expect(response.body == Array("late".utf8))
        #expect(server.waitingCount == 0)
        try server.run { handler.ends == [.complete] }
    }

    @Test func whoLeavesWhileItWaitsIsNoticed() throws {
        let handler = TestHandler { _ in nil }
        let server = try EventedHTTPServer(handler: handler)
        for _ in 0..<3 {
            let client = try RawClient(port: server.port)
            client.get("/gone")
            let before = handler.seen.count
            try server.run { handler.seen.count == before + 1 }
        }
        try server.run { handler.ends.count == 3 && server.connectionCount == 0 }
        #expect(handler.ends == [.peerLeft, .peerLeft, .peerLeft])
        handler.seen[0].answer(HTTPReply())
        #expect(handler.seen[0].header("Host") == nil, "nothing is left of it")
        #expect(server.waitingCount == 0)
    }

    @Test func aConnectionGoesOnAfterAWait() throws {
        let handler = TestHandler { $0.target == "/wait" ? nil : HTTPReply(body: .bytes([7])) }
        let server = try EventedHTTPServer(handler: handler)
        let client = try RawClient(port: server.port)
        client.get("/wait")
        client.get("/next")
        try server.run { handler.seen.count == 1 }
        handler.seen[0].answer(HTTPReply(body: .bytes([])))
        try server.run { handler.ends.count == 2 }
        #expect(handler.seen.map(\.target) == ["/wait", "/next"])
        #expect(handler.ends == [.complete, .complete])
    }

    @Test func memoryIsNotCopiedAndIsLetGoOf() throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let gone = Recorder<Bool>()
        let handler = TestHandler { _ in
            let owner = MarkedOwner(bytes, gone)
            return HTTPReply(body: .memory(UnsafeRawBufferPointer(owner.bytes), owner: owner))
        }
        let server = try EventedHTTPServer(handler: handler)
        let response = try responses(server, to: Self.get("/"), bodyBytes: bytes.count)
        #expect(response.body == bytes)
        try server.run { !gone.values.isEmpty }
        let client = try RawClient(port: server.port)
        client.get("/")
        try server.run { handler.seen.count == 2 }
        _ = consume client
        try server.run { gone.values.count == 2 }
    }

    @Test func aHeadHasNoBody() throws {
        let handler = TestHandler { _ in HTTPReply(body: .bytes([1, 2, 3])) }
        let server = try EventedHTTPServer(handler: handler)
        let response = try responses(
            server, to: "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.head.contains("Content-Length: 3") && response.body.isEmpty)
    }

    @Test(arguments: [(3, 200), (4, 413)])
    func aBodyHasItsLimit(count: Int, status: Int) throws {
        let handler = TestHandler { HTTPReply(body: .bytes($0.body)) }
        let server = try EventedHTTPServer(limits: .with { $0.bodyBytes = 3 }, handler: handler)
        let body = String(repeating: "x", count: count)
        let response = try responses(
            server,
            to: "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                + "Content-Length: \(count)\r\n\r\n\(body)")
        #expect(response.head.first?.contains(" \(status)") == true, "\(response.head)")
        #expect(handler.seen.count == (status == 200 ? 1 : 0))
    }

    /// A client doesn't have to send a rejected body: the response comes first.
    @Test(arguments: ["Content-Length: 99999999\r\n", "Transfer-Encoding: chunked\r\n"])
    func aBodyThatIsNotAdmittedIsNotRead(length: String) throws {
        let handler = TestHandler { _ in HTTPReply() }
        handler.admit = { .refuse(HTTPReply(status: 401, body: .bytes(Array($0.method.utf8)))) }
        let server = try EventedHTTPServer(
            limits: .with { $0.bodyBytes = 1 << 20 }, handler: handler)
        let response = try responses(
            server, to: "POST / HTTP/1.1\r\nHost: a\r\n\(length)\r\n")
        #expect(response.status == 401 && response.body == Array("POST".utf8))
        #expect(handler.seen.isEmpty && handler.ends.isEmpty)
    }

    /// Bodies in flight count until their requests are done, however they end.
    @Test func onlySoManyBodiesAreKeptAtATime() throws {
        let handler = TestHandler { HTTPReply(body: .bytes($0.body)) }
        let server = try EventedHTTPServer(
            limits: .with { ($0.bodyBytes, $0.bodies) = (8, 1) }, handler: handler)
        let post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
        do {
            let first = try RawClient(port: server.port)
            first.send(post + "a")
            try server.run { server.connectionCount == 1 }
            let second = try responses(server, to: post + "bc")
            #expect(second.status == 503 && second.field("Retry-After") == "1")
        }
        try server.run { server.connectionCount == 0 }
        #expect(try responses(server, to: post + "de").body == Array("de".utf8))
    }

    @Test func aHeadBeyondItsLimitIsRefused() throws {
        let handler = TestHandler { _ in HTTPReply() }
        let server = try EventedHTTPServer(handler: handler)
        for target in ["/", "/" + String(repeating: "u", count: 70_000)] {
            let more = target == "/" ? "X: \(String(repeating: "h", count: 70_000))\r\n" : ""
            let response = try responses(server, to: Self.get(target, more))
            let status = response.head.first ?? ""
            #expect(status.contains(" 431") || status.contains(" 414"), "\(status)")
        }
        #expect(handler.seen.isEmpty)
    }

    @Test func whoWaitsAsTheServerStopsIsToldSo() throws {
        let handler = TestHandler { _ in nil }
        do {
            let server = try EventedHTTPServer(handler: handler)
            let client = try RawClient(port: server.port)
            client.get("/")
            try server.run { handler.seen.count == 1 }
            server.stopListening()
            #expect(throws: RawClient.ConnectionRefused.self) {
                _ = try RawClient(port: server.port)
            }
        }
        #expect(handler.ends == [.stopped])
        handler.seen[0].answer(HTTPReply())
    }

    @Test func anAddressThatIsTakenIsATypedError() throws {
        let handler = TestHandler { _ in nil }
        let server = try EventedHTTPServer(handler: handler)
        let port = server.port
        let error = #expect(throws: HTTPListenError.self) {
            _ = try EventedHTTPServer(port: port, handler: handler)
        }
        #expect(error?.errno == EADDRINUSE)
        #expect(throws: HTTPListenError.self) {
            _ = try EventedHTTPServer(address: "nowhere", handler: handler)
        }
    }
}

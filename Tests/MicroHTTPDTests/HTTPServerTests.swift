import MicroHTTPD
import TestKit
import Testing

@Suite struct HTTPServerTests {
    @Test func statusHeadersAndBodyArriveWithTheLength() throws {
        let server = try HTTPServer { _ in
            HTTPResponse(
                status: 203, headers: [("Content-Type", "image/png"), ("ETag", "\"1\"")],
                body: Array("hello".utf8))
        }
        let client = try RawClient(port: server.port)
        client.get("/")
        let response = client.response(bodyBytes: 5)
        #expect(response.head.first?.hasPrefix("HTTP/1.1 203") == true)
        #expect(response.head.contains("Content-Type: image/png"))
        #expect(response.head.contains("ETag: \"1\""))
        #expect(response.head.contains("Content-Length: 5"))
        #expect(response.body == Array("hello".utf8))
    }

    @Test func aTargetStaysAsItWasWritten() throws {
        let targets = Recorder<HTTPRequest>()
        let server = try HTTPServer { request in
            targets.append(request)
            return HTTPResponse(body: [1])
        }
        let client = try RawClient(port: server.port)
        client.get("/a%20b/c.png?n=7&m=%2F")
        _ = client.response(bodyBytes: 1)
        #expect(targets.values.map(\.target) == ["/a%20b/c.png?n=7&m=%2F"])
        #expect(targets.values.map(\.path) == ["/a%20b/c.png"])
    }

    @Test func oneConnectionServesManyRequests() throws {
        let server = try HTTPServer { HTTPResponse(body: Array($0.target.utf8)) }
        let client = try RawClient(port: server.port)
        for number in 1...20 {
            client.get("/\(number)")
            let wanted = Array("/\(number)".utf8)
            #expect(client.response(bodyBytes: wanted.count).body == wanted)
        }
    }

    @Test func aLargeBodyArrivesWhole() throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let ends = Recorder<HTTPEnd>()
        let server = try HTTPServer { _ in HTTPResponse(body: bytes) { ends.append($0) } }
        let client = try RawClient(port: server.port)
        client.get("/")
        #expect(client.response(bodyBytes: bytes.count).body == bytes)
        #expect(ends.wait() == [.complete])
    }

    @Test func aHeldBodyGoesOnWhenItsGateOpens() throws {
        let gate = BodyGate()
        let server = try HTTPServer { _ in
            var response = HTTPResponse(body: Array("firstsecond".utf8))
            response.hold = (5, gate)
            return response
        }
        let client = try RawClient(port: server.port)
        client.get("/")
        #expect(client.response(bodyBytes: 1).body == Array("first".utf8))
        gate.open()
        client.get("/again")
        let rest = client.response(bodyBytes: 11)
        #expect(rest.body == Array("firstsecond".utf8), "an open gate blocks no request")
    }

    @Test func aPeerThatLeavesAHeldBodyIsNoticed() throws {
        let ends = Recorder<HTTPEnd>()
        let server = try HTTPServer { _ in
            var response = HTTPResponse(body: [1, 2, 3]) { ends.append($0) }
            response.hold = (1, BodyGate())
            return response
        }
        do {
            let client = try RawClient(port: server.port)
            client.get("/")
            #expect(client.response(bodyBytes: 1).body == [1])
            #expect(ends.values.isEmpty)
        }
        #expect(ends.wait() == [.peerLeft])
        _ = server.port
    }

    @Test func aServerThatStopsEndsHeldBodies() throws {
        let ends = Recorder<HTTPEnd>()
        let client: RawClient
        do {
            let server = try HTTPServer { _ in
                var response = HTTPResponse(body: [1, 2, 3]) { ends.append($0) }
                response.hold = (1, BodyGate())
                return response
            }
            client = try RawClient(port: server.port)
            client.get("/")
            #expect(client.response(bodyBytes: 1).body == [1])
        }
        #expect(ends.values.count == 1)
        #expect(ends.values.first != .complete)
        #expect(client.response().body.isEmpty)
    }

    @Test func whatIsNoGetIsRefused() throws {
        let server = try HTTPServer { _ in HTTPResponse(body: [1]) }
        let client = try RawClient(port: server.port)
        client.send("DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(client.response().head.first?.hasPrefix("HTTP/1.1 405") == true)
    }
}

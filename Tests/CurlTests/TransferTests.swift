import Curl
import TestKit
import Testing

/// Single transfers over a real connection.
@Suite struct TransferTests {
    @Test func bytesAndHeadArrive() throws {
        let origin = OriginServer()
        origin.route(
            "/a.png", .bytes(Array("image".utf8)).with(header: "ETag", "  \"x\"  "))
        let result = try run(origin.url("/a.png"), allowing: [origin])
        #expect(result.error == nil)
        #expect(result.body == Array("image".utf8))
        #expect(result.head?.status == 200)
        #expect(result.head?.contentLength == 5)
        #expect(result.head?.value("etag") == "\"x\"")
        let request = try #require(origin.requests("/a.png").first)
        #expect(request.method == "GET")
        #expect(request.header("accept") == "image/*,*/*;q=0.8")
        #expect(request.header("accept-encoding") == "identity")
        #expect(request.header("user-agent") == "Imagebus/test")
    }

    @Test func requestHeadersReplaceDefaults() throws {
        let origin = OriginServer()
        origin.route("/a", .bytes([1]))
        _ = try run(
            origin.url("/a"), allowing: [origin],
            headers: [("Accept", "image/webp"), ("X-Empty", ""), ("X-Name", "v")])
        let request = try #require(origin.requests("/a").first)
        #expect(request.headers.filter { $0.name == "accept" }.map(\.value) == ["image/webp"])
        #expect(request.header("x-empty") == "")
        #expect(request.header("x-name") == "v")
    }

    @Test func aHeaderWithALineBreakIsRefused() throws {
        let origin = OriginServer()
        #expect(throws: CurlError.self) {
            try run(
                origin.url("/a"), allowing: [origin], headers: [("X", "a\r\nHost: b")])
        }
        #expect(origin.totalRequestCount == 0)
    }

    @Test func aRedirectIsTheResponse() throws {
        let origin = OriginServer()
        let other = OriginServer()
        origin.route("/from", .redirect(to: other.url("/to")))
        let result = try run(origin.url("/from"), allowing: [origin, other])
        #expect(result.heads.map(\.status) == [302])
        #expect(result.head?.value("location") == other.url("/to"))
        #expect(result.effectiveURL == origin.url("/from"))
        #expect(other.acceptedConnectionCount == 0)
    }

    @Test func ipv6IsFetchedWhereAllowed() throws {
        let origin = OriginServer(ipv6: true)
        origin.route("/a", .bytes([6]))
        #expect(try run(origin.url("/a"), allowing: [origin]).body == [6])
        let refused = try run(origin.url("/a"), allowing: [])
        #expect(refused.error?.code == .couldNotConnect)
        #expect(refused.refused == SocketAddress(origin.authority))
    }

    @Test func chunkedTrailersAreNotTakenForAHead() throws {
        let origin = OriginServer()
        origin.route("/c", .chunked(Array("abc".utf8)))
        let result = try run(origin.url("/c"), allowing: [origin])
        #expect(result.body == Array("abc".utf8))
        #expect(result.heads.count == 1)
        #expect(result.head?.contentLength == nil)
    }

    @Test func aSinkThatRefusesEndsTheTransfer() throws {
        let origin = OriginServer()
        origin.route("/big", .generated(count: 1 << 20))
        let result = try run(origin.url("/big"), allowing: [origin], refusesAfter: 100_000)
        #expect(result.error?.code == .refusedByReceiver)
        #expect(result.body.count < 1 << 20)
    }

    @Test func aHeadWithoutEndIsRefused() throws {
        let origin = OriginServer()
        origin.route(
            "/h",
            OriginBehavior { _ in
                var response = OriginResponse([1])
                let value = String(repeating: "v", count: 50_000)
                response.headers = (0..<4).map { ("X-\($0)", value) }
                return response
            })
        let result = try run(origin.url("/h"), allowing: [origin])
        #expect(result.error?.code == .protocolBroken)
    }
}

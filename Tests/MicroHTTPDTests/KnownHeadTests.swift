import TestKit
import Testing

@testable import MicroHTTPD

/// Request heads that were answered before are recognized again, and no others.
@Suite struct KnownHeadTests {
    /// Keeps the head of its first request, and reports whether later ones are the same.
    private final class Keeper: EventedHandler {
        var known: HeadCopy?
        var hasNoCopy = false
        var ends = 0
        var notifications = 0

        func answerToKnownHead(of exchange: EventedExchange) -> PreparedReply? {
            guard let known, exchange.has(known) else { return nil }
            return PreparedReply(HTTPReply(status: 200, headers: [("X-Known", "yes")]))
        }

        func admitBody(of exchange: EventedExchange) -> BodyAdmission { .accept(bytesMax: 100) }

        func handle(_ exchange: EventedExchange) {
            notifications += 1
            if known == nil { known = exchange.headCopy }
            hasNoCopy = exchange.headCopy == nil
            exchange.answer(HTTPReply(status: 200, headers: [("X-Known", "no")]))
        }

        func ended(_ exchange: EventedExchange, _ end: HTTPEnd) { ends += 1 }
    }

    private static func limits(headSeconds: Int = 30) -> HTTPLimits {
        .with { ($0.bodyBytes, $0.headSeconds) = (100, headSeconds) }
    }

    private static let first = "GET /a%62K?c=d&e HTTP/1.1\r\nHost: a\r\nAccept: b\r\n\r\n"

    /// The responses to requests, each on its own connection after the first one.
    private func answers(
        _ texts: [String], _ keeper: Keeper, _ limits: HTTPLimits = limits()
    ) throws -> [RawClient.Response] {
        let server = try EventedHTTPServer(limits: limits, handler: keeper)
        var all: [RawClient.Response] = []
        for text in [Self.first] + texts {
            all.append(try server.run(Peer(server, sending: text)) { $0.client.whole() })
        }
        return Array(all.dropFirst())
    }

    @Test func theSameHeadIsKnown() throws {
        let keeper = Keeper()
        let all = try answers([Self.first, Self.first, Self.first], keeper)
        #expect(all.allSatisfy { $0.head.contains("X-Known: yes") })
        #expect(keeper.notifications == 1 && keeper.ends == 4)
    }

    @Test func aConnectionGoesOnBehindAKnownHead() throws {
        let keeper = Keeper()
        let server = try EventedHTTPServer(limits: Self.limits(), handler: keeper)
        let peer = try Peer(server, sending: String(repeating: Self.first, count: 5))
        try server.run { keeper.ends == 5 }
        #expect(keeper.notifications == 1 && server.connectionCount == 1)
        withExtendedLifetime(peer) {}
    }

    @Test(arguments: [
        // Changes the method, the target, the encoding of the target, the version.
        first.replacing("GET", with: "PUT"), first.replacing("/a", with: "/b"),
        first.replacing("%62", with: "b"), first.replacing("%62", with: "%63"),
        first.replacing("c=d", with: "c&d"), first.replacing("&e", with: "=e"),
        first.replacing("?", with: "&"), first.replacing("1.1", with: "1.0"),
        // Changes values, names or the order, and adds or removes a field.
        first.replacing("Accept: b", with: "Accept: c"),
        first.replacing("Accept", with: "accept"), first.replacing("Accept", with: "Range_"),
        first.replacing("Host: a\r\nAccept: b", with: "Accept: b\r\nHost: a"),
        first.replacing("\r\n\r\n", with: "\r\nB: c\r\n\r\n"),
        first.replacing("Accept: b\r\n", with: ""),
        first.replacing(": b", with: ":  b"), first.replacing(": b", with: ":b "),
    ])
    func anotherHeadIsNot(text: String) throws {
        let keeper = Keeper()
        let all = try answers([text], keeper)
        #expect(all[0].head.contains("X-Known: no"), "\(all[0].head)")
        #expect(keeper.notifications == 2)
    }

    /// Heads that the library would parse to the same fields, since it terminates lines and values
    /// with NUL bytes.
    @Test(arguments: [
        first.replacing("Accept: b\r\n", with: "Accept: b\n"),
        first.replacing("Accept: b\r\n", with: "Accept: b\r"),
        first.replacing("Accept: b", with: "Accept\0 b"),
        first.replacing("GET ", with: "GET\0"), first.replacing(" HTTP", with: "\0HTTP"),
        first.replacing("Host: a\r\n", with: "Host: a\r\n\0"),
        first.replacing("a\r\nAccept", with: "a\r\n Accept"),
        first.replacing("?c", with: "\0c"), first.replacing("&e", with: "\0e"),
        first.replacing("GET ", with: "GET  "), first.replacing(" HTTP", with: "  HTTP"),
        // The Kelvin sign is canonically equivalent to K.
        first.replacing("K", with: "\u{212A}"),
    ])
    func aHeadThatIsRefusedIsNot(text: String) throws {
        let keeper = Keeper()
        // The library waits for the rest of some of them.
        let all = try answers([text], keeper, Self.limits(headSeconds: 1))
        #expect(!all[0].head.contains("X-Known: yes"), "\(all[0].head)")
        #expect(all[0].status != 200, "\(all[0].head)")
        #expect(keeper.notifications == 1)
    }

    /// The library's NUL bytes make both heads the same bytes, with the same number of fields.
    @Test(arguments: [
        ("Host: x\r\n5: Content-Length\r\n", "Host: x\n:5\n Content-Length\r\n"),
        ("Host: x\r\n5: Transfer-Encoding\r\n", "Host: x\n:5\n Transfer-Encoding\r\n"),
        ("Host: a\r\nA: a\r\nB: b\r\n", "Host: a\r\nA: a\n:B\n b\r\n"),
    ])
    func anotherHeadOfTheSameBytesIsNot(known: String, other: String) throws {
        let keeper = Keeper()
        let server = try EventedHTTPServer(
            limits: Self.limits(headSeconds: 1), handler: keeper)
        for (text, status) in [(known, 200), (known, 200), (other, 400)] {
            let peer = try Peer(server, sending: "GET /t HTTP/1.1\r\n\(text)\r\nAAAAA")
            let response = try server.run(peer) { $0.client.whole() }
            #expect(response.status == status, "\(response.head)")
        }
        #expect(keeper.notifications == 1 && keeper.ends == 2)
    }

    @Test func aHeadBeforeABodyIsNotKept() throws {
        let keeper = Keeper()
        keeper.known = nil
        let text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb"
        _ = try answers([text], keeper)
        #expect(keeper.hasNoCopy && keeper.notifications == 2)
    }
}

import Curl
import Glibc
import TestKit
import Testing

/// Every failure has its error code.
@Suite struct TransferFailureTests {
    @Test(arguments: [
        "http://0x7f000001:PORT/", "http://2130706433:PORT/", "http://127.1:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/", "http://localhost:PORT/", "http://0.0.0.0:PORT/",
    ])
    func everySpellingOfLoopbackIsRefused(_ pattern: String) throws {
        let origin = OriginServer()
        let parts = pattern.split(separator: "PORT", maxSplits: 1)
        let result = try run(parts.joined(separator: String(origin.port)), allowing: [])
        #expect(result.error?.code == .couldNotConnect)
        #expect(result.refused != nil)
        #expect(origin.acceptedConnectionCount == 0)
    }

    @Test func aRefusedConnectionCarriesItsErrno() throws {
        let origin = OriginServer()
        origin.stop()
        let result = try run(origin.url("/"), allowing: [origin])
        #expect(result.error?.code == .couldNotConnect)
        #expect(result.error?.osError == ECONNREFUSED)
        #expect(result.refused == nil)
    }

    @Test func aShortBodyIsPartial() throws {
        let origin = OriginServer()
        origin.route("/lie", .lying(length: 100, [1, 2, 3]))
        #expect(try run(origin.url("/lie"), allowing: [origin]).error?.code == .partialFile)
        origin.route("/cut", .closing(after: 10, of: Array(repeating: 1, count: 100)))
        #expect(try run(origin.url("/cut"), allowing: [origin]).error?.code == .partialFile)
    }

    @Test func aLongBodyEndsAtItsAnnouncedLength() throws {
        let origin = OriginServer()
        origin.route("/lie", .lying(length: 3, Array("abcdef".utf8)))
        let result = try run(origin.url("/lie"), allowing: [origin])
        #expect(result.error == nil)
        #expect(result.body == Array("abc".utf8))
    }

    @Test func theLimitHoldsByWordAndByCount() throws {
        let origin = OriginServer()
        let bytes = [UInt8](repeating: 1, count: 5000)
        origin.route("/said", .bytes(bytes))
        let stated = try run(origin.url("/said"), allowing: [origin], bodyBytesMax: 4999)
        #expect(stated.error?.code == .fileSizeExceeded)
        #expect(stated.body.isEmpty)
        origin.route("/unsaid", .chunked(bytes))
        let unstated = try run(origin.url("/unsaid"), allowing: [origin], bodyBytesMax: 4999)
        #expect(unstated.error?.code == .fileSizeExceeded)
        let fits = try run(origin.url("/unsaid"), allowing: [origin], bodyBytesMax: 5000)
        #expect(fits.error == nil)
    }

    @Test(arguments: ["file:///etc/hostname", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
    func otherSchemesAreRefused(_ url: String) throws {
        #expect(try run(url, allowing: []).error?.code == .unsupportedProtocol)
    }

    @Test func aSilentOriginTimesOut() throws {
        let origin = OriginServer()
        origin.route("/hang", .hang(until: Gate()))
        let result = try run(origin.url("/hang"), allowing: [origin]) { $0.lowSpeedSeconds = 1 }
        #expect(result.error?.code == .timedOut)
    }

    @Test func aNameWithoutAddressIsNotResolved() throws {
        let result = try run("http://no-such-host.invalid/", allowing: [])
        #expect(result.error?.code == .nameNotResolved)
    }

    @Test func anAnswerThatIsNoHTTPBreaksTheProtocol() throws {
        let origin = OriginServer()
        origin.route("/raw", .raw(Array("GIF89a, and no status line\r\n\r\n".utf8)))
        let result = try run(origin.url("/raw"), allowing: [origin])
        #expect(result.error?.code == .protocolBroken)
    }

    @Test func aConnectionThatClosesWithoutAnAnswerGotNothing() throws {
        let origin = OriginServer()
        origin.route("/none", .closing)
        #expect(try run(origin.url("/none"), allowing: [origin]).error?.code == .gotNothing)
    }

    @Test(arguments: ["gzip", "br", "zstd", "gzip, gzip", "rot13"])
    func aContentCodingIsLeftAsItIs(_ names: String) throws {
        let origin = OriginServer()
        let bytes = OriginBehavior.bytes(Array("as it is".utf8))
        origin.route("/z", bytes.with(header: "Content-Encoding", names))
        let result = try run(origin.url("/z"), allowing: [origin])
        #expect(result.error == nil)
        #expect(result.body == Array("as it is".utf8))
    }

    @Test func aTransferCodingBesideChunkedIsRefusedBeforeTheBody() throws {
        let origin = OriginServer()
        let chunked = OriginBehavior.chunked(Array("body".utf8))
        origin.route("/z", chunked.with(header: "Transfer-Encoding", "gzip"))
        let result = try run(origin.url("/z"), allowing: [origin])
        #expect(result.error?.code == .protocolBroken)
        #expect(result.heads.isEmpty)
    }

    /// A header field may look like a status line; it doesn't discard the fields before it.
    @Test func aStatusLineWithinAHeadIsAField() throws {
        let origin = OriginServer()
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nHTTP/1.1 200 OK: 1\r\n"
        origin.route("/coding", .raw(Array((head + "\r\n1\r\na\r\n0\r\n\r\n").utf8)))
        let coded = try run(origin.url("/coding"), allowing: [origin])
        #expect(coded.error?.code == .protocolBroken)
        #expect(coded.heads.isEmpty)
        let field = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nHTTP/2: yes\r\n"
        origin.route("/field", .raw(Array((field + "Content-Length: 1\r\n\r\na").utf8)))
        let kept = try run(origin.url("/field"), allowing: [origin])
        #expect(kept.head?.status == 200)
        #expect(kept.head?.value("cache-control") == "no-store")
        #expect(kept.body == Array("a".utf8))
    }

    @Test func aPlainPortDoesNotSpeakTLS() throws {
        let origin = OriginServer()
        let result = try run("https://\(origin.authority)/", allowing: [origin])
        #expect(result.error?.code == .tlsFailed)
    }

    @Test func aProxyOfTheEnvironmentIsNotAsked() async throws {
        await #expect(processExitsWith: .success) {
            let origin = OriginServer()
            let proxy = OriginServer()
            origin.route("/a", .bytes([1]))
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
                setenv(name, proxy.url("/"), 1)
            }
            let result = try run(origin.url("/a"), allowing: [origin, proxy])
            guard result.body == [1], proxy.acceptedConnectionCount == 0 else { exit(1) }
        }
    }
}

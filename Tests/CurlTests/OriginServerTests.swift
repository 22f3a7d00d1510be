import Glibc
import TestKit
import Testing

/// The origin server answers a plain client according to HTTP/1.1.
@Suite struct OriginServerTests {
    @Test func countsRequestsOnOneKeptConnection() async {
        let origin = OriginServer()
        origin.route("/a", .bytes(Array("hello".utf8)))
        let client = PlainClient(port: origin.port)
        for _ in 0..<3000 {
            #expect(client.get("/a?x=1").hasSuffix("hello"))
        }
        #expect(origin.requestCount("/a") == 3000)
        #expect(origin.acceptedConnectionCount == 1)
        client.close()
        #expect(await origin.waitForConnectionClosed("/a"))
        #expect(origin.requests("/a").first?.target == "/a?x=1")
    }

    @Test func noticesThatAClientLeavesWhileItHangs() async {
        let origin = OriginServer()
        let gate = Gate()
        origin.route("/hang", .hang(until: gate))
        let client = PlainClient(port: origin.port)
        client.send("/hang")
        #expect(await origin.waitForRequest("/hang"))
        client.close()
        #expect(await origin.waitForConnectionClosed("/hang"))
    }

    @Test func stopsWithOpenConnections() {
        let origin = OriginServer()
        origin.route("/hang", .hang(until: Gate()))
        let client = PlainClient(port: origin.port)
        client.send("/hang")
        #expect(origin.waitForRequest("/hang") as Bool)
        origin.stop()
        #expect(origin.openConnectionCount == 0)
        client.close()
    }

    @Test func pacesABodyByTheTurnstile() async {
        let origin = OriginServer()
        let turnstile = Turnstile()
        origin.route("/step", .stepped(Array("abcdef".utf8), chunk: 2, by: turnstile))
        let client = PlainClient(port: origin.port)
        client.send("/step")
        #expect(client.receive(until: "\r\n\r\n").contains("Content-Length: 6"))
        turnstile.admit()
        #expect(client.receive(until: "ab") == "ab")
        turnstile.admit(2)
        #expect(client.receive(until: "cdef") == "cdef")
        client.close()
    }
}

/// A socket with just enough HTTP to test the server without a library.
private final class PlainClient {
    private let descriptor: Int32

    init(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(code == 0, "connect: \(errno)")
    }

    func send(_ target: String) {
        let text = Array("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        precondition(Glibc.send(descriptor, text, text.count, 0) == text.count)
    }

    func get(_ target: String) -> String {
        send(target)
        return receive(until: "hello")
    }

    func receive(until end: String) -> String {
        var text = ""
        var byte: UInt8 = 0
        while !text.hasSuffix(end), recv(descriptor, &byte, 1, 0) == 1 {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }

    func close() {
        Glibc.close(descriptor)
    }
}

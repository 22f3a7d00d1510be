import Downloading
import Model
import TestKit
import Testing

/// A refusal by tinyproxy itself isn't reported as a response of the origin.
@Suite struct ProxyRefusalTests {
    private let authority: TestAuthority
    private let origin = OriginServer()
    private let front: SecureFront

    init() throws {
        authority = try TestAuthority()
        front = try SecureFront(origin, of: authority)
        origin.route("/a", .bytes([1, 2]))
    }

    private func bench(_ url: String, allowing addresses: [String] = []) throws -> DownloadBench {
        try DownloadBench(origin: origin) {
            $0.allowedAddresses += [front.address] + addresses
            $0.certificatesFile = authority.certificate
            let isSet = $0.set(.proxy, to: url)
            #expect(isSet, "\(url)")
        }
    }

    /// A tunnel to a port other than 443.
    @Test func aForbiddenTunnelIsThatOfTheProxy() async throws {
        let proxy = try ForwardProxy(["ConnectPort 443"])
        let bench = try bench(proxy.url)
        bench.start(front.url("/a"))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .invalidDownloadOperation)
        #expect(failure.details == ["proxy": "127.0.0.1:\(proxy.port)", "proxyStatus": "403"])
        #expect(failure.message.contains("the proxy 127.0.0.1:\(proxy.port) responded with 403"))
        #expect(failure.message.contains("permit this host and port in the proxy"))
        #expect(!failure.retryable && !failure.code.rule.cachesFailures)
        #expect(origin.totalRequestCount == 0 && bench.space.liveCount == 0)
    }

    /// Both kinds of requests: a tunnel, and a forwarded request.
    @Test(arguments: [true, false])
    func aProxyThatAsksForAPasswordSaysWhereItGoes(isSecure: Bool) async throws {
        let proxy = try ForwardProxy(["BasicAuth ann sesame"])
        let place = "127.0.0.1:\(proxy.port)"
        let url = isSecure ? front.url("/a") : origin.url("/a")
        let unknown = try bench("http://\(place)")
        unknown.start(url)
        let failure = try #require(await unknown.failure())
        #expect(failure.code == .invalidDownloadOperation)
        #expect(failure.details == ["proxy": place, "proxyStatus": "407"])
        #expect(failure.message.contains("http://NAME:PASSWORD@HOST:PORT"))
        #expect(origin.totalRequestCount == 0)
        let known = try bench("http://ann:sesame@\(place)")
        known.start(url)
        let body = try #require(await known.body(), "as in the error")
        #expect(known.space.bytes(body.reference) == [1, 2])
    }

    /// Nothing listens there; the failure is transient.
    @Test func aProxyThatDoesNotReachTheOriginIsAskedAgain() async throws {
        let closed = "127.0.0.1:1"
        let proxy = try ForwardProxy()
        let bench = try bench(proxy.url, allowing: [closed])
        bench.start("https://\(closed)/a")
        let failure = try #require(await bench.failure())
        #expect(failure.code == .connectionFailed && failure.retryable)
        #expect(failure.details["proxy"] == "127.0.0.1:\(proxy.port)")
        #expect(failure.details["proxyStatus"]?.hasPrefix("5") == true, "\(failure.details)")
    }

    /// Inside the tunnel, the origin answers.
    @Test func aStatusBehindTheTunnelIsTheOrigins() async throws {
        let proxy = try ForwardProxy()
        origin.route("/403", .status(403))
        origin.route("/407", .status(407))
        for status in ["403", "407"] {
            let bench = try bench(proxy.url)
            bench.start(front.url("/\(status)"))
            let failure = try #require(await bench.failure())
            #expect(failure.code == .invalidDownloadStatusCode)
            #expect(failure.details == ["httpStatus": status])
        }
    }
}

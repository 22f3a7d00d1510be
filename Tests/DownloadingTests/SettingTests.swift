import Downloading
import Model
import TestKit
import Testing

/// Download settings of the operator, tested with a real origin.
@Suite struct SettingTests {
    private func bench(
        _ settings: [(DownloadSetting, String)], origin: OriginServer = OriginServer()
    ) throws -> DownloadBench {
        try DownloadBench(origin: origin) { configuration in
            for (setting, text) in settings {
                let isSet = configuration.set(setting, to: text)
                #expect(isSet)
            }
        }
    }

    /// Every setting has an effect, and none is missing.
    @Test(arguments: [
        (DownloadSetting.connectTimeout, "7s"), (.transferTimeout, "2m"), (.lowSpeed, "4K"),
        (.lowSpeedTime, "30"), (.redirectLimit, "3"), (.continuationLimit, "0"),
        (.userAgent, "shop/2.1 (images)"), (.acceptStatus, "200,404"),
        (.acceptType, "image/*,application/octet-stream"), (.proxy, "http://10.0.0.1:3128"),
    ]) func aSettingIsSet(setting: DownloadSetting, text: String) {
        let usual = DownloadConfiguration(version: "test")
        var configuration = usual
        let isSet = configuration.set(setting, to: text)
        #expect(isSet)
        #expect(configuration != usual)
        let numbers = ["-1", "999999999999999999999", "200-100", "image/*/x"]
        for text in ["", "x y\u{1}"] + (setting == .userAgent ? [] : numbers) {
            let before = configuration
            let isSet = configuration.set(setting, to: text)
            #expect(!isSet, "\(setting): '\(text)'")
            #expect(configuration == before)
        }
        #expect(!setting.expected.isEmpty)
    }

    @Test func theOriginIsToldWhoAsks() async throws {
        let bench = try bench([(.userAgent, "shop/2.1")])
        bench.origin.route("/a", .bytes([1]))
        bench.start("/a")
        #expect(await bench.body() != nil)
        #expect(bench.origin.requests("/a").first?.header("user-agent") == "shop/2.1")
    }

    @Test(arguments: [("0", 1), ("2", 3)])
    func redirectsAreCounted(limit: String, requests: Int) async throws {
        let bench = try bench([(.redirectLimit, limit)])
        bench.origin.route("/a", .redirect(to: "/a"))
        bench.start("/a")
        #expect(await bench.failure()?.code == .tooManyRedirects)
        #expect(bench.origin.requestCount("/a") == requests)
    }

    @Test func withoutContinuationsABrokenBodyEnds() async throws {
        let bench = try bench([(.continuationLimit, "0")])
        bench.origin.route(
            "/a",
            .closing(after: 5, of: Array("0123456789".utf8)).with(header: "ETag", "\"e\""))
        bench.start("/a")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a") == 1)
    }

    @Test(arguments: [
        ("200-299", 404, false), ("200-299,404", 404, true), ("200", 201, false),
        ("200-599", 206, false), ("200-599", 304, false), ("201", 201, true),
    ]) func theStatusDecides(accepted: String, status: Int, isImage: Bool) async throws {
        let bench = try bench([(.acceptStatus, accepted)])
        bench.origin.route("/a", .bytes([1]).changed { $0.status = status })
        bench.start("/a")
        let outcome = try #require(await bench.outcome())
        #expect((outcome.body != nil) == isImage)
        #expect(outcome.body.map { $0.httpStatus == UInt16(status) } ?? true)
        if !isImage { #expect(outcome.failure?.details["httpStatus"] == "\(status)") }
    }

    @Test(arguments: [
        ("image/*", "image/png", true), ("image/*", "IMAGE/PNG; charset=x", true),
        ("image/*", "text/html", false), ("image/*", nil, true),
        ("image/png,text/plain", "text/plain", true), ("image/png", "image/jpeg", false),
        ("image/png", "image/pngx", false), ("image/*", "imagex/png", false),
    ]) func theTypeDecides(accepted: String, type: String?, isImage: Bool) async throws {
        let bench = try bench([(.acceptType, accepted)])
        bench.origin.route("/a", .bytes([1], contentType: type))
        bench.start("/a")
        let outcome = try #require(await bench.outcome())
        #expect((outcome.body != nil) == isImage)
        if !isImage { #expect(outcome.failure?.code == .invalidDownloadContentType) }
        #expect(isImage || bench.space.liveCount == 0)
    }

    @Test func aDeniedAddressIsDeniedWhateverAllowsIt() async throws {
        for range in ["127.0.0.0/8", "127.0.0.1", "::ffff:127.0.0.0/104"] {
            let bench = try DownloadBench {
                $0.allowsPrivateNetworks = true
                $0.deniedAddresses = [range]
            }
            bench.origin.route("/a", .bytes([1]))
            bench.start("/a")
            let failure = try #require(await bench.failure())
            #expect(failure.code == .addressForbidden, "\(range)")
            #expect(failure.message.contains("--deny-address"), "another permission doesn't help")
            #expect(bench.origin.totalRequestCount == 0)
        }
        let other = try DownloadBench { $0.deniedAddresses = ["128.0.0.0/8"] }
        other.origin.route("/a", .bytes([1]))
        other.start("/a")
        #expect(await other.body() != nil)
    }

    @Test(arguments: ["127.0.0.1/8", "localhost", "1.2.3.4/33", "1.2.3.4/", "/8", "::/129"])
    func whatIsNoRangeIsSaid(text: String) {
        let error = #expect(throws: ImageError.self) {
            try DownloadBench { $0.deniedAddresses = [text] }
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func allGoesThroughTheProxy() async throws {
        let proxy = try ForwardProxy()
        let bench = try bench([(.proxy, proxy.url)])
        bench.origin.route("/from", .redirect(to: "/a"))
        bench.origin.route("/a", .bytes([1, 2, 3]))
        bench.start("/from")
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == [1, 2, 3])
        let vias = ["/from", "/a"].map { bench.origin.requests($0).first?.header("via") ?? "" }
        #expect(vias.allSatisfy { $0.contains("tinyproxy") }, "\(vias)")
    }

    @Test func tlsGoesThroughTheProxyToTheOrigin() async throws {
        let proxy = try ForwardProxy()
        let authority = try TestAuthority()
        let origin = OriginServer()
        let front = try SecureFront(origin, of: authority)
        let bench = try DownloadBench(origin: origin) {
            $0.allowedAddresses.append(front.address)
            $0.certificatesFile = authority.certificate
            _ = $0.set(.proxy, to: proxy.url)
        }
        origin.route("/a", .bytes([1]))
        bench.start(front.url("/a"))
        #expect(await bench.body()?.account?.httpVersion == "2")
    }

    /// The proxy would connect to these addresses.
    @Test(arguments: [
        "http://127.0.0.1:1/a", "http://127.1:1/", "http://0x7f000001:1/", "http://2130706433:1/",
        "http://[::1]:1/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest",
        "http://127%2e0%2E0.1:1/", "http://%31%30.0.0.1/", "http://169.254.169.254./latest",
    ]) func addressesInURLsAreDecidedOnBeforeTheProxy(url: String) async throws {
        let proxy = try ForwardProxy()
        let bench = try bench([(.proxy, proxy.url)])
        bench.start(url)
        #expect(await bench.failure()?.code == .addressForbidden)
        bench.origin.route("/a", .redirect(to: url))
        bench.start("/a", id: 2)
        #expect(
            await bench.outcomes.wait(count: 2)?.last?.failure?.code == .addressForbidden)
    }
}

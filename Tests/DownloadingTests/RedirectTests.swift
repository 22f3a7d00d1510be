import Downloading
import ImageModel
import Messages
import TestKit
import Testing

/// Redirects are admitted like the URL before them (DESIGN §6).
@Suite struct RedirectTests {
    private static let secrets = ["authorization", "cookie", "x-api-key"]

    private static func headers() -> [HTTPHeader] {
        secrets.map { HTTPHeader(name: $0, value: "secret") }
            + [HTTPHeader(name: "Accept", value: "image/webp")]
    }

    private static func bench(_ other: OriginServer) throws -> DownloadBench {
        try DownloadBench { $0.allowedAddresses.append(other.authority) }
    }

    @Test func anotherHostGetsNothingThatMayBeACredential() async throws {
        let other = OriginServer()
        let bench = try Self.bench(other)
        bench.origin.route("/from", .redirect(to: other.url("/back")))
        other.route("/back", .redirect(to: bench.origin.url("/to")))
        bench.origin.route("/to", .bytes([1]))
        bench.start("http://user:pass@\(bench.origin.authority)/from", headers: Self.headers())
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/to"))
        let first = try #require(bench.origin.requests("/from").first)
        #expect(Self.secrets.allSatisfy { first.header($0) != nil })
        let away = try #require(other.requests("/back").first)
        #expect(Self.secrets.allSatisfy { away.header($0) == nil })
        #expect(away.header("accept") == "image/webp")
        let back = try #require(bench.origin.requests("/to").first)
        #expect(Self.secrets.allSatisfy { back.header($0) == nil }, "it was sent by another host")
    }

    @Test(arguments: ["/to", "//AUTHORITY/to", "http://AUTHORITY/to"])
    func theSameOriginGetsAllAgain(_ reference: String) async throws {
        let bench = try DownloadBench()
        let location = reference.split(separator: "AUTHORITY", omittingEmptySubsequences: false)
            .joined(separator: bench.origin.authority)
        bench.origin.route("/from", .redirect(to: location))
        bench.origin.route("/to", .bytes([1]))
        bench.start(
            "http://user:pass@\(bench.origin.authority)/from",
            headers: [HTTPHeader(name: "X-Api-Key", value: "secret")])
        #expect(await bench.body() != nil)
        let request = try #require(bench.origin.requests("/to").first)
        #expect(request.header("x-api-key") == "secret")
        #expect(request.header("authorization") == "Basic dXNlcjpwYXNz")
    }

    @Test func aRedirectOutOfTheSourcesConnectsNowhere() async throws {
        let other = OriginServer()
        let bench = try Self.bench(other)
        bench.origin.route("/from", .redirect(to: other.url("/to")))
        bench.start("/from", sources: ["http://\(bench.origin.authority)/*"])
        #expect(await bench.failure()?.code == .addressForbidden)
        #expect(other.acceptedConnectionCount == 0)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aRedirectWithinTheSourcesIsFollowed() async throws {
        let other = OriginServer()
        let bench = try Self.bench(other)
        bench.origin.route("/from", .redirect(to: other.url("/to")))
        other.route("/to", .bytes([1]))
        bench.start("/from", sources: ["http://nobody/*", "http://\(other.authority)/*"])
        #expect(await bench.body()?.effectiveURL == other.url("/to"))
    }

    @Test func spacesAndWordsOfOtherScriptsAreSentEncoded() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/a b/\u{E9}.png"))
        bench.origin.route("/a%20b/%c3%a9.png", .bytes([1]))
        bench.start("/from")
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/a%20b/%c3%a9.png"))
    }
}

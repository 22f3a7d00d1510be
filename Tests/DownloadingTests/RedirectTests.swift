import Downloading
import Model
import TestKit
import Testing

/// Redirect targets are checked like the original URL (SEMANTICS §10.2).
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

    /// A secret in a header whose name doesn't suggest credentials.
    @Test func anotherOriginGetsNoSecretWhateverItsHeaderIsCalled() async throws {
        let other = OriginServer()
        let bench = try Self.bench(other)
        bench.origin.route("/from", .redirect(to: "/near"))
        bench.origin.route("/near", .redirect(to: other.url("/away")))
        other.route("/away", .redirect(to: bench.origin.url("/back")))
        bench.origin.route("/back", .bytes([1]))
        var terms = TransferTerms()
        terms.secretHeaders = ["user-agent", "x-request-id"]
        bench.start(
            "/from",
            headers: [
                HTTPHeader(name: "User-Agent", value: "secret"),
                HTTPHeader(name: "X-Request-ID", value: "secret"),
                HTTPHeader(name: "Accept-Language", value: "de"),
            ], terms: terms)
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/back"))
        for path in ["/from", "/near"] {
            let own = try #require(bench.origin.requests(path).first)
            #expect(terms.secretHeaders.allSatisfy { own.header($0) == "secret" }, "\(path)")
        }
        let away = [other.requests("/away").first, bench.origin.requests("/back").first]
        for request in away {
            let received = try #require(request)
            #expect(received.header("user-agent") == "Imagebus/test", "that of the loader")
            #expect(received.header("x-request-id") == nil)
            #expect(received.header("accept-language") == "de")
        }
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
        #expect(await bench.failure()?.code == .sourceForbidden)
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

    @Test(arguments: [301, 302, 303, 307, 308])
    func itIsFollowed(status: Int) async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/to", status: status))
        bench.origin.route("/to", .bytes([1]))
        bench.start("/from")
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/to"))
    }

    @Test(arguments: [300, 305, 306])
    func aLocationAloneIsNotFollowed(status: Int) async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/to", status: status))
        bench.origin.route("/to", .bytes([1]))
        bench.start("/from")
        let failure = await bench.failure()
        #expect(failure?.code == .invalidDownloadStatusCode)
        #expect(failure?.details["httpStatus"] == "\(status)")
        #expect(bench.origin.requestCount("/to") == 0)
    }

    /// The body of a redirect is read up to 64 KB.
    @Test(arguments: [1_000, 64 << 10, (64 << 10) + 1, 200_000, 64 << 20])
    func itIsFollowedWhateverItsBodyHas(count: Int) async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/from", .redirect(to: "/to").changed { $0.body = .generated(count: count) })
        bench.origin.route("/to", .bytes([1]))
        bench.start("/from")
        let body = await bench.body()
        #expect(body?.effectiveURL == bench.origin.url("/to"))
        #expect(body?.reference.length == 1)
        // If the rest of the body wasn't read, the connection can't be reused.
        let isCut = count > 64 << 10
        #expect(bench.origin.acceptedConnectionCount == (isCut ? 2 : 1))
    }

    /// The limit applies to each redirect separately.
    @Test func theBodiesOfSeveralRedirectsAreNotAddedUp() async throws {
        let bench = try DownloadBench()
        for (path, next) in [("/a", "/b"), ("/b", "/c")] {
            bench.origin.route(
                path, .redirect(to: next).changed { $0.body = .generated(count: 40_000) })
        }
        bench.origin.route("/c", .bytes([1]))
        bench.start("/a")
        #expect(await bench.body()?.reference.length == 1)
        #expect(bench.origin.acceptedConnectionCount == 1, "both were read to their end")
    }

    /// Each takes at least a fifth of the timeout.
    @Test func allRedirectsShareOneTimeout() async throws {
        let bench = try DownloadBench { $0.totalTimeoutMilliseconds = 500 }
        for number in 0..<9 {
            bench.origin.route(
                "/\(number)",
                .redirect(to: "/\(number + 1)").changed {
                    $0.body = .generated(count: 3)
                    $0.pace = .steady(bytes: 1, every: .milliseconds(50))
                })
        }
        bench.origin.route("/9", .bytes([1]))
        bench.start("/0")
        let failure = try #require(await bench.failure())
        #expect(failure.code == .timedOut && failure.retryable)
        #expect(bench.origin.requestCount("/9") == 0)
        #expect(bench.space.liveCount == 0)
    }

    /// User info in a location applies to that location only.
    @Test func theUserInfoOfALocationTakesThePlaceOfTheOldOne() async throws {
        let other = OriginServer()
        let bench = try Self.bench(other)
        let (near, away) = (bench.origin.authority, other.authority)
        bench.origin.route("/from", .redirect(to: "http://ann:x@\(near)/near"))
        bench.origin.route("/near", .redirect(to: "http://bob:y@\(away)/to"))
        other.route("/to", .bytes([1]))
        bench.start("http://user:pass@\(near)/from")
        #expect(await bench.body()?.effectiveURL == other.url("/to"))
        let second = try #require(bench.origin.requests("/near").first)
        #expect(second.header("authorization") == "Basic YW5uOng=")
        let third = try #require(other.requests("/to").first)
        #expect(third.header("authorization") == "Basic Ym9iOnk=")
    }

    @Test func spacesAndWordsOfOtherScriptsAreSentEncoded() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/a b/\u{E9}.png"))
        bench.origin.route("/a%20b/%c3%a9.png", .bytes([1]))
        bench.start("/from")
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/a%20b/%c3%a9.png"))
    }

    /// Other loaders aren't tried, even if one takes the scheme.
    @Test func anotherSchemeIsSaidToBeThatOfTheRedirect() async throws {
        let bench = try DownloadBench.started("/from", .redirect(to: "s3://bucket/a.png"))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .unsupportedScheme)
        #expect(failure.message.hasPrefix("a redirect leads to 's3:'"), "\(failure)")
    }
}

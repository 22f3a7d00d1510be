import Downloading
import Model
import TestKit
import Testing

/// Credentials, checked by Apache httpd.
@Suite struct CredentialTests {
    private let authority: TestAuthority
    private let server: WebServer

    init() throws {
        authority = try TestAuthority()
        server = try WebServer(Array("image".utf8), password: "open sesame", of: authority)
    }

    private func bench() throws -> DownloadBench {
        try DownloadBench {
            $0.allowedAddresses += [server.address, server.secureAddress]
            $0.certificatesFile = authority.certificate
        }
    }

    private func outcome(
        _ path: String, isSecure: Bool = false, _ change: (inout TransferTerms) -> Void
    ) async throws -> JobOutcome? {
        let bench = try bench()
        var terms = TransferTerms()
        change(&terms)
        let place = isSecure ? "https://\(server.secureAddress)" : "http://\(server.address)"
        bench.start(place + path, terms: terms)
        return await bench.outcome()
    }

    static let methods: [(TransferCredential.Method, String)] = [
        (.basic, "/basic/a.png"), (.digest, "/digest/a.png"),
    ]

    @Test(arguments: methods) func theOriginBelievesWhoAsks(
        _ method: TransferCredential.Method, _ path: String
    ) async throws {
        let good = try await outcome(path) {
            $0.credential = TransferCredential(method, user: "ann", password: "open sesame")
        }
        #expect(good?.body?.httpStatus == 200, "\(String(describing: good))")
        let wrong = try await outcome(path) {
            $0.credential = TransferCredential(method, user: "ann", password: "closed")
        }
        #expect(wrong?.failure?.details["httpStatus"] == "401")
        let nobody = try await outcome(path) { _ in }
        #expect(nobody?.failure?.details["httpStatus"] == "401")
    }

    /// An origin that requests another scheme gets no digest.
    @Test func aDigestIsNotToldWhereItIsNotAskedFor() async throws {
        let end = try await outcome("/basic/a.png") {
            $0.credential = TransferCredential(.digest, user: "ann", password: "open sesame")
        }
        #expect(end?.failure?.details["httpStatus"] == "401")
    }

    /// A challenge that can't be answered becomes the result.
    @Test func aQuestionWithoutANonceIsAnAnswer() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a", .status(401).with(header: "WWW-Authenticate", "Digest realm=\"x\""))
        var terms = TransferTerms()
        terms.credential = TransferCredential(.digest, user: "ann", password: "x")
        bench.start("/a", terms: terms)
        #expect(await bench.failure()?.details["httpStatus"] == "401")
    }

    @Test func aCertificateIsShown() async throws {
        let client = try authority.client()
        let good = try await outcome("/open/a.png", isSecure: true) {
            $0.certificate = ClientCertificate(path: client.certificate, keyPath: client.key)
        }
        #expect(good?.body != nil, "\(String(describing: good))")
        let nobody = try await outcome("/open/a.png", isSecure: true) { _ in }
        #expect(nobody?.failure != nil)
        let stranger = try TestAuthority().client()
        let other = try await outcome("/open/a.png", isSecure: true) {
            $0.certificate = ClientCertificate(path: stranger.certificate, keyPath: stranger.key)
        }
        #expect(other?.failure != nil)
        let missing = try await outcome("/open/a.png", isSecure: true) {
            $0.certificate = ClientCertificate(path: "/none.pem", keyPath: client.key)
        }
        let failure = try #require(missing?.failure)
        #expect(failure.code == .invalidDownloadOperation)
        #expect(!failure.code.rule.cachesFailures, "the URL is asked again once the file is there")
        #expect(
            failure.message.contains("/none.pem") && failure.message.contains("correct the file"))
    }

    /// A connection isn't reused for another identity.
    @Test func connectionsAreNotSharedByWhoAsks() async throws {
        let client = try authority.client()
        let bench = try bench()
        var terms = TransferTerms()
        terms.certificate = ClientCertificate(path: client.certificate, keyPath: client.key)
        bench.start("https://\(server.secureAddress)/open/a.png", terms: terms)
        #expect(await bench.body() != nil)
        bench.start("https://\(server.secureAddress)/open/a.png", id: 2)
        #expect(await bench.outcomes.wait(count: 2)?.last?.failure != nil)
    }

    @Test func aJarKeepsTheCookiesOfItsName() async throws {
        let bench = try bench()
        func status(_ id: UInt64, _ file: String, _ jar: String?) async -> String? {
            var terms = TransferTerms()
            terms.cookieJar = jar
            bench.start("http://\(server.address)/cookie/\(file).png", id: id, terms: terms)
            let last = await bench.outcomes.wait(count: Int(id))?.last
            return last?.failure?.details["httpStatus"] ?? last?.body.map { "\($0.httpStatus)" }
        }
        #expect(await status(1, "a", "one") == "403")
        #expect(await status(2, "set", "one") == "200")
        #expect(await status(3, "a", "one") == "200")
        #expect(await status(4, "a", "two") == "403")
        #expect(await status(5, "a", nil) == "403")
        #expect(await status(6, "set", nil) == "200")
        #expect(await status(7, "a", nil) == "403", "no jar by default")
    }

    /// A redirect to another origin carries neither a password nor a cookie. Another port is
    /// another origin, although cookies ignore ports (RFC 6265 §8.5).
    @Test(arguments: ["localhost", "127.0.0.1"])
    func anotherOriginIsToldNothing(_ host: String) async throws {
        let (first, second) = (OriginServer(), OriginServer())
        let bench = try DownloadBench(origin: first) {
            $0.allowedAddresses.append(second.authority)
        }
        second.route("/to", .bytes([1]))
        first.route(
            "/from",
            .redirect(to: "http://\(host):\(second.port)/to")
                .with(header: "Set-Cookie", "id=ann"))
        var terms = TransferTerms()
        terms.credential = TransferCredential(.basic, user: "ann", password: "x")
        terms.cookieJar = "one"
        bench.start("/from", terms: terms)
        #expect(await bench.body() != nil)
        #expect(first.requests("/from").first?.header("authorization") != nil)
        let received = try #require(second.requests("/to").first)
        #expect(received.header("authorization") == nil && received.header("cookie") == nil)
    }

    /// The cookie jar and the password belong to the requested origin: a redirect to another one
    /// neither reads nor fills the jar, and credentials stay dropped when that one redirects back.
    @Test func aRedirectToAnotherOriginLeavesTheJarAlone() async throws {
        let (first, second) = (OriginServer(), OriginServer())
        let bench = try DownloadBench(origin: first) {
            $0.allowedAddresses.append(second.authority)
        }
        let cookie = "Set-Cookie"
        first.route("/from", .redirect(to: "/near").with(header: cookie, "id=ann"))
        first.route("/near", .redirect(to: second.url("/away")))
        second.route("/away", .redirect(to: first.url("/back")).with(header: cookie, "away=1"))
        first.route("/back", .bytes([1]).with(header: cookie, "back=1"))
        first.route("/again", .bytes([1]))
        var terms = TransferTerms()
        terms.cookieJar = "one"
        terms.credential = TransferCredential(.basic, user: "ann", password: "x")
        bench.start("/from", terms: terms)
        #expect(await bench.body() != nil)
        let near = try #require(first.requests("/near").first)
        #expect(near.header("cookie") == "id=ann")
        #expect(near.header("authorization") == "Basic YW5uOng=")
        let away = try #require(second.requests("/away").first)
        #expect(away.header("cookie") == nil && away.header("authorization") == nil)
        let back = try #require(first.requests("/back").first)
        #expect(back.header("cookie") == nil && back.header("authorization") == nil)
        bench.start("/again", id: 2, terms: terms)
        #expect(await bench.outcomes.wait(count: 2)?.last?.body != nil)
        #expect(first.requests("/again").first?.header("cookie") == "id=ann")
    }

    /// A client certificate is presented to the requested origin, not to a redirect target.
    @Test func aCertificateIsNotShownAfterARedirect() async throws {
        let client = try authority.client()
        let bench = try bench()
        let place = "https://\(server.secureAddress)/open/a.png"
        bench.origin.route("/from", .redirect(to: place))
        var terms = TransferTerms()
        terms.certificate = ClientCertificate(path: client.certificate, keyPath: client.key)
        bench.start("/from", terms: terms)
        #expect(await bench.failure() != nil)
        bench.start(place, id: 2, terms: terms)
        #expect(await bench.outcomes.wait(count: 2)?.last?.body != nil, "it is good there")
    }

    /// A jar stays small: thousands of cookies from an origin are discarded.
    @Test func aFullJarIsEmptied() async throws {
        let counts = try await countsOfSent(cookies: 40, value: "1")
        #expect(counts[1] == 40 && counts[2] == 80)
        #expect(counts[7] == 0, "after seven times forty it is emptied: \(counts)")
    }

    /// So are a few cookies of maximum length.
    @Test func aJarOfLongCookiesIsEmptied() async throws {
        let value = String(repeating: "1", count: 4_000)
        let counts = try await countsOfSent(cookies: 8, value: value)
        #expect(counts[2] > 0, "64 KB are kept: \(counts)")
        #expect(counts[3] == 0, "96 KB are too many: \(counts)")
    }

    /// The number of cookies in each of twelve requests, each of whose responses sets `cookies`
    /// more.
    private func countsOfSent(cookies: Int, value: String) async throws -> [Int] {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a",
            OriginBehavior { request in
                var response = OriginResponse([1])
                let name = request.header("x-number") ?? ""
                for number in 0..<cookies {
                    response.headers.append(("Set-Cookie", "c\(name)-\(number)=\(value)"))
                }
                return response
            })
        var terms = TransferTerms()
        terms.cookieJar = "one"
        var counts: [Int] = []
        for id in 1...12 as ClosedRange<UInt64> {
            bench.start(
                "/a", id: id, headers: [HTTPHeader(name: "X-Number", value: "\(id)")],
                terms: terms)
            #expect(await bench.outcomes.wait(count: Int(id))?.last?.body != nil)
            let cookies = bench.origin.newestRequest("/a")?.header("cookie") ?? ""
            counts.append(cookies.split(separator: ";").count)
        }
        return counts
    }
}

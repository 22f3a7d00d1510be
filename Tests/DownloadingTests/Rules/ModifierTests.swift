import Downloading
import Model
import TestKit
import Testing

/// How rules change requests and responses.
@Suite struct ModifierTests {
    @Test func removedHeadersAreNotSent() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        var terms = TransferTerms()
        terms.removedHeaders = ["accept", "User-Agent"]
        bench.start("/a", headers: [HTTPHeader(name: "X-Mine", value: "1")], terms: terms)
        #expect(await bench.body() != nil)
        let request = try #require(bench.origin.requests("/a").first)
        #expect(request.header("accept") == nil && request.header("user-agent") == nil)
        #expect(request.header("x-mine") == "1" && request.header("accept-encoding") == "identity")
    }

    @Test func withoutARequiredHeaderNothingIsAsked() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        var terms = TransferTerms()
        terms.requiredHeaders = ["X-Shop"]
        bench.start("/a", terms: terms)
        let failure = try #require(await bench.failure())
        #expect(failure.code == .invalidDownloadOperation && failure.message.contains("X-Shop"))
        #expect(bench.origin.totalRequestCount == 0)
        bench.start("/a", id: 2, headers: [HTTPHeader(name: "x-shop", value: "")], terms: terms)
        #expect(await bench.outcomes.wait(count: 2)?.last?.body != nil)
    }

    @Test func statusAndHeadersAreThoseOfTheRule() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/gone",
            .bytes(Array("image".utf8), contentType: "text/plain")
                .with(header: "ETag", "\"old\"").with(header: "Cache-Control", "no-store")
                .changed { $0.status = 404 })
        var terms = TransferTerms()
        terms.response.statuses = [404: 200]
        terms.response.headers = [
            HTTPHeader(name: "Content-Type", value: "image/png"),
            HTTPHeader(name: "etag", value: "\"new\""),
        ]
        terms.response.removedHeaders = ["cache-control"]
        bench.start("/gone", terms: terms)
        let body = try #require(await bench.body())
        #expect((body.httpStatus, body.contentType) == (200, "image/png"))
        #expect(body.etag == "\"new\"" && body.cacheControl == nil)
        bench.start("/gone", id: 2)
        let plain = await bench.outcomes.wait(count: 2)?.last?.failure
        #expect(plain?.code == .invalidDownloadStatusCode)
    }

    /// Applied before the content type is checked, even if every status is replaced.
    @Test func anAnswerIsChangedBeforeItIsJudged() async throws {
        let bench = try DownloadBench { $0.accepted.types = ["image/*"] }
        bench.origin.route(
            "/a", .bytes([1], contentType: "text/plain").changed { $0.status = 503 })
        var terms = TransferTerms()
        terms.response.everyStatus = 200
        terms.response.headers = [HTTPHeader(name: "Content-Type", value: "image/png")]
        bench.start("/a", terms: terms)
        #expect(await bench.body()?.httpStatus == 200)
        terms.response.everyStatus = nil
        terms.response.statuses = [200: 404]
        bench.origin.route("/b", .bytes([1]))
        bench.start("/b", id: 2, terms: terms)
        let failure = await bench.outcomes.wait(count: 2)?.last?.failure
        #expect(failure?.details["httpStatus"] == "404")
    }

    /// A redirect response itself isn't modified.
    @Test func aRedirectIsFollowedFirst() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/to"))
        bench.origin.route("/to", .bytes([1]))
        var terms = TransferTerms()
        terms.response.everyStatus = 201
        bench.start("/from", terms: terms)
        #expect(await bench.body()?.httpStatus == 201)
    }
}

import Downloading
import Model
import TestKit
import Testing

/// Transfers with validators (SEMANTICS §10.3).
@Suite struct ConditionTests {
    @Test func anUnchangedBodyIsNotSentAgain() async throws {
        let bench = try DownloadBench.started(
            "/a.png", .revalidated([1, 2], etag: "\"e\""),
            validators: Validators(etag: "\"e\"", lastModified: nil))
        #expect(await bench.failure()?.code == .cacheNotModified)
        #expect(bench.space.liveCount == 0)
    }

    /// Directives that are honored are passed on, however long the field is.
    @Test(arguments: [
        (nil, nil), ("Max-Age=60", "max-age=60"), ("max-age=60, No-Store", "no-store, max-age=60"),
        ("private", "private"), ("private, no-store", "no-store, private"), ("x=1", nil),
        (String(repeating: "x", count: 2_000), "no-store"),
    ]) func anUnchangedBodySaysWhoMayKeepIt(field: String?, kept: String?) async throws {
        let bench = try DownloadBench()
        var behavior = OriginBehavior.revalidated([1, 2], etag: "\"e\"")
        if let field { behavior = behavior.with(header: "Cache-Control", field) }
        bench.origin.route("/a.png", behavior)
        bench.start("/a.png", validators: Validators(etag: "\"e\"", lastModified: nil))
        let failure = await bench.failure()
        #expect(failure?.code == .cacheNotModified)
        #expect(failure?.details["cacheControl"] == kept)
        #expect(failure?.details["expiresIn"] == nil)
    }

    /// Only the worker knows the age of a response: it has the clock (RFC 9111 §4.2.3).
    @Test(arguments: [true, false]) func anAnswerSaysHowOldItIs(isNew: Bool) async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            .revalidated([1, 2], etag: isNew ? "\"f\"" : "\"e\"").with(header: "Age", "100")
                .with(header: "Date", "Sun, 06 Nov 1994 08:49:37 GMT")
                .with(header: "Expires", "Sun, 06 Nov 1994 08:50:37 GMT"),
            validators: Validators(etag: "\"e\"", lastModified: nil))
        let age: ResponseAge?
        if isNew {
            age = await bench.body()?.age
        } else {
            age = await bench.failure()?.confirmedCaching?.age
        }
        #expect(age == ResponseAge(bornMilliseconds: 784_111_777_000, expiresInSeconds: 60))
    }

    @Test func anUnchangedBodyMayHaveALocation() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png", .revalidated([1, 2], etag: "\"e\"").with(header: "Location", "/b.png"))
        bench.origin.route("/b.png", .bytes([3]))
        bench.start("/a.png", validators: Validators(etag: "\"e\"", lastModified: nil))
        #expect(await bench.failure()?.code == .cacheNotModified)
        #expect(bench.origin.requestCount("/b.png") == 0)
    }

    @Test func bothValidatorsAreSentBesideTheRequestsHeaders() async throws {
        let bench = try DownloadBench.started(
            "/a.png", .bytes([1]), headers: [HTTPHeader(name: "X-Mine", value: "1")],
            validators: Validators(
                etag: "W/\"e\"", lastModified: "Sat, 01 Jan 2000 00:00:00 GMT"))
        #expect(await bench.body() != nil)
        let request = try #require(bench.origin.requests("/a.png").first)
        let sent = request.headers.filter { $0.name.hasPrefix("if-") }.map(\.value)
        #expect(sent == ["W/\"e\"", "Sat, 01 Jan 2000 00:00:00 GMT"])
        #expect(request.header("x-mine") == "1")
    }

    /// The conditions are those of the job, even after a redirect.
    @Test func theTargetOfARedirectIsAskedWithTheConditions() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/a.png"))
        bench.origin.route("/a.png", .revalidated([1, 2], etag: "\"e\""))
        bench.start("/from", validators: Validators(etag: "\"e\"", lastModified: nil))
        #expect(await bench.failure()?.code == .cacheNotModified)
        #expect(bench.space.liveCount == 0)
    }

    /// The body that arrived isn't the one of the conditions, so its rest is requested without
    /// them.
    @Test func theRestOfABodyIsAskedForWithoutConditions() async throws {
        let bytes = OriginBody.generatedBytes(count: 2_000)
        let bench = try DownloadBench.started(
            "/a.png",
            OriginBehavior { request in
                var response = OriginResponse(bytes)
                if request.header("range") == nil {
                    response.closesAfter = 1_000
                } else {
                    response = OriginResponse(Array(bytes[1_000...]), status: 206)
                    response.headers.append(("Content-Range", "bytes 1000-1999/2000"))
                }
                response.headers.append(("ETag", "\"f\""))
                return response
            }, validators: Validators(etag: "\"e\"", lastModified: "yesterday"))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == bytes)
        let sent = bench.origin.requests("/a.png").map { request in
            request.headers.filter { $0.name.hasPrefix("if-") }.map(\.value)
        }
        #expect(sent == [["\"e\"", "yesterday"], ["\"f\""]])
    }

    @Test func aVaryThatIsTooLongCountsAsEverything() async throws {
        let names = (0..<400).map { "X-Header-\($0)" }.joined(separator: ",")
        let bench = try DownloadBench.started("/a.png", .bytes([1]).with(header: "Vary", names))
        #expect(await bench.body()?.vary == "*")
    }
}

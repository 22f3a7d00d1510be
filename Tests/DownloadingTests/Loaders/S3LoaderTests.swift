import Downloading
import Glibc
import Model
import TestKit
import Testing

/// Objects on an S3 server that checks signatures.
@Suite(.enabled(if: S3Server.path != nil, "scripts/s3-server gets the server"))
struct S3LoaderTests {
    private static let credentials = S3Credentials(
        accessKeyID: S3Server.accessKeyID, secretAccessKey: S3Server.secretAccessKey)

    private static func loader(
        _ server: S3Server, as credentials: S3Credentials? = credentials
    ) -> FetchLoader {
        .s3(
            S3Place(
                endpoint: server.endpoint, region: "eu-central-1", credentials: credentials,
                allowedAddresses: [server.address]))
    }

    /// The signature is computed from the keys as quoted by Python.
    @Test func keysOfAllKindsAreSigned() async throws {
        let server = try S3Server()
        let keys = [
            "a.jpg", "sp ace.jpg", "pl+us.jpg", "til~de.jpg", "ümläut→🖼.jpg", "dir a/x&y=z,@!.jpg",
            "q?uest#h.jpg", "per%cent.jpg", "%41.jpg", "a:b;c$d'(e)*.jpg", "[b]{c}|^`\".jpg",
            "back\\slash<>.jpg", "d/e/f/g.jpg", "-_.jpg", "..hidden.jpg",
        ]
        mkdir(server.folder.file("photos"), 0o700)
        for folder in ["dir a", "d", "d/e", "d/e/f"] {
            mkdir(server.folder.file("photos/" + folder), 0o700)
        }
        for key in keys { server.folder.write(Array("bytes of \(key)".utf8), to: "photos/" + key) }
        let quote =
            "import sys, urllib.parse\n"
            + "for k in sys.argv[1:]: print(urllib.parse.quote(k, safe=\"/-._~!&,@+='\"))"
        let quoted = String(
            decoding: try Tool.run(["python3", "-c", quote] + keys), as: UTF8.self
        ).split(separator: "\n")
        #expect(quoted.count == keys.count)
        let bench = try DownloadBench()
        for (index, key) in keys.enumerated() {
            bench.start(
                "s3://photos/\(quoted[index])", id: UInt64(index + 1),
                loader: Self.loader(server))
            let outcome = try #require(await bench.outcomes.wait(count: index + 1)?.last)
            let body = outcome.body
            #expect(body != nil, "\(key): \(outcome)")
            let bytes = body.flatMap { bench.space.bytes($0.reference) }
            #expect(bytes == Array("bytes of \(key)".utf8), "\(key)")
            #expect(body?.effectiveURL == "s3://photos/\(quoted[index])")
        }
    }

    @Test func anObjectIsAskedForWithConditions() async throws {
        let server = try S3Server()
        mkdir(server.folder.file("photos"), 0o700)
        server.folder.write([1, 2, 3], to: "photos/a.jpg")
        let bench = try DownloadBench()
        bench.start("s3://photos/a.jpg", loader: Self.loader(server))
        let body = try #require(await bench.body())
        #expect(body.etag != nil && body.lastModified != nil)
        for validators in [
            Validators(etag: body.etag, lastModified: body.lastModified),
            Validators(etag: body.etag, lastModified: nil),
        ] {
            let again = try DownloadBench()
            again.start(
                "s3://photos/a.jpg", validators: validators, loader: Self.loader(server))
            #expect(await again.failure()?.code == .cacheNotModified)
        }
    }

    @Test func statusesAreThoseOfTheServer() async throws {
        let server = try S3Server()
        mkdir(server.folder.file("photos"), 0o700)
        server.folder.write([1], to: "photos/a.jpg")
        let wrong = S3Credentials(
            accessKeyID: S3Server.accessKeyID, secretAccessKey: "not-the-secret")
        let cases: [(String, FetchLoader, String)] = [
            ("s3://photos/missing.jpg", Self.loader(server), "404"),
            ("s3://nobucket/a.jpg", Self.loader(server), "404"),
            ("s3://photos/a.jpg", Self.loader(server, as: wrong), "403"),
        ]
        for (url, loader, status) in cases {
            let bench = try DownloadBench()
            bench.start(url, loader: loader)
            let error = try #require(await bench.failure())
            #expect(error.code == .invalidDownloadStatusCode)
            #expect(error.details["httpStatus"] == status, "\(url)")
            #expect(!"\(error)".contains("not-the-secret"))
        }
        let bench = try DownloadBench()
        bench.start("s3://photos/a.jpg", loader: Self.loader(server, as: nil))
        #expect(await bench.failure()?.code == .invalidDownloadStatusCode, "without credentials")
    }

    /// The endpoint of a server that accepts everything and records the requests.
    private static func place(
        _ origin: OriginServer, token: String = "", allowed: Bool = true, inHost: Bool = false
    ) -> FetchLoader {
        .s3(
            S3Place(
                endpoint: origin.url(""), region: "eu-central-1", hasBucketInHost: inHost,
                credentials: S3Credentials(
                    accessKeyID: "AKID", secretAccessKey: "SECRET", sessionToken: token),
                allowedAddresses: allowed ? [origin.authority] : []))
    }

    @Test func onlyTheEndpointGetsTheKeyAndOnlyWhatIsSigned() async throws {
        let origin = OriginServer()
        origin.route("/photos/a.jpg", .bytes([1]))
        let bench = try DownloadBench()
        bench.start(
            "s3://photos/a.jpg", headers: [HTTPHeader(name: "X-Amz-Request-Payer", value: "r")],
            loader: Self.place(origin, token: "TOKEN"))
        #expect(await bench.body() != nil)
        let request = try #require(origin.requests("/photos/a.jpg").first)
        let authorization = try #require(request.header("authorization"))
        #expect(authorization.contains("AKID/") && authorization.contains("/eu-central-1/s3/"))
        #expect(authorization.contains("x-amz-security-token"), "it is signed")
        #expect(request.header("x-amz-security-token") == "TOKEN")
        #expect(request.header("x-amz-request-payer") == nil, "clients can't set it")
        #expect(!"\(request)".contains("SECRET"))
    }

    @Test func noRedirectIsFollowed() async throws {
        let (origin, other) = (OriginServer(), OriginServer())
        origin.route("/photos/a.jpg", .redirect(to: other.url("/b")))
        other.route("/b", .bytes([1]))
        let bench = try DownloadBench { $0.allowedAddresses.append(other.authority) }
        bench.start("s3://photos/a.jpg", loader: Self.place(origin))
        #expect(await bench.failure()?.code == .invalidDownloadResponse)
        #expect(other.acceptedConnectionCount == 0)
    }

    /// Only the loader may use the address, even if a connection is already open.
    @Test func aClientDoesNotGetTheAddressOfTheEndpoint() async throws {
        let origin = OriginServer()
        origin.route("/*", .bytes([1]))
        let bench = try DownloadBench()
        bench.start("s3://photos/a.jpg", id: 1, loader: Self.place(origin))
        #expect(try #require(await bench.outcomes.wait(count: 1)).last?.body != nil)
        bench.start(origin.url("/photos/secret"), id: 2)
        let second = try #require(await bench.outcomes.wait(count: 2)?.last)
        #expect(second.failure?.code == .addressForbidden)
        bench.start("s3://photos/b.jpg", id: 3, loader: Self.place(origin, allowed: false))
        let third = try #require(await bench.outcomes.wait(count: 3)?.last)
        #expect(third.failure?.code == .addressForbidden)
        #expect(origin.requestCount("/photos/secret") + origin.requestCount("/photos/b.jpg") == 0)
        bench.start("s3://photos/c.jpg", id: 4, loader: Self.place(origin))
        #expect(try #require(await bench.outcomes.wait(count: 4)).last?.body != nil)
    }

    @Test func aDeniedAddressStaysDenied() async throws {
        let origin = OriginServer()
        let bench = try DownloadBench { $0.deniedAddresses = ["127.0.0.0/8"] }
        bench.start("s3://photos/a.jpg", loader: Self.place(origin))
        #expect(await bench.failure()?.code == .addressForbidden)
        #expect(origin.acceptedConnectionCount == 0)
    }

    @Test func theBucketMayBeInTheHost() async throws {
        let server = try S3Server(hostBuckets: true)
        mkdir(server.folder.file("photos"), 0o700)
        server.folder.write([1, 2], to: "photos/a b.jpg")
        let bench = try DownloadBench()
        bench.start(
            "s3://photos/a%20b.jpg",
            loader: .s3(
                S3Place(
                    endpoint: "http://localhost:\(server.port)", region: "us-east-1",
                    hasBucketInHost: true, credentials: Self.credentials,
                    allowedAddresses: [server.address])))
        let body = await bench.body()
        #expect(body.flatMap { bench.space.bytes($0.reference) } == [1, 2])
    }
}

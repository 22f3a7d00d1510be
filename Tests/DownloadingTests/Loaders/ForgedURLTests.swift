import Downloading
import Model
import StageKit
import TestKit
import Testing

/// No spelling of a URL reaches anything outside the bounds of its loader.
@Suite struct ForgedURLTests {
    /// Runs each row separately, with the loader of its table.
    private func run(
        _ rows: [ForgedURLs.Row], _ loader: FetchLoader, port: UInt16 = 0
    ) async throws {
        let bench = try DownloadBench { $0.allowedAddresses = [] }
        for (index, row) in rows.enumerated() {
            let url = row.url.replacing("PORT", with: "\(port)")
            bench.start(url, id: UInt64(index + 1), loader: loader)
            let outcome = try #require(await bench.outcomes.wait(count: index + 1)?.last)
            #expect(outcome.failure?.code == row.code, "\(url): \(outcome.result)")
        }
        #expect(bench.space.liveCount == 0)
    }

    @Test func thereAreEnough() {
        let tables = [ForgedURLs.http, ForgedURLs.file, ForgedURLs.s3, ForgedURLs.data]
        #expect(ForgedURLs.http.count >= 130)
        #expect(tables.allSatisfy { Set($0.map(\.url)).count == $0.count })
        #expect(tables.reduce(0) { $0 + $1.count } >= 300)
    }

    @Test func httpConnectsToNothingThatIsForbidden() async throws {
        let (ipv4, ipv6) = (OriginServer(), OriginServer(ipv6: true))
        try await run(ForgedURLs.http, .http, port: ipv4.port)
        try await run(
            ForgedURLs.http.filter { $0.code == .addressForbidden }, .http, port: ipv6.port)
        for (index, text) in ForgedURLs.unreadable.enumerated() {
            let bench = try DownloadBench { $0.allowedAddresses = [] }
            bench.start(text.replacing("PORT", with: "\(ipv4.port)"), id: UInt64(index + 1))
            let code = try #require(await bench.failure()?.code)
            #expect([.addressForbidden, .invalidURL, .nameNotResolved].contains(code), "\(text)")
        }
        #expect(ipv4.acceptedConnectionCount + ipv6.acceptedConnectionCount == 0)
    }

    @Test func filesStayBelowTheirRoot() async throws {
        let folder = FolderOfFiles()
        try await run(ForgedURLs.file, folder.loader)
    }

    @Test func objectsStayAtTheirEndpoint() async throws {
        let (origin, other) = (OriginServer(), OriginServer())
        for inHost in [false] {
            let place = S3Place(
                endpoint: origin.url(""), region: "us-east-1", hasBucketInHost: inHost,
                credentials: S3Credentials(accessKeyID: "A", secretAccessKey: "S"),
                allowedAddresses: [origin.authority])
            try await run(ForgedURLs.s3, .s3(place), port: other.port)
        }
        #expect(other.acceptedConnectionCount == 0)
    }

    @Test func dataIsNothingElse() async throws { try await run(ForgedURLs.data, .data) }

    /// HTTP redirects are followed over HTTP only, even if other loaders are configured.
    @Test(arguments: [
        "file:///etc/passwd", "FILE:///etc/passwd", "file:/etc/passwd",
        "data:image/png;base64,AA==",
        "s3://photos/a.jpg", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "javascript:x",
    ]) func aRedirectStaysWithHTTP(location: String) async throws {
        let bench = try DownloadBench.started("/from", .redirect(to: location))
        let code = await bench.failure()?.code
        #expect(
            code == .unsupportedScheme || code == .protocolBroken, "\(String(describing: code))")
    }
}

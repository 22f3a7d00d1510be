import ConfigurationFile
import Linux
import Model
import TestKit
import Testing

/// The section `loaders` of the operator's file.
@Suite struct LoaderFileTests {
    @Test func allOfItIsRead() throws {
        let configuration = try read(
            """
            loaders:
              web: {kind: http, match: "https://img.example.com/*"}
              photos: {kind: file, root: /srv/photos, match: ["file:///a/*", "file:///b/*"]}
              inline: {kind: data}
              store:
                kind: s3
                endpoint: https://10.0.0.7:9000
                region: eu-central-1
                credentials: /run/secrets/s3
                allow-addresses: ["10.0.0.7:9000", "[fd00::7]:9000"]
              far: {kind: s3, endpoint: "https://s3.example.com", region: us-east-1, bucket: host}
            profiles: {p: {loader: photos}}
            """)
        #expect(configuration.loaders.map(\.name) == ["web", "photos", "inline", "store", "far"])
        #expect(configuration.loaders[1].means == .file(FileRoot(path: "/srv/photos")))
        #expect(configuration.loaders[1].patterns?.map(\.text) == ["file:///a/*", "file:///b/*"])
        let place = S3Place(
            endpoint: "https://10.0.0.7:9000", region: "eu-central-1",
            allowedAddresses: ["10.0.0.7:9000", "[fd00::7]:9000"])
        #expect(configuration.loaders[3].means == .s3(place))
        #expect(configuration.loaders[3].credentialsFile == "/run/secrets/s3")
        guard case .s3(let far) = configuration.loaders[4].means else { return }
        #expect(far.hasBucketInHost)
        #expect(configuration.secretFiles == ["/run/secrets/s3"])
        #expect(configuration.summary.hasSuffix("5 loaders"))
    }

    /// The loader takes the schemes granted to the pool, regardless of the order of sections in the
    /// file.
    @Test func aLoaderMayBeAForeignPool() throws {
        let configuration = try read(
            """
            loaders: {library: {kind: pool, pool: photos, match: "photos://a/*"}}
            pools:
              photos: {kind: download, trust: external, schemes: [photos, Assets]}
            """)
        #expect(configuration.loaders.first?.means == .pool("photos"))
        #expect(configuration.loaders.first?.schemes == ["photos", "assets"])
    }

    @Test(arguments: [
        "", "photos: {kind: download, schemes: [https]}",
        "photos: {kind: decode, trust: external, formats-in: [raw]}",
    ])
    func aLoaderIsNoOtherPool(pools: String) {
        let found = faults(in: "pools: {\(pools)}\nloaders: {a: {kind: pool, pool: photos}}\n")
        let expected = "f:2: no external download pool ('trust: external') is named 'photos'"
        #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
    }

    @Test(arguments: [
        ("a: {}", "loaders.a: 'kind' is missing: specify one of http, file, data, s3, pool"),
        ("a: {kind: ftp}", "kind: expected one of http, file, data, s3, pool, not 'ftp'"),
        ("a: {kind: pool}", "loaders.a: 'pool' is missing"),
        ("http: {kind: http}", "loaders: 'http' is the built-in loader"),
        ("none: {kind: http}", "loaders: 'none' is a reserved name"),
        ("a: {kind: file}", "loaders.a: 'root' is missing"),
        ("a: {kind: file, root: srv}", "root: expected an absolute path"),
        ("a: {kind: file, root: /srv/../etc}", "root: expected an absolute path"),
        ("a: {kind: data, root: /srv}", "loaders.a: 'root' does not apply to a loader"),
        ("a: {kind: http, region: eu}", "loaders.a: 'region' does not apply to a loader"),
        ("a: {kind: s3, region: eu}", "loaders.a: 'endpoint' is missing"),
        ("a: {kind: s3, endpoint: 'https://h'}", "loaders.a: 'region' is missing"),
        ("a: {kind: s3, endpoint: 'https://h/x', region: eu}", "endpoint: expected"),
        ("a: {kind: s3, endpoint: 'https://h', region: 'e:u'}", "region: expected"),
        ("a: {kind: s3, endpoint: 'https://u:p@h', region: eu}", "endpoint: expected"),
        (
            "a: {kind: s3, endpoint: 'https://10.0.0.7', region: eu, bucket: host}",
            "loaders.a: 'bucket: host' requires an endpoint with a host"
        ),
        (
            "a: {kind: s3, endpoint: 'https://h', region: eu, allow-addresses: [minio:9000]}",
            "allow-addresses: expected an address with a port"
        ),
        (
            "a: {kind: s3, endpoint: 'https://h', region: eu, allow-addresses: [10.0.0.7]}",
            "allow-addresses: expected an address with a port"
        ),
        (
            "a: {kind: s3, endpoint: 'https://h', region: eu, credentials: x}",
            "credentials: expected an absolute path"
        ),
        ("a: {kind: data, match: 'data:x'}", "match: expected a pattern"),
        ("a: {kind: data, mach: x}", "loaders.a has no key 'mach'. Did you mean 'match'?"),
    ]) func whatIsWrongIsTold(loader: String, expected: String) {
        let found = faults(in: "loaders: {\(loader)}")
        #expect(found.first?.hasPrefix("f:1: \(expected)") == true, "\(found)")
        #expect(!found.contains { $0.contains("u:p") })
    }

    @Test func credentialsAreReadAndKeptToThemselves() throws {
        let folder = TemporaryDirectory()
        let path = folder.write(
            Array("[default]\naws_access_key_id=AKID\naws_secret_access_key=KEY\n".utf8), to: "s3")
        var configuration = try read(
            "loaders: {a: {kind: s3, endpoint: 'https://h', region: eu, credentials: \(path)}}")
        var files = SecretFiles()
        try files.fill(&configuration, path: "f", after: nil)
        var request = ImageRequest(url: "s3://photos/a")
        let loader = try configuration.resolve(request).terms.loader
        guard case .s3(let place) = loader else {
            Issue.record("\(loader)")
            return
        }
        #expect(place.credentials?.accessKeyID == "AKID")

        folder.write(Array("[default]\naws_access_key_id=AKID\n".utf8), to: "s3")
        var other = SecretFiles()
        configuration.secrets = [:]
        try other.fill(&configuration, path: "f", after: nil)
        request.url = "s3://photos/b"
        let missing = #expect(throws: ImageError.self) { try configuration.resolve(request) }
        #expect(missing?.message.contains("no profile [default]") == true)
        #expect(missing?.message.contains("AKID") == false)
    }
}

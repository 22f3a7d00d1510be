import Model
import Testing

@testable import ConfigurationFile

/// Rules that disable certificate verification for a host (SEMANTICS §10.22).
@Suite struct UnverifiedHostTests {
    private static func anyHost(_ line: String) -> String {
        "profiles: {default: {rules: [{match: 'https://h/*', \(line)}]}}\n"
    }

    /// Unverified TLS is limited to one host and excludes anything secret.
    @Test func tlsIsLeftUnverifiedForOneHost() throws {
        func rule(_ host: String, _ line: String = "") -> String {
            "profiles: {default: {rules: [{match: '\(host)', tls-verify: no\(line)}]}}\n"
        }
        let configuration = try read(rule("https://NAS.lan:8443/photos/*"))
        #expect(configuration.unverifiedHosts == ["nas.lan:8443"])
        #expect(try read(Self.anyHost("tls-verify: yes")).unverifiedHosts == [])
        for host in [
            "https://*/*", "https://*.lan/*", "*", "http://nas.lan/*", "*://nas.lan/*",
            "s3://photos/*",
        ] {
            let found = faults(in: rule(host))
            #expect(
                found.contains { $0.contains("tls-verify: 'match' must name one https") },
                "\(found)")
        }
        for line in [
            "cookies: shop", "credentials: {bearer-file: /t}", "headers: {X-Key: a}",
            "headers: {X-Key: {file: /k}}", "client-certificate: {certificate: /c, key: /k}",
        ] {
            let found = faults(in: rule("https://nas.lan/*", ", \(line)"))
            #expect(
                found.contains { $0.contains("tls-verify: 'no' cannot be combined") }, "\(found)")
        }
        #expect(faults(in: rule("https://nas.lan/*", ", headers: {Accept: image/webp}")).isEmpty)
    }
}

import Model
import Testing

@testable import WebGrammar

/// How sources in URLs are resolved.
@Suite struct SourceRulesTests {
    private func url(
        _ source: String, _ change: (inout SourceRules) throws -> Void
    ) throws -> String {
        var rules = SourceRules()
        try change(&rules)
        return try rules.url(Array(source.utf8))
    }

    @Test func aBaseStandsBeforeSourcesThatDoNotBeginWithIt() throws {
        let base = "https://example.com/images/"
        #expect(try url("a/b.jpg") { $0.base = base } == base + "a/b.jpg")
        #expect(try url(base + "a.jpg") { $0.base = base } == base + "a.jpg")
        #expect(try url("/a.jpg") { $0.base = "local://" } == "local:///a.jpg")
    }

    @Test func aDefaultSchemeIsForSourcesWithoutOne() throws {
        #expect(try url("h/a.jpg") { $0.defaultScheme = "https" } == "https://h/a.jpg")
        #expect(try url("http://h/a.jpg") { $0.defaultScheme = "https" } == "http://h/a.jpg")
        #expect(throws: GrammarError.self) { try url("h/a.jpg") { _ in } }
    }

    /// imgproxy's documentation of IMGPROXY_URL_REPLACEMENTS.
    @Test(arguments: [
        ("mys3://=s3://my_bucket/images/", "mys3://image.jpg", "s3://my_bucket/images/image.jpg"),
        (
            "mys3://=s3://my-bucket/;s3://my-bucket/=https://h/", "mys3://a.jpg", "https://h/a.jpg"
        ),
        (
            "old://*.example.com/=https://${1}.example.org/x/", "old://img.example.com/a.jpg",
            "https://img.example.org/x/a.jpg"
        ),
        ("q://*/*/=https://h/${2}/${1}/", "q://a/b/c.jpg", "https://h/b/a/c.jpg"),
        ("q://*b/=https://h/${1}/", "q://abb/c.jpg", "https://h/ab/c.jpg"),
        ("other://=https://h/", "https://h/a.jpg", "https://h/a.jpg"),
        ("https://h/*=s3://b/", "https://h/", "s3://b/"),
    ])
    func replacementsAreDoneInTheirOrder(list: String, source: String, wanted: String) throws {
        let replaced = try url(source) {
            $0.replacements = try SourceReplacement.list(list)
            $0.schemes = $0.schemes.adding(["old", "q", "mys3", "other"])
        }
        #expect(replaced == wanted)
    }

    @Test(arguments: ["a", "=b", "a=${1}", "a*=${2}", "a*=${x}"])
    func whatIsNoReplacementIsRefused(text: String) {
        #expect(throws: GrammarError.self) { try SourceReplacement.list(text) }
    }

    @Test(arguments: [
        ("https://example.com", "https://example.com/a.jpg", true),
        ("https://example.com", "HTTPS://EXAMPLE.com/a.jpg", true),
        ("https://example.com", "https://example.com.evil.org/a.jpg", false),
        ("https://example.com", "https://example.com@evil.org/a.jpg", false),
        ("https://example.com", "https://u:p@example.com/a.jpg", true),
        ("https://example.com", "http://example.com/a.jpg", false),
        ("https://*.example.com/", "https://img.example.com/a.jpg", true),
        ("https://*.example.com/", "https://evil.org/.example.com/a.jpg", false),
        ("https://*.example.com/", "https://evil.org?.example.com/a.jpg", false),
        ("https://h/public/", "https://h/public/a.jpg", true),
        ("https://h/public/", "https://h/public/../secret.jpg", false),
        ("https://h/public/", "https://h/public/%2e%2E/secret.jpg", false),
        ("https://h/public/", "https://h/secret.jpg", false),
        ("https://h/*/thumbs/", "https://h/a/thumbs/b.jpg", true),
        ("https://h/*/thumbs/", "https://h/a/b/thumbs/b.jpg", false),
        ("s3://", "s3://bucket/a.jpg", true), ("local://", "local:///a.jpg", true),
        ("s3://,local://", "https://h/a.jpg", false), ("data:", "data:image/png;base64,AA", true),
    ])
    func onlyAllowedSourcesAreLoaded(list: String, source: String, isAllowed: Bool) throws {
        let patterns = try SourcePattern.list(list)
        do throws(GrammarError) {
            var rules = SourceRules()
            rules.allowed = patterns
            _ = try rules.url(Array(source.utf8))
            #expect(isAllowed)
        } catch {
            #expect(!isAllowed && error.status == 403, "\(error)")
        }
    }

    @Test func thumborsWatermarksAreSourcesToo() throws {
        var settings = ThumborGrammar.Settings()
        settings.permitsUnsigned = true
        settings.sources.allowed = try SourcePattern.list("http://h/")
        let grammar = try ThumborGrammar(settings)
        #expect(throws: Never.self) {
            try grammar.read("/unsafe/filters:watermark(http://h/m.png,0,0,0)/h/a.jpg")
        }
        let refusal = try grammar.refusal(
            "/unsafe/filters:watermark(http://i/m.png,0,0,0)/h/a.jpg")
        #expect(refusal.status == 403)
    }
}

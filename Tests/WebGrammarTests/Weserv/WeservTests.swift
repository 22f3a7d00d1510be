import Model
import Testing

@testable import WebGrammar

/// weserv's parameters, each with the resulting request.
@Suite struct WeservTests {
    private func grammar(
        unsigned: Bool = true, _ change: (inout WeservGrammar.Settings) throws -> Void = { _ in }
    ) rethrows -> WeservGrammar {
        var settings = WeservGrammar.Settings()
        settings.permitsUnsigned = unsigned
        try change(&settings)
        return WeservGrammar(settings)
    }

    @Test(arguments: WeservRows.good)
    func aParameterComesToItsRequest(row: GoodRow) throws {
        var wanted = WebRequest(ImageRequest(url: "https://h/a.jpg"))
        wanted.framesMax = 1
        row.change(&wanted)
        #expect(try grammar().read("/?url=https://h/a.jpg&\(row.text)") == wanted)
        #expect(try grammar().read("/?\(row.text)&url=https%3A%2F%2Fh%2Fa.jpg") == wanted)
    }

    @Test(arguments: WeservRows.bad)
    func whatIsNotSupportedIsRefusedByName(row: BadRow) throws {
        let refusal = try grammar().refusal("/?url=https://h/a.jpg&\(row.text)")
        #expect(refusal.status == row.status)
        #expect(refusal.option == row.option || refusal.message.contains(row.option))
    }

    @Test func everyParameterHasARow() {
        for name in WeservOption.names {
            let isIn = { (text: String) in
                text.split(separator: "&").contains { $0.split(separator: "=").first == name[...] }
            }
            #expect(WeservRows.good.map(\.text).contains(where: isIn), "\(name)")
            #expect(!WeservOption.absent.contains(name))
        }
    }

    // MARK: - Sources

    @Test(arguments: [
        ("h.org/a.jpg", "http://h.org/a.jpg"), ("https://h/a.jpg", "https://h/a.jpg"),
        ("ssl:h.org/a.jpg", "https://h.org/a.jpg"), ("//h.org/a.jpg", "https://h.org/a.jpg"),
        ("https%3A%2F%2Fh%2Fa%3Fb%3D1%26c", "https://h/a?b=1&c"),
        ("h.org/a?b=1", "http://h.org/a?b=1"),
        ("h.org/a%2520b", "http://h.org/a%20b"), ("h.org/a+b", "http://h.org/a+b"),
        ("b%C3%BCcher.example/a", "http://xn--bcher-kva.example/a"), ("s3://b/k", "s3://b/k"),
    ])
    func theSourceIsDecodedOnce(text: String, url: String) throws {
        #expect(try grammar().read("/?url=\(text)&w=9").image.url == url)
    }

    @Test(arguments: [
        "/?w=9", "/?", "/", "/?url", "/?url=", "/?url=ftp://h/a", "/?url=h/%zz", "/?url=h/a%0Ab",
        "/?url=https:///a", "/?url=javascript%3A//h/a", "/?URL=h.org/a",
    ])
    func whatIsNoSourceIsMalformed(target: String) throws {
        #expect(try grammar().refusal(target).status == 400)
    }

    @Test func onlyTheRootHasImages() throws {
        for target in ["", "/a?url=h.org/a", "//?url=h.org/a", "/unsafe/300x200/h.org/a"] {
            #expect(try grammar().refusal(target).status == 404)
        }
    }

    @Test func sourcesAreSubjectToTheRules() throws {
        let closed = try grammar {
            $0.sources.allowed = try SourcePattern.list("https://example.com/")
        }
        #expect(try closed.refusal("/?url=https://example.org/a").status == 403)
        #expect(try closed.read("/?url=ssl:example.com/a").image.url == "https://example.com/a")
        let secure = grammar { $0.sources.defaultScheme = "https" }
        #expect(try secure.read("/?url=h.org/a").image.url == "https://h.org/a")
    }

    // MARK: - Limits and permission

    @Test func withoutPermissionNothingIsRead() throws {
        for target in ["/?url=h.org/a", "/", "/a"] {
            let refusal = try grammar(unsigned: false).refusal(target)
            #expect(refusal.status == 403 && refusal.kind == .signature)
        }
    }

    @Test func manyParametersAreTooMany() throws {
        let most = Array(repeating: "a=1", count: 63).joined(separator: "&")
        #expect(try grammar().read("/?url=h.org/a&\(most)").image.url == "http://h.org/a")
        #expect(try grammar().refusal("/?url=h.org/a&\(most)&b=2").status == 400)
        let long = "/?url=h.org/" + String(repeating: "a", count: 8_192)
        #expect(try grammar().refusal(long).status == 414)
    }
}

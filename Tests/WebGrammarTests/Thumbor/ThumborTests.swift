import Model
import Testing

@testable import WebGrammar

/// thumbor's path components and filters, each with the resulting request.
@Suite struct ThumborTests {
    private func grammar(
        _ keys: [String] = [], unsigned: Bool = true,
        _ change: (inout ThumborGrammar.Settings) -> Void = { _ in }
    ) throws -> ThumborGrammar {
        var settings = ThumborGrammar.Settings()
        settings.keys = keys.compactMap { SigningKey(key: Array($0.utf8)) }
        settings.permitsUnsigned = unsigned
        change(&settings)
        return try ThumborGrammar(settings)
    }

    private func wanted(_ row: GoodRow, _ url: String = "https://h/a.jpg") -> WebRequest {
        var request = WebRequest(ImageRequest(url: url))
        row.change(&request)
        return request
    }

    @Test(arguments: ThumborRows.good)
    func aPartComesToItsRequest(row: GoodRow) throws {
        #expect(try grammar().read("/unsafe/\(row.text)/https://h/a.jpg") == wanted(row))
    }

    @Test(arguments: ThumborRows.bad)
    func aBadPartIsRefusedByName(row: BadRow) throws {
        let refusal = try grammar().refusal("/unsafe/\(row.text)/https://h/a.jpg")
        #expect(refusal.status == row.status)
        #expect((refusal.option ?? "") == row.option || refusal.message.contains(row.option))
    }

    @Test func everyFilterHasAGoodAndABadRow() {
        for name in ThumborFilter.all.flatMap(\.names) {
            let isIn = { (text: String) in text.contains("\(name)(") }
            #expect(ThumborRows.good.map(\.text).contains(where: isIn), "\(name)")
            #expect(ThumborRows.bad.map(\.text).contains(where: isIn), "\(name)")
            #expect(!ThumborFilter.absent.contains(name))
        }
    }

    // MARK: - Signatures

    @Test(arguments: SignedByLibthumbor.good)
    func whatLibthumborSignsIsRead(row: GoodRow) throws {
        let grammar = try grammar(["other", SignedByLibthumbor.key], unsigned: false)
        let read = try grammar.read(row.text)
        #expect(read == wanted(row, SignedByLibthumbor.url))
        #expect(try grammar.read(row.text.replacing("=/", with: "%3D/")) == read)
        #expect(try self.grammar(["other"]).refusal(row.text).status == 403)
        #expect(try grammar.refusal(row.text + "x").status == 403)
    }

    @Test(arguments: SignedByLibthumbor.bad)
    func whatIsSignedAndNotDoneIsRefusedByName(row: BadRow) throws {
        let grammar = try grammar([SignedByLibthumbor.key], unsigned: false)
        let refusal = try grammar.refusal(row.text)
        #expect(refusal.status == row.status && refusal.option == row.option)
    }

    @Test func unsignedPathsAreReadOnlyWhereThatIsSaid() throws {
        let closed = try grammar([SignedByLibthumbor.key], unsigned: false)
        for word in ["unsafe", "_", "Unsafe", "90x80", "%75nsafe", "="] {
            #expect(try closed.refusal("/\(word)/https://h/a.jpg").status == 403)
        }
        #expect(try grammar().refusal("/_/https://h/a.jpg").status == 403)
        #expect(throws: GrammarError.self) {
            try grammar { $0.keys = [SigningKey(key: [1], salt: [2])].compactMap { $0 } }
        }
    }

    // MARK: - Sources

    @Test(arguments: [
        ("https://h/a.jpg", "https://h/a.jpg"), ("h.org/a.jpg", "http://h.org/a.jpg"),
        ("https%3A%2F%2Fh%2Fa%3Fb", "https://h/a?b"),
        ("https://h/a%20b%2Fc", "https://h/a%20b/c"),
        ("http://h/q.jpg%3Fa=1&b=2", "http://h/q.jpg?a=1&b=2"),
        ("https://h/100%25", "https://h/100%25"),
        ("https://h/a%2520b", "https://h/a%20b"), ("https://h/%22%3C%7C", "https://h/%22%3C%7C"),
        ("h.org%2Fa%20b", "http://h.org/a%20b"), ("30x40.jpg", "http://30x40.jpg"),
        ("data:image/png;base64,AA", "data:image/png;base64,AA"), ("s3://b/k", "s3://b/k"),
        ("smart", "http://smart"), ("https://h/a.jpg?x=/y", "https://h/a.jpg"),
    ])
    func theSourceIsTheRest(text: String, url: String) throws {
        #expect(try grammar().read("/unsafe/\(text)").image.url == url)
    }

    /// Clients encode brackets, and sign the path with or without that encoding.
    @Test(arguments: ["filters:blur%287%29", "filters:quality(70):blur%287%29", "filters:blur(7)"])
    func bracketsOfFiltersMayBeEncoded(text: String) throws {
        let request = try grammar().read("/unsafe/\(text)/https://h/a.jpg")
        #expect(request.image.steps == [.blur(radius: 7)])
        #expect(request.image.url == "https://h/a.jpg")
    }

    /// A component that looks like an option but isn't one isn't used as a host name.
    @Test(arguments: [
        ("stretch/90x80/https://h/a.jpg", 501), ("90x80/1x2:3x4/https://h/a.jpg", 501),
        ("params/90x80/https://h/a.jpg", 501), ("rounded/https://h/a.jpg", 400),
        ("90x80/fit-in/https://h/a.jpg", 501),
    ])
    func whatIsNoOptionIsNoHost(text: String, status: Int) throws {
        let refusal = try grammar().refusal("/unsafe/\(text)")
        #expect(refusal.status == status && refusal.option != nil, "\(refusal)")
    }

    @Test(arguments: [
        "/", "/unsafe", "/unsafe/", "/unsafe/https:///a", "/unsafe/h/%zz", "/unsafe/h/a%0Ab",
        "/unsafe/ftp://h/a", "/unsafe/https://h/%z0", "/unsafe/javascript%3A//h/a",
    ])
    func whatIsNoSourceIsMalformed(target: String) throws {
        #expect(try grammar().refusal(target).status == 400)
    }

    @Test func theUsualSchemeIsTold() throws {
        let secure = try grammar { $0.sources.defaultScheme = "https" }
        #expect(try secure.read("/unsafe/h.org/a").image.url == "https://h.org/a")
        let none = try grammar { $0.sources.defaultScheme = "" }
        #expect(try none.refusal("/unsafe/h.org/a").status == 400)
    }

    @Test func manyFiltersAreTooMany() throws {
        let most = Array(repeating: "quality(5)", count: 64).joined(separator: ":")
        #expect(try grammar().read("/unsafe/filters:\(most)/h.org/a").image.output.quality == 5)
        #expect(try grammar().refusal("/unsafe/filters:\(most):quality(6)/h/a").status == 400)
        let steps = Array(repeating: "grayscale()", count: 33).joined(separator: ":")
        #expect(try grammar().refusal("/unsafe/filters:\(steps)/h/a").status == 400)
        let long = "/unsafe/h.org/" + String(repeating: "a", count: 8_192)
        #expect(try grammar().refusal(long).status == 414)
    }
}

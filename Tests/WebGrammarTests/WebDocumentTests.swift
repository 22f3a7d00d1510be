import Model
import TestKit
import Testing

@testable import WebGrammar

/// The grammars behave as `Proto/WEB.md` describes.
@Suite struct WebDocumentTests {
    private func imgproxy() throws -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.permitsUnsigned = true
        settings.watermark = "https://h/m.png"
        settings.presets = try ImgproxyPresets(["sharp": "sh:1"])
        return try ImgproxyGrammar(settings)
    }

    private func thumbor(_ dialect: ThumborDialect = .thumbor) throws -> ThumborGrammar {
        var settings = ThumborGrammar.Settings(dialect)
        settings.permitsUnsigned = true
        return try ThumborGrammar(settings)
    }

    private func weserv() -> WeservGrammar {
        var settings = WeservGrammar.Settings()
        settings.permitsUnsigned = true
        return WeservGrammar(settings)
    }

    private func check(
        _ row: WebDocument.Row, by grammar: some URLGrammar, isLenient: Bool = false,
        _ target: (String) -> String
    ) throws {
        #expect(try grammar.read(target(row.example)).image.steps.map(\.name) == row.steps)
        #expect(isLenient || !row.refused.isEmpty)
        for text in row.refused {
            #expect([400, 404, 501].contains(try grammar.refusal(target(text)).status), "\(text)")
        }
    }

    @Test(arguments: WebDocument.rows(of: 2, headed: "options"))
    func imgproxysOptionsAreAsTheTableSays(row: WebDocument.Row) throws {
        try check(row, by: imgproxy()) { "/_/\($0)/plain/https://h/a.jpg" }
        #expect(ImgproxyOption.all.contains { $0.names == row.names })
    }

    @Test(
        arguments: WebDocument.rows(of: 3, headed: "part")
            + WebDocument.rows(of: 3, headed: "filter"))
    func thumborsPartsAreAsTheTablesSay(row: WebDocument.Row) throws {
        try check(row, by: thumbor()) { "/unsafe/\($0)/https://h/a.jpg" }
    }

    @Test(
        arguments: WebDocument.rows(of: 3, headed: "imagor part")
            + WebDocument.rows(of: 3, headed: "imagor filter"))
    func imagorsPartsAreAsTheTablesSay(row: WebDocument.Row) throws {
        try check(row, by: thumbor(.imagor)) { "/unsafe/\($0)/https://h/a.jpg" }
    }

    /// What the tables of imagor don't repeat is the same.
    @Test func theOtherFiltersOfImagorAreThumbors() throws {
        let own = Set(ImagorFilter.all.flatMap(\.names))
        for row in WebDocument.rows(of: 3, headed: "filter") where own.isDisjoint(with: row.names) {
            try check(row, by: thumbor(.imagor)) { "/unsafe/\($0)/https://h/a.jpg" }
        }
    }

    @Test(arguments: WebDocument.rows(of: 4, headed: "parameter"))
    func parametersOfIIIFAreAsTheTableSays(row: WebDocument.Row) throws {
        try check(row, by: IIIFGrammar(IIIFGrammar.Settings(source: "https://h/{id}"))) {
            "/a/\($0)"
        }
    }

    @Test(arguments: WebDocument.rows(of: 7, headed: "parameters"))
    func parametersOfWeservAreAsTheTableSays(row: WebDocument.Row) throws {
        try check(row, by: weserv(), isLenient: true) {
            $0.hasPrefix("url=") ? "/?\($0)" : "/?url=https://h/a.jpg&\($0)"
        }
    }

    @Test func theTablesHaveAllThatIsRead() {
        #expect(
            WebDocument.rows(of: 2, headed: "options").map(\.names)
                == ImgproxyOption.all.map(\.names))
        #expect(
            WebDocument.rows(of: 3, headed: "filter").map(\.names)
                == ThumborFilter.all.map(\.names))
        #expect(WebDocument.rows(of: 3, headed: "part").count == 13)
        #expect(
            WebDocument.rows(of: 3, headed: "imagor filter").map(\.names)
                == ImagorFilter.all.map(\.names))
        #expect(WebDocument.rows(of: 3, headed: "imagor part").count == 5)
        #expect(WebDocument.rows(of: 4, headed: "parameter").count == 12)
        #expect(
            WebDocument.rows(of: 7, headed: "parameters").map(\.names)
                == WeservOption.all.map(\.names))
    }

    /// The document lists one name of each; the short ones are beside them.
    @Test func whatIsNotSupportedIsRefusedByName() throws {
        let imgproxys = WebDocument.names(of: 2, behind: "Not supported")
            .subtracting(["enc/", "-/"])
        #expect(imgproxys.count == 35 && imgproxys.isSubset(of: ImgproxyOption.absent))
        for name in ImgproxyOption.absent {
            let refusal = try imgproxy().refusal("/_/\(name):1/plain/https://h/a")
            #expect(refusal.status == 501 && refusal.option == name)
        }
        #expect(WebDocument.names(of: 3, behind: "Not supported") == ThumborFilter.absent)
        #expect(WebDocument.names(of: 3, behind: "Not supported of imagor") == ImagorFilter.absent)
        for name in ThumborFilter.absent {
            let refusal = try thumbor().refusal("/unsafe/filters:\(name)(1)/https://h/a")
            #expect(refusal.status == 501 && refusal.option == name)
        }
        #expect(WebDocument.names(of: 7, behind: "Not supported") == WeservOption.absent)
        for name in WeservOption.absent {
            let refusal = try weserv().refusal("/?url=https://h/a&\(name)=1")
            #expect(refusal.status == 501 && refusal.option == name)
        }
    }

    /// Secrets are only compared by the binding.
    @Test func signaturesAreComparedInConstantTime() {
        let all = WebSources.lines
        #expect(all.contains { $0.contains("SecretBytes.areEqual(") })
        let suspects = all.filter { line in
            ["code", "signature", "digest"].contains { line.contains("\($0) ==") }
        }
        #expect(all.count > 1_000 && suspects.isEmpty)
    }
}

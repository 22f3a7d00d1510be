import Testing

@Suite struct CitationTests {
    private let files = RepositoryFiles()

    private func sources(_ isMeant: (String) -> Bool) -> [SourceText] {
        files.paths().filter(isMeant).compactMap { path in
            files.text(of: path).map { SourceText(path: path, text: $0) }
        }
    }

    private static func isDocument(_ path: String) -> Bool {
        // The migration pages cite others, and are not cited.
        path.hasPrefix("Proto/") && path.hasSuffix(".md") && !path.hasPrefix("Proto/Migration/")
    }

    @Test func whatIsCitedIsThere() {
        let rules = CitationRules(sources(Self.isDocument))
        let names = Set(files.paths().compactMap { $0.split(separator: "/").last.map(String.init) })
        var cited: Set<Citation.Document> = []
        for source in sources(HouseRules.areFor) {
            var found = rules.danglingSections(source)
            // These tests contain names of nonexistent documents on purpose.
            if !source.path.hasPrefix("Tests/TidyTests/") {
                found += CitationRules.missingDocuments(source, names: names)
            }
            for finding in found { Issue.record("\(finding)") }
            guard source.mentions("\(Citation.sign)") else { continue }
            cited.formUnion(source.lines.flatMap(Citation.all).map(\.document))
        }
        #expect(cited.isSuperset(of: [.named("PROTOCOL"), .named("SEMANTICS"), .external, .own]))
    }

    @Test func everyNumberIsGivenOnce() {
        let documents = sources(Self.isDocument)
        #expect(documents.count == 3)
        for document in documents {
            let numbers = CitationRules.sections(of: document)
            #expect(numbers.count > 10)
            #expect(Set(numbers).count == numbers.count, "\(document.path): \(numbers)")
        }
    }

    // MARK: - Tests of the rules

    /// The section sign, escaped so that no line of this file is a citation.
    private static let sign = "\u{A7}"
    private static let rules = CitationRules([
        SourceText(path: "Proto/ROADS.md", text: "# R\n\n## 1 W\n\n- **1.1 A.** B.\n\n### 1.2 C"),
        SourceText(path: "Proto/RIVERS.md", text: "## 2 Banks\n\n#### 2.1.3 Left"),
    ])

    @Test(arguments: [
        "(ROADS \(sign)3)", "ROADS \(sign)1, \(sign)1.4", "ROADS \(sign)1 and \(sign)2",
        "as ROADS \(sign)1.1.1 says.", "RIVERS \(sign)1", "(SEAS \(sign)1)", "see \(sign)1",
        "(\(sign)1.1)", "RIVERS \(sign)2; \(sign)2", "// \(sign)2 is in RIVERS",
        "9110 \(sign)5.6.1",
    ])
    func aDanglingSectionIsFound(line: String) {
        let source = SourceText(path: "Sources/A.swift", text: "one\n/// \(line)\n")
        #expect(Self.rules.danglingSections(source).map(\.line) == [2], "\(line)")
    }

    @Test(arguments: [
        "ROADS \(sign)1.", "(ROADS \(sign)1.1, \(sign)1.2; RFC 9110 \(sign)5.6.1)",
        "`RIVERS \(sign)2.1.3`", "RIVERS \(sign)2 to \(sign)2.1.3",
        "RFC 3986 \(sign)3.2, \(sign)3.3",
        "(W3C Trace Context \(sign)3.2.2.4)", "(EXIF 2.3 \(sign)4.6.4)", "the sign \(sign) alone",
        "ROADS \(sign)1 and RIVERS \(sign)2",
    ])
    func aSectionThatIsThereIsLeftAlone(line: String) {
        let source = SourceText(path: "Sources/A.swift", text: "/// \(line)")
        #expect(Self.rules.danglingSections(source) == [])
    }

    @Test func aDocumentMayCiteItself() {
        let text = "in \(Self.sign)1.1, not (\(Self.sign)2)"
        let own = SourceText(path: "Proto/ROADS.md", text: text)
        #expect(Self.rules.danglingSections(own).map(\.rule) == ["no section 2 in ROADS"])
    }

    @Test func aDocumentThatIsNotThereIsFound() {
        let source = SourceText(
            path: "Sources/A.swift", text: "/// as ROADS.md, old-notes.md and x.mdx say: *.md\n")
        let found = CitationRules.missingDocuments(source, names: ["ROADS.md"])
        #expect(found.map(\.rule) == ["no document old-notes.md"])
    }
}

import Testing

@Suite struct DocumentTests {
    private let files = RepositoryFiles()

    @Test(arguments: DocumentRules.wanted)
    func documentIsThere(path: String) {
        #expect(files.exists(path))
    }

    @Test func documentsPointAtWhatIsThere() throws {
        for path in files.paths() where path.hasSuffix(".md") {
            let source = SourceText(path: path, text: try #require(files.text(of: path)))
            let found =
                DocumentRules.tooLong(source)
                + DocumentRules.deadPaths(source, exists: files.exists)
            for finding in found { Issue.record("\(finding)") }
        }
    }

    @Test func scriptsAreExecutable() {
        for path in files.paths(below: "scripts") where !path.contains(".") {
            #expect(files.isExecutable(path), "\(path): chmod +x")
        }
    }

    // MARK: - Tests of the rules

    @Test(arguments: [
        "See [the rooms](../Sources/Gone.md#rooms).",
        "The loop is in `Sources/Gone.swift`.",
    ])
    func aPathToNothingIsFound(line: String) {
        let source = SourceText(path: "Proto/A.md", text: "one\n\(line)\n")
        let found = DocumentRules.deadPaths(source) { $0.hasPrefix("Proto/") }
        #expect(found.map(\.line) == [2])
    }

    @Test(arguments: [
        "[elsewhere](https://example.org/a)", "[here](#rooms)", "[beside](B.md#part)",
        "`Sources/<Layer>/…`", "`--decode 2`", "`Proto/B.md`",
    ])
    func aPathToSomethingIsLeftAlone(line: String) {
        let source = SourceText(path: "Proto/A.md", text: line)
        #expect(DocumentRules.deadPaths(source) { $0 == "Proto/B.md" } == [])
    }

    @Test func aLongReadmeIsFound() {
        let text = String(repeating: "line\n", count: DocumentRules.readmeLinesMax + 1)
        #expect(DocumentRules.tooLong(SourceText(path: "README.md", text: text)).count == 1)
    }
}

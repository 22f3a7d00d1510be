import Testing

@testable import YAML

/// The real libyaml, with valid and invalid documents.
@Suite struct YAMLParserTests {
    private func parse(_ text: String) throws(YAMLError) -> YAMLNode? {
        try YAMLParser.parse(Array(text.utf8))
    }

    private func error(_ text: String) -> YAMLError? {
        do throws(YAMLError) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    private func scalar(_ text: String, _ line: Int, _ column: Int) -> YAMLNode {
        YAMLNode(.scalar(text), line: line, column: column)
    }

    @Test func everythingHasItsPlace() throws {
        let tree = try #require(try parse("a: 1\nb:\n  - x\n  - {c: \"no\"}\n"))
        let map = YAMLNode(
            .map([YAMLEntry(key: "c", line: 4, column: 6, value: scalar("no", 4, 9))]),
            line: 4, column: 5)
        let list = YAMLNode(.list([scalar("x", 3, 5), map]), line: 3, column: 3)
        let entries = [
            YAMLEntry(key: "a", line: 1, column: 1, value: scalar("1", 1, 4)),
            YAMLEntry(key: "b", line: 2, column: 1, value: list),
        ]
        #expect(tree == YAMLNode(.map(entries), line: 1, column: 1))
    }

    @Test(arguments: ["", "# nothing\n", "\n\n"])
    func aTextWithoutADocumentIsNoTree(text: String) throws {
        #expect(try parse(text) == nil)
    }

    @Test func scalarsAreTexts() throws {
        #expect(try parse("\"#AARRGGBB\"")?.content == .scalar("#AARRGGBB"))
        #expect(try parse("'é\u{1F600}'")?.content == .scalar("é\u{1F600}"))
    }

    @Test(arguments: [
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key 'a', first in line 1"),
        ("a: &x 1\nb: *x\n", 2, "aliases are not supported"),
        ("a: 1\n---\nb: 2\n", 2, "a single document"),
        ("a: !!int 1\n", 1, "tags"),
        ("a: 1\n\tb: 2\n", 2, ""),
        ("a: [1, 2\n", 2, ""),
        ("a: \"x\n", 2, ""),
        ("? [a]\n: b\n", 1, "a key must be a scalar"),
        ("a: \u{1}\n", 1, "control characters"),
    ])
    func whatIsNotReadIsSaidWithItsLine(text: String, line: Int, reason: String) throws {
        let error = try #require(self.error(text))
        #expect(error.line == line, "\(error)")
        #expect(reason.isEmpty || error.reason.contains(reason), "\(error)")
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: YAMLError.self) { try YAMLParser.parse([0x61, 0x3A, 0x20, 0xFF, 0x0A]) }
    }

    @Test func depthHasALimit() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try parse(nested(YAMLLimits.depthMax)) != nil)
        #expect(error(nested(YAMLLimits.depthMax + 1))?.reason.contains("deep") == true)
        #expect(error(nested(100_000)) != nil)
    }

    @Test func bytesHaveALimit() throws {
        let comment = "#" + String(repeating: " ", count: YAMLLimits.bytesMax - 1)
        #expect(try parse(comment) == nil)
        #expect(error(comment + " ")?.reason.contains("bytes") == true)
    }
}

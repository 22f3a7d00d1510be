import TestKit
import Testing

/// Every promise of `SECURITY.md` names the tests that verify it.
@Suite struct PromiseTests {
    @Test func everyPromiseNamesTestsThatExist() throws {
        let text = try #require(RepositoryFiles().text(of: "SECURITY.md"))
        let document = SourceText(path: "SECURITY.md", text: text)
        let tests = NamedTests()
        for finding in PromiseRules.findings(document, hasTest: { tests.contains($1, of: $0) }) {
            Issue.record("\(finding)")
        }
        #expect(PromiseRules.rowCount(of: document) >= 100)
    }

    // MARK: - Tests of the rules

    private static let head = "| promise | tests |\n|---|---|\n"
    private static let measured = "| format | bytes | tests |\n|---|--:|---|\n"

    private func findings(_ rows: String) -> [Finding] {
        let text =
            "# Security\n\nAnything.\n\n\(PromiseRules.heading)\n\nWhat this is.\n\n### One\n\n"
            + rows + "\n\n## What remains\n\nNothing is tested here.\n"
        return PromiseRules.findings(SourceText(path: "SECURITY.md", text: text)) {
            $0 == "DoorTests" && $1 == "itIsShut"
        }
    }

    @Test(arguments: [
        head + "| The door is shut. |  |", head + "| The door is shut. | by hand |",
        head + "| The door is shut. | `DoorTests.itIsOpen` |",
        head + "| The door is shut. | `DoorTests.itIsShut`, `WindowTests.itIsShut` |",
        head + "| The door is shut. | `itIsShut` |",
        head + "| The door is shut. So is the window. | `DoorTests.itIsShut` |",
        head + "| The door | `DoorTests.itIsShut` |", "The door is shut.", "- The door is shut.",
        measured + "| JPEG | 3 |  |",
    ])
    func aPromiseWithoutATestIsFound(rows: String) {
        #expect(findings(rows).count == 1)
    }

    @Test(arguments: [
        head + "| The door is shut. | `DoorTests.itIsShut` |",
        head + "| The door (`door.swift`, i.e. the back one) is shut. | `DoorTests.itIsShut` |",
        measured + "| JPEG | 3 | `DoorTests.itIsShut` |", "",
    ])
    func aPromiseWithItsTestsIsLeftAlone(rows: String) {
        #expect(findings(rows) == [])
    }

    @Test func testsAreFoundWithTheirSuites() {
        let tests = NamedTests(below: "Tests/TidyTests/Documents")
        #expect(tests.contains("testsAreFoundWithTheirSuites", of: "PromiseTests"))
        #expect(!tests.contains("testsAreFoundWithTheirSuites", of: "CitationTests"))
        #expect(!tests.contains("findings", of: "PromiseTests"))
    }
}

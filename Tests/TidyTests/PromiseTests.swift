import TestKit
import Testing

/// Every promise of `SECURITY.md` is a row of a table whose last column names the tests that verify
/// it.
@Suite struct PromiseTests {
    private static let heading = "## Promises and their tests"

    @Test func everyPromiseNamesTestsThatExist() {
        let tests = NamedTests()
        let rows = Self.rows()
        #expect(rows.count >= 100)
        for row in rows {
            let names = WebDocument.spans(in: row)
            #expect(!names.isEmpty, "no test: \(row)")
            for name in names {
                let parts = name.split(separator: ".").map(String.init)
                let isThere = parts.count == 2 && tests.contains(parts[1], of: parts[0])
                #expect(isThere, "there is no test \(name)")
            }
        }
    }

    /// The last cells of all rows in the section.
    private static func rows() -> [String] {
        let lines = RepositoryFiles.lines(of: "SECURITY.md").drop { $0 != heading }.dropFirst()
        let section = lines.prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("|") && !$0.hasPrefix("|-") }.compactMap { line in
            line.split(separator: "|").last.map(String.init)
        }
        .filter { $0 != " tests " }
    }

    @Test func testsAreFoundWithTheirSuites() {
        let tests = NamedTests(below: "Tests/TidyTests")
        #expect(tests.contains("testsAreFoundWithTheirSuites", of: "PromiseTests"))
        #expect(!tests.contains("testsAreFoundWithTheirSuites", of: "DocumentTests"))
        #expect(!tests.contains("rows", of: "PromiseTests"))
    }
}

import TestKit
import Testing

/// `CASES.md` lists every case of SDWebImage's tests once, with existing tests or a reason.
@Suite struct CaseTableTests {
    private let rows = DocumentTable.rows(of: "CASES.md")
    private let tests = NamedTests()

    @Test func everyCaseHasOneRow() {
        #expect(rows.map { $0.first } == (1...124).map { "\($0)" })
        #expect(rows.allSatisfy { $0.count == 3 })
    }

    @Test func everyRowHasTestsThatExistOrAReason() {
        for row in rows where row.count == 3 {
            let names = DocumentTable.names(in: row[2])
            for name in names where name != "serve" {
                let isThere = tests.all.contains(name)
                #expect(isThere, "case \(row[0]): no test \(name)")
            }
            let reason = row[2].split(separator: "`").first?.contains { $0.isLetter } == true
            #expect(!names.isEmpty || reason, "case \(row[0]) has no test or reason")
        }
    }

    @Test func onlyWhatHasTheAttributeIsATest() {
        let source = """
            func helps() {}
            @Test func first() {}
            @Test(arguments: [
                1, 2,
            ])
            func second(number: Int) {}
            // @Test
            private func helpsToo() {}
            @MainActor @Test
            // why
            func third() {}
            """
        #expect(NamedTests.tests(in: source) == ["first", "second", "third"])
    }

    /// The introduction names the rows that the Python client runs as well: each has a test with
    /// its number there, and there are no others.
    @Test func everyRowThatIsSaidToBeRunInPythonHasItsTest() {
        let head = FileBytes.text(RepositoryRoot.file("Tests/ConformanceTests/CASES.md")) ?? ""
        let line = head.split(separator: "\n").first { $0.hasPrefix("Rows of both languages: ") }
        let named = (line ?? "").split { !$0.isNumber }.compactMap { Int($0) }
        #expect(named.count >= 20 && named == Set(named).sorted())
        let file = RepositoryRoot.file("Examples/Python/test_conformance.py")
        let tests = (FileBytes.text(file) ?? "").split(separator: "\n").compactMap { line -> Int? in
            guard let range = line.firstRange(of: "def test_case") else { return nil }
            return Int(line[range.upperBound...].prefix { $0.isNumber })
        }
        #expect(tests.sorted() == named)
        #expect(named.allSatisfy { (1...rows.count).contains($0) })
    }

    /// A numbered test belongs to the row of its number, and is the only one there.
    @Test func everyNumberedTestIsInItsRow() {
        let named = rows.compactMap { row -> String? in
            let name = DocumentTable.names(in: row.last ?? "").first
            return name?.hasPrefix("case") == true ? name : nil
        }
        let numbered = NamedTests(below: "Tests/ConformanceTests").all.filter {
            $0.hasPrefix("case") && $0.dropFirst(4).first?.isNumber == true
        }
        #expect(Set(named) == numbered)
        for row in rows {
            let number = row.first.flatMap(Int.init) ?? 0
            let prefix = "case" + String("00\(number)".suffix(3)) + "_"
            for name in DocumentTable.names(in: row.last ?? "") where name.hasPrefix("case") {
                #expect(name.hasPrefix(prefix), "case \(number): \(name)")
            }
        }
    }
}

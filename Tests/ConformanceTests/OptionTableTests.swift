import Model
import TestKit
import Testing

/// `OPTIONS.md` lists every option once, with the test of its effect or its rejection.
@Suite struct OptionTableTests {
    private let tests = NamedTests()
    private let refusals: Set<String> = [
        "optionsOfLaterVersionsAreRefusedByName", "contextsOfLaterVersionsAreRefusedByName",
    ]

    @Test func everyBitHasOneRowAndItsTest() {
        let rows = DocumentTable.rows(of: "OPTIONS.md", below: "Options")
        let bits = RequestOptions.names.map(\.option.rawValue.trailingZeroBitCount)
        #expect(rows.map { $0.first } == bits.map { "\($0)" })
        for (row, entry) in zip(rows, RequestOptions.names) where row.count == 4 {
            #expect(row[1] == "`\(entry.name)`")
            if RequestOptions.effective.contains(entry.option) {
                #expect(row[2] == "acts", "\(entry.name)")
            } else if RequestOptions.withoutEffect.contains(entry.option) {
                #expect(row[2].hasPrefix("nothing: "), "\(entry.name)")
            } else {
                #expect(row[2] == "later", "\(entry.name)")
            }
            check(row[3], isLater: row[2] == "later", of: entry.name)
        }
        #expect(rows.allSatisfy { $0.count == 4 })
    }

    @Test func everyContextKeyHasOneRowAndItsTest() {
        let rows = DocumentTable.rows(of: "OPTIONS.md", below: "Context")
        #expect(rows.map { $0.first } == ContextKey.allCases.map { "`\($0.rawValue)`" })
        for (row, key) in zip(rows, ContextKey.allCases) where row.count == 3 {
            if ContextKey.notSupported.contains(key) {
                #expect(row[1] == "later", "\(key.rawValue)")
            } else {
                #expect(row[1] != "later", "\(key.rawValue)")
            }
            check(row[2], isLater: row[1].hasPrefix("later"), of: key.rawValue)
        }
        #expect(rows.allSatisfy { $0.count == 3 })
    }

    private func check(_ cell: String, isLater: Bool, of option: String) {
        let names = DocumentTable.names(in: cell)
        #expect(!names.isEmpty, "\(option) has no test")
        for name in names { #expect(tests.all.contains(name), "\(option): no test \(name)") }
        if isLater { #expect(!refusals.isDisjoint(with: names), "\(option): no refusal") }
    }
}

import TestKit
import Testing

/// `PEERS.md` lists ten bugs of other libraries, each with tests named after it.
@Suite struct PeerTableTests {
    @Test func everyBugHasTestsOfItsName() {
        let rows = DocumentTable.rows(of: "PEERS.md")
        let tests = NamedTests().all
        #expect(rows.map { $0.first } == (1...10).map { "\($0)" })
        var named: Set<String> = []
        for row in rows where row.count == 3 {
            let prefix = "bug" + String("0\(row[0])".suffix(2)) + "_"
            let names = DocumentTable.names(in: row[2])
            #expect(!names.isEmpty, "bug \(row[0]) has no test")
            for name in names {
                #expect(name.hasPrefix(prefix) && tests.contains(name), "bug \(row[0]): \(name)")
            }
            named.formUnion(names)
        }
        let all = tests.filter { $0.hasPrefix("bug") && $0.dropFirst(3).first?.isNumber == true }
        #expect(named == all)
    }
}

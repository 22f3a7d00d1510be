import TestKit
import Testing

@Suite struct StaleMessagesTests {
    private let files = RepositoryFiles()

    @Test func generatedMessagesAreFresh() throws {
        let created = TemporaryDirectory()
        defer { withExtendedLifetime(created) {} }
        let protoc = try #require(
            Command.run([
                "protoc-c", "--proto_path=" + files.absolute("Proto"), "--c_out=" + created.path,
                files.absolute(StaleMessages.schema),
            ]))
        #expect(protoc.status == 0, "\(protoc.output)")

        let fresh = RepositoryFiles(root: created.path)
        #expect(!fresh.paths().isEmpty)
        let kept = files.paths(below: StaleMessages.folder).filter { $0.contains(".pb-c.") }
        let findings = StaleMessages.findings(
            fresh: texts(fresh.paths(), fresh), checkedIn: texts(kept, files))
        for finding in findings { Issue.record("\(finding)") }
    }

    private func texts(_ paths: [String], _ files: RepositoryFiles) -> [String: String] {
        var texts: [String: String] = [:]
        for path in paths {
            let name = path.split(separator: "/").last ?? ""
            texts[String(name)] = files.text(of: path)
        }
        return texts
    }

    // MARK: - Tests of the rule

    @Test func equalMessagesAreFresh() {
        let files = ["a.pb-c.c": "int a;\n", "a.pb-c.h": "int b;\n"]
        #expect(StaleMessages.findings(fresh: files, checkedIn: files) == [])
    }

    @Test(arguments: [
        (["a.pb-c.c": "one\ntwo\n"], ["a.pb-c.c": "one\nthree\n"], 2, "stale"),
        (["a.pb-c.c": "one\n"], [:], 1, "missing"),
        ([:], ["a.pb-c.c": "one\n"], 1, "nothing generates it"),
    ])
    func aStaleMessageIsFound(
        fresh: [String: String], checkedIn: [String: String], line: Int, rule: String
    ) {
        let found = StaleMessages.findings(fresh: fresh, checkedIn: checkedIn)
        #expect(found.map(\.line) == [line])
        #expect(found.map(\.rule) == [rule])
    }
}

import Testing

@Suite struct HouseTests {
    @Test func repositoryKeepsTheHouseRules() {
        let files = RepositoryFiles()
        let paths = files.paths().filter(HouseRules.areFor)
        let sources = paths.compactMap { path in
            files.text(of: path).map { SourceText(path: path, text: $0) }
        }
        #expect(sources.contains { $0.path == "Package.swift" }, "no repository at \(files.root)")
        for source in sources {
            for finding in HouseRules.findings(source) { Issue.record("\(finding)") }
        }
    }

    @Test(arguments: [
        Planted("a line too long", "// " + String(repeating: "a", count: 98), at: 1),
        Planted("a tab", "let a = 1\n\tlet b = 2", at: 2),
        Planted("trailing space", "let a = 1 ", at: 1),
        Planted("a carriage return", "let a = 1\r", at: 1),
        Planted("a long file", String(repeating: "let a = 1\n", count: 901), at: 901),
        Planted("a vague name", "", at: 1, in: "Sources/Model/Messages/StringUtils.swift"),
        Planted("unfinished work", "// TO" + "DO: the rest", at: 1),
        Planted("a path of one machine", "let root = \"/wo" + "rk/main\"", at: 1),
        Planted("a forced try", "let a = try! f()", at: 1),
        Planted("a trap without a sentence", "default: fatalError()", at: 1),
        Planted("an actor", "final actor Cache {", at: 1),
        Planted("print outside the command line", "print(answer)", at: 1),
        Planted("Foundation", "import Foundation", at: 1),
        Planted(
            "all of Foundation in the library for it", "import Foundation", at: 1,
            in: "Sources/Client/ImagebusFoundation/Dates.swift"),
        Planted(
            "Foundation in the client", "import FoundationEssentials", at: 1,
            in: "Sources/Client/Imagebus/ImageBytes.swift"),
        Planted("Foundation's small half", "import FoundationEssentials", at: 1),
        Planted(
            "Foundation in the command line", "internal import FoundationEssentials", at: 1,
            in: "Sources/Programs/imagebus-cli/Answer.swift"),
        Planted(
            "a part of Foundation in a front", "import FoundationInternationalization", at: 1,
            in: "Sources/Fronts/Reporting/Answer.swift"),
        Planted("a promise without proof", "\nextension A: @unchecked Sendable {}", at: 2),
        Planted("public without documentation", "\npublic struct A {}", at: 2),
        Planted("a public setter of its own", "\npublic private(set) var a = 1", at: 2),
        Planted("public behind an attribute", "\n@inlinable public func a() {}", at: 2),
        Planted(
            "a long function", "func a() {\n" + String(repeating: "b()\n", count: 59) + "}", at: 1),
    ])
    func aPlantedViolationIsFound(_ planted: Planted) {
        let source = SourceText(path: planted.path, text: planted.text)
        #expect(HouseRules.findings(source).map(\.line) == [planted.line])
    }

    @Test(arguments: [
        Planted("words in a literal", "let a = \"try! print( actor B fatalError()\""),
        Planted("words in a comment", "// no actor B here, no try! and no print("),
        Planted("a pattern for mkstemp", "let a = \"/tmp/ib-XX" + "XXXX\""),
        Planted("a method named print", "out.print(a)\nfingerprint(a)"),
        Planted("a variable named actor", "let actor = 1"),
        Planted("a proof", "// one thread owns it\nfinal class A: @unchecked Sendable {}"),
        Planted("documentation", "/// A.\npublic struct A {}"),
        Planted("documentation above attributes", "/// A.\n@frozen\n@inlinable public func a() {}"),
        Planted("a public import", "public import Model"),
        Planted(
            "a protocol",
            "protocol A {\n    func b()\n" + String(repeating: "\n", count: 70) + "}"),
        Planted(
            "the one who reads JSON in tests", "import FoundationEssentials",
            in: "Tests/TestKit/Stack/JSONValue.swift"),
        Planted(
            "the library for those who have Foundation", "public import FoundationEssentials",
            in: "Sources/Client/ImagebusFoundation/Dates.swift"),
        Planted("the command line", "print(1)", in: "Sources/Programs/imagebus-cli/Answer.swift"),
        Planted(
            "a function that is just short enough",
            "func a() {\n" + String(repeating: "b()\n", count: 58) + "}"),
    ])
    func whatOnlyLooksLikeAViolationIsLeftAlone(_ planted: Planted) {
        let source = SourceText(path: planted.path, text: planted.text)
        #expect(HouseRules.findings(source) == [])
    }

    @Test func aFindingNamesFileLineRuleAndRemedy() {
        let source = SourceText(path: "Sources/Model/Messages/A.swift", text: "let a = 1\t")
        #expect(
            HouseRules.findings(source).map(\.description)
                == ["Sources/Model/Messages/A.swift:1: tab: use spaces"])
    }
}

/// A text with one violation, or with none that only looks like one.
struct Planted: CustomTestStringConvertible {
    let testDescription: String
    let text: String
    let line: Int
    let path: String

    init(
        _ name: String, _ text: String, at line: Int = 0,
        in path: String = "Sources/Model/Messages/Planted.swift"
    ) {
        testDescription = name
        self.text = text
        self.line = line
        self.path = path
    }
}

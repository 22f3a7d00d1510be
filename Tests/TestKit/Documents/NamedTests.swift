/// The tests of the repository by name, to check documents that refer to them.
public struct NamedTests {
    /// The names of all tests.
    public let all: Set<String>
    /// The tests in files that declare or extend a type, by the name of that type. Python files
    /// count as types named after the file.
    private let suites: [String: Set<String>]

    /// Reads the test files below a folder of the repository.
    public init(below folder: String = "Tests") {
        var suites: [String: Set<String>] = [:]
        for file in Self.files(below: RepositoryRoot.file(folder)) {
            let source = FileBytes.text(file.path) ?? ""
            let (types, tests) =
                file.isPython
                ? ([file.stem], Self.pythonTests(in: source))
                : (Self.types(in: source), Self.tests(in: source))
            for type in types { suites[type, default: []].formUnion(tests) }
        }
        self.suites = suites
        all = suites.values.reduce(into: []) { $0.formUnion($1) }
    }

    /// Whether a file with the suite contains the test.
    public func contains(_ test: String, of suite: String) -> Bool {
        suites[suite]?.contains(test) == true
    }

    /// The functions of a Swift source that have the attribute `@Test`, on the same line or above.
    public static func tests(in source: String) -> [String] {
        var names: [String] = []
        var isBelowAttribute = false
        for line in source.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            guard !text.hasPrefix("//") else { continue }
            if text.hasPrefix("@"), text.contains("@Test") { isBelowAttribute = true }
            guard isBelowAttribute, let name = name(in: text, behind: "func ") else { continue }
            names.append(name)
            isBelowAttribute = false
        }
        return names
    }

    /// The names of the types that a Swift source declares or extends, without enclosing types.
    static func types(in source: String) -> [String] {
        source.split(separator: "\n").compactMap { line in
            let text = line.drop { $0 == " " }
            guard !text.hasPrefix("//") else { return nil }
            let names = ["struct ", "class ", "enum ", "extension "].lazy.compactMap {
                name(in: text, behind: $0)
            }
            return names.first?.split(separator: ".").last.map(String.init)
        }
    }

    private static func pythonTests(in source: String) -> [String] {
        source.split(separator: "\n").compactMap { name(in: $0, behind: "def ") }
            .filter { $0.hasPrefix("test") }
    }

    private static func name(in line: Substring, behind word: String) -> String? {
        guard let range = line.firstRange(of: word) else { return nil }
        let name = line[range.upperBound...].prefix {
            $0.isLetter || $0.isNumber || $0 == "_" || $0 == "."
        }
        return name.isEmpty ? nil : String(name)
    }

    private struct File {
        let path: String
        let stem: String
        let isPython: Bool
    }

    private static func files(below folder: String) -> [File] {
        DirectoryEntries.names(folder).flatMap { name -> [File] in
            let path = "\(folder)/\(name)"
            guard let point = name.lastIndex(of: ".") else { return files(below: path) }
            let isPython = name.hasSuffix(".py")
            guard isPython || name.hasSuffix(".swift") else { return [] }
            return [File(path: path, stem: String(name[..<point]), isPython: isPython)]
        }
    }
}

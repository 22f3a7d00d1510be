import TestKit

/// The tables of a document of this folder.
struct DocumentTable {
    /// Below a heading, or in the whole document: the cells of each row behind the ruler.
    static func rows(of file: String, below heading: String? = nil) -> [[String]] {
        let path = RepositoryRoot.file("Tests/ConformanceTests/\(file)")
        let lines = (FileBytes.text(path) ?? "").split(separator: "\n").map(String.init)
        var isBelow = heading == nil
        var isBody = false
        var rows: [[String]] = []
        for line in lines {
            if line.hasPrefix("#") { isBelow = heading == nil || line == "## \(heading ?? "")" }
            guard isBelow, line.hasPrefix("|") else {
                isBody = false
                continue
            }
            if isBody { rows.append(cells(of: line)) }
            if line.hasPrefix("|---") { isBody = true }
        }
        return rows
    }

    private static func cells(of line: String) -> [String] {
        line.split(separator: "|").map {
            var cell = $0
            while cell.first == " " { cell.removeFirst() }
            while cell.last == " " { cell.removeLast() }
            return String(cell)
        }
    }

    /// What stands between backticks.
    static func names(in cell: String) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}

/// The tests of the repository by name, as far as a document may name them.
struct NamedTests {
    /// Tests of all files below `Tests`.
    let all: Set<String>
    /// Those of this folder whose name has the number of a case.
    let numbered: Set<String>

    /// Reads the folders.
    init() {
        let folder = RepositoryRoot.file("Tests")
        all = Set(Self.tests(below: folder))
        let own = Self.tests(below: "\(folder)/ConformanceTests")
        numbered = Set(
            own.filter { $0.hasPrefix("case") && $0.dropFirst(4).first?.isNumber == true })
    }

    private static func tests(below folder: String) -> [String] {
        DirectoryEntries.names(folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard name.hasSuffix(".swift") else {
                return name.contains(".") ? [] : tests(below: path)
            }
            return tests(in: FileBytes.text(path) ?? "")
        }
    }

    /// The functions of a source text that have the attribute `@Test`, on their own line or before.
    static func tests(in source: String) -> [String] {
        var names: [String] = []
        var isBelowAttribute = false
        for line in source.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            guard !text.hasPrefix("//") else { continue }
            if text.hasPrefix("@"), text.contains("@Test") { isBelowAttribute = true }
            guard isBelowAttribute, let range = text.firstRange(of: "func ") else { continue }
            let name = text[range.upperBound...].prefix {
                $0.isLetter || $0.isNumber || $0 == "_"
            }
            names.append(String(name))
            isBelowAttribute = false
        }
        return names
    }
}

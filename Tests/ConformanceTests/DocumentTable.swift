import TestKit

/// The tables in a document of this folder.
struct DocumentTable {
    /// The cells of each row after the separator line, below a heading or in the whole document.
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

    /// The names in backticks.
    static func names(in cell: String) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}

import Glibc

/// The text of the documents in `Proto/`.
struct ProtocolText {
    let lines: [String]

    enum Failure: Error { case unreadable(String) }

    static func read(_ name: String = "PROTOCOL.md") throws -> ProtocolText {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(root)/Proto/\(name)"
        guard let file = fopen(path, "r") else { throw Failure.unreadable(path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return ProtocolText(
            lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// The lines of each fenced block that begins with `fence`, by the word after it.
    func blocks(after fence: String) -> [String: [String]] {
        var blocks: [String: [String]] = [:]
        var name: String?
        for line in lines {
            if line.hasPrefix(fence + " ") {
                name = String(line.dropFirst(fence.count + 1))
            } else if line.hasPrefix("```") {
                name = nil
            } else if let name {
                blocks[name, default: []].append(line)
            }
        }
        return blocks
    }

    /// The cells of each table row whose first cell is a word in backticks.
    func rows(of columns: Int) -> [[String]] {
        lines.filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        }.filter { $0.count == columns }
    }
}

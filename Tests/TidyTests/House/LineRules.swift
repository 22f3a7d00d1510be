/// Rules about the form of single lines.
enum LineRules {
    static let columnsMax = 100

    /// Documents are read wrapped, so their lines may be longer.
    static func tooLong(_ source: SourceText) -> [Finding] {
        guard !source.path.hasSuffix(".md") else { return [] }
        return source.lines.indices.compactMap { index in
            let line = source.lines[index]
            guard line.utf8.count > columnsMax, line.count > columnsMax else { return nil }
            return source.finding(
                at: index, "line of \(line.count) columns", "break it at \(columnsMax)")
        }
    }

    static func tabs(_ source: SourceText) -> [Finding] {
        source.lines.indices.filter { source.lines[$0].utf8.contains(9) }.map {
            source.finding(at: $0, "tab", "use spaces")
        }
    }

    static func trailingSpace(_ source: SourceText) -> [Finding] {
        source.lines.indices.filter {
            source.lines[$0].last == " " || source.lines[$0].last == "\r"
        }
        .map { source.finding(at: $0, "trailing space", "remove it") }
    }
}

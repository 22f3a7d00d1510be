/// Rules about whole files, such as their length.
enum FileRules {
    static let linesMax = 900
    static let vagueNames = ["Utils", "Utilities", "Helpers", "Manager", "Common", "Extensions"]

    /// Documents are exempt, and the schema of the bus is one file.
    static func tooLong(_ source: SourceText) -> [Finding] {
        guard !source.path.hasSuffix(".md"), !source.path.hasSuffix(".proto"),
            source.lines.count > linesMax
        else { return [] }
        return [
            source.finding(
                at: linesMax, "file of \(source.lines.count) lines",
                "give each responsibility a file; at most \(linesMax) lines")
        ]
    }

    static func vagueName(_ source: SourceText) -> [Finding] {
        let name = source.path.split(separator: "/").last ?? ""
        return vagueNames.filter { name.contains($0) }.map {
            source.finding(at: 0, "a file named …\($0)…", "name it after the type in it")
        }
    }
}

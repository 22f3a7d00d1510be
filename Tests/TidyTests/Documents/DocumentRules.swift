/// Rules about documents: their links resolve, and the first one stays short.
enum DocumentRules {
    static let readmeLinesMax = 160
    static let wanted = [
        "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "Sources/ARCHITECTURE.md",
        "Sources/DECISIONS.md", "Proto/PROTOCOL.md", "Proto/SEMANTICS.md",
    ]
    private static let tops = [
        "Sources/", "Tests/", "Proto/", "scripts/", "docker/", "Examples/", "deploy/", "docs/",
    ]

    static func tooLong(_ source: SourceText) -> [Finding] {
        guard source.path == "README.md", source.lines.count > readmeLinesMax else { return [] }
        return [
            source.finding(
                at: readmeLinesMax, "README of \(source.lines.count) lines",
                "at most \(readmeLinesMax); move the rest to the document it belongs to")
        ]
    }

    /// Finds broken links to files, and broken paths in code spans that begin with a top-level
    /// folder.
    static func deadPaths(_ source: SourceText, exists: (String) -> Bool) -> [Finding] {
        source.lines.indices.flatMap { index in
            let line = source.lines[index]
            let links = targets(in: line).map { resolved($0, from: source.path) }
            return (links + spans(in: line)).filter { !exists($0) }.map {
                source.finding(at: index, "nothing is at \($0)", "name what is there")
            }
        }
    }

    /// The targets of `[…](target)` that aren't URLs, without their fragments.
    private static func targets(in line: String) -> [String] {
        line.ranges(of: "](").compactMap { range in
            let target = line[range.upperBound...].prefix { $0 != ")" && $0 != "#" }
            return target.isEmpty || target.contains(":") ? nil : String(target)
        }
    }

    private static func spans(in line: String) -> [String] {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.compactMap { index in
            let path = parts[index].prefix { $0 != " " }
            let isPath =
                tops.contains { path.hasPrefix($0) } && !path.contains { "*<…[{".contains($0) }
            return isPath ? String(path) : nil
        }
    }

    /// Resolves `../A.md` in `B/C.md` to `A.md`.
    private static func resolved(_ target: String, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part == "..", !parts.isEmpty {
                parts.removeLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}

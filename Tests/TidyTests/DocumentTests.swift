import TestKit
import Testing

/// What documents and comments refer to exists.
@Suite struct DocumentTests {
    /// The first byte of the section sign in UTF-8.
    private static let signByte: UInt8 = 0xC2
    private static let folders = "Sources|Tests|Proto|scripts|docker|Examples|deploy|docs"

    @Test func documentsPointAtWhatIsThere() throws {
        let documents = RepositoryFiles.paths().filter { $0.hasSuffix(".md") }
        #expect(documents.contains("README.md"))
        #expect(documents.contains("Sources/Client/Imagebus/Imagebus.docc/Tutorial.md"))
        for path in documents {
            for (index, line) in RepositoryFiles.lines(of: path).enumerated() {
                for target in try Self.targets(in: line, of: path) {
                    #expect(RepositoryFiles.exists(target), "\(path):\(index + 1): \(target)")
                }
            }
        }
    }

    @Test func targetsOfLinksAndCodeSpansAreFound() throws {
        let line = "[a](../docs/a.md#b) [c](https://d/e) [f](#g) `Sources/h.swift` `Sources/*/i`"
        #expect(
            try Self.targets(in: line, of: "Proto/A.md") == ["docs/a.md", "Sources/h.swift"])
        #expect(try Self.targets(in: "[a](../b.md)", of: "A.md") == ["../b.md"])
    }

    /// The files of links, and of code spans that begin with a folder of the repository.
    private static func targets(in line: String, of path: String) throws -> [String] {
        let links = line.matches(of: /\]\(([^):#]+)(?:#[^)]*)?\)/).map {
            resolved($0.output.1, from: path)
        }
        let span = try Regex(
            "`((?:\(folders))/[^ `*<…\\[{]+)(?: [^`]*)?`", as: (Substring, Substring).self)
        return links + line.matches(of: span).map { String($0.output.1) }
    }

    /// Resolves `../A.md` in `B/C.md` to `A.md`.
    private static func resolved(_ target: Substring, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast()
        for part in target.split(separator: "/") where part != "." {
            if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The sections of the documents in `Proto`, by the word that cites them.
    private static func sections() -> [String: [String]] {
        var sections: [String: [String]] = [:]
        for name in ["PROTOCOL", "SEMANTICS", "WEB"] {
            sections[name] = RepositoryFiles.lines(of: "Proto/\(name).md").compactMap {
                $0.prefixMatch(of: /(?:#+ |- \*\*)([0-9][0-9.]*)/).map { String($0.output.1) }
            }
        }
        return sections
    }

    @Test func everySectionHasItsOwnNumber() {
        for (name, numbers) in Self.sections() {
            #expect(numbers.count > 10)
            #expect(Set(numbers).count == numbers.count, "\(name): \(numbers)")
        }
    }

    @Test func citedSectionsExist() {
        let sections = Self.sections()
        var count = 0
        for path in RepositoryFiles.paths() where Self.mayCite(path) {
            let name = path.firstMatch(of: /Proto\/([A-Z]+)\.md/).map { String($0.output.1) }
            let lines = RepositoryFiles.lines(of: path).enumerated()
            for (index, line) in lines where line.utf8.contains(Self.signByte) {
                for (document, number) in Self.citations(in: line, of: name) {
                    let isThere = sections[document]?.contains(number) == true
                    #expect(isThere, "\(path):\(index + 1): no \(number) in \(document)")
                    count += 1
                }
            }
        }
        #expect(count > 500)
    }

    @Test func citationsOfALineAreFound() {
        let sign = "\u{A7}"
        let line = "(SEMANTICS \(sign)1.2, \(sign)3; RFC 9110 \(sign)5.6.1) PROTOCOL \(sign)4."
        let found = Self.citations(in: line, of: nil).map { "\($0) \($1)" }
        #expect(found == ["SEMANTICS 1.2", "SEMANTICS 3", "PROTOCOL 4"])
        let own = Self.citations(in: "RFC 9110 \(sign)1 is not meant, \(sign)5 is", of: "WEB")
        #expect(own.map { "\($0) \($1)" } == ["WEB 5"])
    }

    private static func mayCite(_ path: String) -> Bool {
        ["swift", "md", "proto", "py", "c", "h", "sh"].contains {
            path.hasSuffix("." + $0)
        }
    }

    /// Cited documents with section numbers. A sign that follows another one, with only a comma or
    /// conjunction between them, cites the same document; a sign without a name cites `own`.
    /// External standards are left out.
    private static func citations(
        in line: String, of own: String?
    ) -> [(document: String, number: String)] {
        let citation =
            #/
            (?:
                (?<name>[A-Z]{2,} | [A-Z]\w*\ \d\S* | \d+ | Trace\ Context)\ |
                (?<joint>,\ ?|\ and\ |\ or\ |\ to\ )
            )?
            \u{A7}(?<number>\d+(?:\.\d+)*)
            /#
        var last: (name: String, end: String.Index)?
        var found: [(String, String)] = []
        for match in line.matches(of: citation) {
            let isFurther = match.output.joint != nil && match.range.lowerBound == last?.end
            let named = match.output.name.map(String.init)
            let name = named ?? (isFurther ? last?.name : own) ?? "none"
            last = (name: name, end: match.range.upperBound)
            let isExternal = name.contains { $0.isNumber } || name == "Trace Context"
            if !isExternal { found.append((name, String(match.output.number))) }
        }
        return found
    }
}

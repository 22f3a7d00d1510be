/// Rules about citations in comments and documents: the cited documents and sections exist.
struct CitationRules {
    /// Sections of the numbered documents, by the word that cites them.
    private let sections: [String: [String]]

    /// `documents` are those of `Proto/`.
    init(_ documents: [SourceText]) {
        let named = documents.map { (Self.name(of: $0.path), Self.sections(of: $0)) }
        sections = Dictionary(named) { first, _ in first }
    }

    /// Finds cited sections that the named document doesn't have.
    func danglingSections(_ source: SourceText) -> [Finding] {
        guard source.mentions("\(Citation.sign)") else { return [] }
        return source.lines.indices.flatMap { index in
            Citation.all(in: source.lines[index]).compactMap { citation in
                fault(citation, in: source.path).map {
                    source.finding(at: index, $0, "cite a section of a document in Proto")
                }
            }
        }
    }

    private func fault(_ citation: Citation, in path: String) -> String? {
        switch citation.document {
        case .external: return nil
        case .named(let name): return fault(name, citation.number)
        case .own:
            guard path.hasPrefix("Proto/"), path.hasSuffix(".md") else {
                return "section \(citation.number) of no document"
            }
            return fault(Self.name(of: path), citation.number)
        }
    }

    private func fault(_ name: String, _ number: String) -> String? {
        guard let numbers = sections[name] else { return "no document \(name)" }
        return numbers.contains(number) ? nil : "no section \(number) in \(name)"
    }

    /// Finds named documents that don't exist; `names` are those of all files.
    static func missingDocuments(_ source: SourceText, names: Set<String>) -> [Finding] {
        guard source.mentions(".md") else { return [] }
        return source.lines.indices.flatMap { index in
            documents(in: source.lines[index]).filter { !names.contains($0) }.map {
                source.finding(at: index, "no document \($0)", "cite one of the repository")
            }
        }
    }

    private static func documents(in line: String) -> [String] {
        line.ranges(of: ".md").compactMap { range in
            let after = line[range.upperBound...].first
            let name = line[..<range.lowerBound].reversed().prefix { $0.isPartOfFileName }
            let isName = !name.isEmpty && after?.isPartOfFileName != true
            return isName ? String(name.reversed()) + ".md" : nil
        }
    }

    /// Numbers of the headings `## 3 Frames` and of the rules `- **3.2 Frames.**`, in order.
    static func sections(of document: SourceText) -> [String] {
        document.lines.compactMap { line in
            let text: Substring
            if line.hasPrefix("- **") {
                text = line.dropFirst(4)
            } else if line.hasPrefix("##") {
                text = line.drop { $0 == "#" }.dropFirst()
            } else {
                return nil
            }
            let number = text.prefix { $0.isNumber || $0 == "." }
            return number.first?.isNumber == true ? String(number) : nil
        }
    }

    /// `PROTOCOL` of `Proto/PROTOCOL.md`.
    private static func name(of path: String) -> String {
        String((path.split(separator: "/").last ?? "").prefix { $0 != "." })
    }
}

extension Character {
    fileprivate var isPartOfFileName: Bool { isLetter || isNumber || self == "_" || self == "-" }
}

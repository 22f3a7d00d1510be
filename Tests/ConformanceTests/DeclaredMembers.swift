import TestKit

/// The types declared in the sources with their members, as far as they can be recognized by the
/// layout of `swift format`.
struct DeclaredMembers {
    private var members: [String: Set<String>] = [:]
    /// The protocols that types conform to, whose members they have.
    private var protocols: [String: [String]] = [:]

    /// Reads all Swift files in a folder of the repository.
    init(below folder: String) {
        read(RepositoryRoot.file(folder))
    }

    func declares(_ type: String) -> Bool { members[type] != nil }

    /// Whether `Type.member.member` exists; a nested type has members of its own.
    func declares(path: [String]) -> Bool {
        guard let type = path.first, let own = members[type] else { return false }
        guard path.count > 1 else { return true }
        let all = (protocols[type] ?? []).reduce(own) { $0.union(members[$1] ?? []) }
        return all.contains(path[1]) && (path.count == 2 || declares(path: Array(path[1...])))
    }

    private mutating func read(_ path: String) {
        for name in DirectoryEntries.names(path) {
            if name.hasSuffix(".swift") {
                add(FileBytes.text("\(path)/\(name)") ?? "")
            } else if !name.contains(".") {
                read("\(path)/\(name)")
            }
        }
    }

    /// The same for a source text.
    private mutating func add(_ source: String) {
        var open: [(indent: Int, name: String)] = []
        for line in source.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            let indent = line.count - text.count
            if text.hasPrefix("}"), indent <= open.last?.indent ?? -1 { open.removeLast() }
            let words = Self.words(of: text)
            guard let keyword = words.first else { continue }
            if Self.types.contains(keyword), words.count > 1 {
                let name = words[1]
                if let outer = open.last { members[outer.name, default: []].insert(name) }
                members[name, default: []].formUnion([])
                if text.contains(":") { protocols[name, default: []] += words.dropFirst(2) }
                if !text.hasSuffix("}") { open.append((indent, name)) }
            } else if let outer = open.last, indent == outer.indent + 4 {
                members[outer.name]?.formUnion(Self.members(keyword, text, words))
            } else if keyword == "typealias", words.count > 1 {
                members[words[1], default: []].formUnion([])
            }
        }
    }

    private static func members(
        _ keyword: String, _ text: Substring, _ words: [String]
    ) -> [String] {
        switch keyword {
        case "init", "subscript": [keyword]
        case "func", "typealias": Array(words.dropFirst().prefix(1))
        case "let", "var": Array(Self.words(of: text.prefix { $0 != ":" && $0 != "=" }).dropFirst())
        case "case": Array(Self.words(of: outsideParentheses(text)).dropFirst())
        default: []
        }
    }

    private static let types: Set = ["struct", "class", "enum", "extension", "actor", "protocol"]
    private static let modifiers: Set = [
        "public", "package", "private", "fileprivate", "internal", "set", "final", "indirect",
        "static", "mutating", "nonisolated", "lazy", "weak", "unowned", "override", "consuming",
    ]

    /// The words before the body, without comments, attributes and modifiers.
    private static func words(of text: Substring) -> [String] {
        guard !text.hasPrefix("//") else { return [] }
        let start = text.hasPrefix("@") ? text.drop { $0 != " " } : text
        let words = start.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        return Array(words.drop(while: modifiers.contains))
    }

    private static func outsideParentheses(_ text: Substring) -> Substring {
        var depth = 0
        return Substring(
            text.filter { character in
                if character == "(" { depth += 1 }
                defer { if character == ")" { depth -= 1 } }
                return depth == 0
            })
    }
}

/// The modules that Swift code imports.
enum Imports {
    /// An `import` and its location.
    struct Import: Equatable {
        let module: String
        let line: Int
    }

    static func all(in source: SourceText) -> [Import] {
        source.code.enumerated().compactMap { index, code in
            module(in: code).map { Import(module: $0, line: index + 1) }
        }
    }

    /// The top-level module of an `import` in this line of code, or nil if there is none.
    static func module(in code: String) -> String? {
        var words = code.split { $0 == " " || $0 == ";" }
        while let first = words.first, first.hasPrefix("@") || access.contains(String(first)) {
            words.removeFirst()
        }
        guard words.first == "import", words.count > 1 else { return nil }
        let name = kinds.contains(String(words[1])) && words.count > 2 ? words[2] : words[1]
        return String(name.prefix { $0 != "." })
    }

    private static let access: Set<String> = [
        "public", "package", "internal", "fileprivate", "private",
    ]
    private static let kinds: Set<String> = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
}

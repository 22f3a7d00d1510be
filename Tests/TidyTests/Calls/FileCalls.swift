/// The functions declared by the types of one file, and the functions of the same types that it
/// calls, recognized by their text.
///
/// A function is identified by its type, its name and its first label. Only calls without a
/// receiver, or with `self` or `Self`, are considered: a value can't call back its owner, so
/// mutually dependent files belong to one type. Initializers, operators and properties are left
/// out.
struct FileCalls {
    /// A function as its callers write it.
    struct Function: Hashable {
        let type: String
        let name: String
        /// `_` for an unlabeled argument, empty without arguments.
        let label: String
    }

    let path: String
    private(set) var declared: Set<Function> = []
    private(set) var called: Set<Function> = []

    private static let typeWords: Set<String> = [
        "extension", "struct", "enum", "class", "protocol",
    ]

    init(_ source: SourceText) {
        path = source.path
        let tokens = CallToken.all(of: source.code)
        var types: [(name: String, depth: Int)] = []
        var (depth, next): (Int, String?) = (0, nil)
        for index in tokens.indices {
            let token = tokens[index]
            switch token.text {
            case "{":
                if let name = next { types.append((name, depth)) }
                next = nil
                depth += 1
            case "}":
                depth -= 1
                if types.last?.depth == depth { types.removeLast() }
            case _ where Self.typeWords.contains(token.text):
                next = Self.typeName(after: index, in: tokens) ?? next
            case "(": note(at: index, in: tokens, types.last?.name ?? "")
            default: break
            }
        }
    }

    /// The last component of a name such as `A.B`; `nil` for `class func` and the like.
    private static func typeName(after index: Int, in tokens: [CallToken]) -> String? {
        var (place, name): (Int, String?) = (index + 1, nil)
        while place < tokens.count, tokens[place].isWord {
            name = tokens[place].text
            guard place + 1 < tokens.count, tokens[place + 1].text == "." else { break }
            place += 2
        }
        return name.flatMap { ["func", "var", "let", "subscript"].contains($0) ? nil : $0 }
    }

    /// Records the declaration or call whose parenthesis opens at `index`.
    private mutating func note(at index: Int, in tokens: [CallToken], _ type: String) {
        guard let start = Self.name(before: index, in: tokens) else { return }
        let function = Function(
            type: type, name: tokens[start].text, label: Self.label(after: index, in: tokens))
        if start > 0, tokens[start - 1].text == "func" {
            declared.insert(function)
        } else if start + 1 == index, tokens[index].isAttached,
            Self.isOwn(callOf: start, in: tokens)
        {
            called.insert(function)
        }
    }

    private static func isOwn(callOf start: Int, in tokens: [CallToken]) -> Bool {
        guard start > 1, tokens[start - 1].text == "." else { return true }
        return tokens[start - 1].isAttached && ["self", "Self"].contains(tokens[start - 2].text)
    }

    /// The index of the name before the parenthesis; generic parameters of a declaration are
    /// skipped.
    private static func name(before index: Int, in tokens: [CallToken]) -> Int? {
        var place = index - 1
        if place > 0, tokens[place].text == ">" {
            while place > 0, tokens[place].text != "<" { place -= 1 }
            place -= 1
        }
        return place >= 0 && tokens[place].isWord ? place : nil
    }

    private static func label(after index: Int, in tokens: [CallToken]) -> String {
        guard index + 1 < tokens.count, tokens[index + 1].text != ")" else { return "" }
        guard index + 2 < tokens.count, tokens[index + 1].isWord else { return "_" }
        // `a: B` in both, `a b: B` in a declaration.
        let isLabel = tokens[index + 2].text == ":" || tokens[index + 2].isWord
        return isLabel ? tokens[index + 1].text : "_"
    }
}

import Model
import YAML

/// Parses a value; returns `nil` after reporting an error.
struct ValueReader<Value: Sendable>: Sendable {
    let read: @Sendable (YAMLNode, _ name: String, inout Reading) -> Value?

    init(_ read: @escaping @Sendable (YAMLNode, String, inout Reading) -> Value?) {
        self.read = read
    }

    /// Creates a reader of scalars. `parse` returns `nil` if the text is not `expected`.
    ///
    /// `isShown`: whether errors quote the text; false if it may be a secret or a URL that contains
    /// one, since errors are logged and sent to clients. Errors suggest the closest match among the
    /// words in `near`.
    static func scalar(
        _ expected: String, isShown: Bool = true, near words: [String] = [],
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> ValueReader {
        ValueReader { node, name, reading in
            guard case .scalar(let text) = node.content else {
                return reading.refuse(node.line, "\(name): expected \(expected)")
            }
            guard let value = parse(text) else {
                let shown = isShown ? ", not '\(text.prefix(64))'" : ""
                let found = text.isEmpty ? ", not an empty value" : shown
                let meant =
                    SpellingSuggestion.nearest(text, words).map { ". Did you mean '\($0)'?" } ?? ""
                return reading.refuse(node.line, "\(name): expected \(expected)\(found)\(meant)")
            }
            return value
        }
    }

    /// Creates a reader that accepts one of several words, or a former word, which stands for the
    /// one that replaced it.
    static func word(
        _ words: [(String, Value)], formerly former: [String: String] = [:]
    ) -> ValueReader {
        let names = words.map(\.0)
        let word = scalar("one of \(names.joined(separator: ", "))", near: names) { text in
            words.first { $0.0 == text }?.1
        }
        return ValueReader { node, name, reading in
            guard case .scalar(let text) = node.content, let now = former[text] else {
                return word.read(node, name, &reading)
            }
            reading.note("\(name): \(text)", isNow: "\(name): \(now)", line: node.line)
            let current = YAMLNode(.scalar(now), line: node.line, column: node.column)
            return word.read(current, name, &reading)
        }
    }

    /// Returns a reader that converts the result of this one.
    func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> ValueReader<Other> {
        ValueReader<Other> { node, name, reading in
            read(node, name, &reading).map(change)
        }
    }
}

extension ValueReader where Value == Bool {
    /// YAML's spellings of booleans, quoted or not.
    static let bool = scalar("yes or no") { text in
        switch text.lowercased() {
        case "yes", "true", "on": true
        case "no", "false", "off": false
        default: nil
        }
    }
}

extension ValueReader where Value == String {
    /// A name defined elsewhere in the file; `none` means no value if that is allowed.
    static func reference(_ kind: Reading.Kind) -> ValueReader {
        ValueReader { node, name, reading in
            guard let text = Self.name.read(node, name, &reading) else { return nil }
            reading.refer(to: text, kind, line: node.line)
            return text
        }
    }

    static let name = scalar("a name of letters, digits, '.', '_' and '-'") {
        Configuration.isName($0) ? $0 : nil
    }

    /// A part of a cache key: printable ASCII without spaces, possibly empty.
    static let keyPart = scalar("ASCII text without spaces", isShown: false) {
        $0.utf8.count <= RequestLimits.nameBytesMax
            && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? $0 : nil
    }

    static let tag = scalar(CacheTag.expected) { CacheTag.isTag($0) ? $0 : nil }

    /// The path of a file that may be secret.
    static let secretPath = scalar("an absolute path", isShown: false) {
        $0.hasPrefix("/") && !$0.utf8.contains(0) ? $0 : nil
    }

    static let directory = scalar(
        "an absolute path without '.' and '..' of at most \(FileRoot.bytesMax) bytes"
    ) { FileRoot.isPath($0) ? $0 : nil }

    /// A host, optionally with a port.
    static let host = scalar("a host such as cdn.example.com", isShown: false) { text in
        let isHost = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@".utf8.contains($0) }
        return !text.isEmpty && text.utf8.count <= 255 && isHost ? text : nil
    }
}

extension ValueReader where Value == NameOrNone {
    /// A name defined elsewhere in the file, or `none`.
    static func referenceOrNone(_ kind: Reading.Kind) -> ValueReader {
        ValueReader { node, name, reading in
            if case .scalar("none") = node.content { return NameOrNone.none }
            let read = ValueReader<String>.reference(kind).read(node, name, &reading)
            return read.map { NameOrNone.name($0) }
        }
    }
}

extension ValueReader where Value == [String] {
    /// Tags of cache entries, at most `CacheTag.countMax`.
    static let tags = list(of: .tag, atMost: CacheTag.countMax, "tags are accepted")
}

extension ValueReader {
    /// A list of values; a single value counts as a list of one.
    static func list<Element>(of element: ValueReader<Element>) -> ValueReader
    where Value == [Element] {
        ValueReader { node, name, reading in
            guard case .list(let items) = node.content else {
                return element.read(node, name, &reading).map { [$0] }
            }
            return items.compactMap { element.read($0, name, &reading) }
        }
    }

    /// A list of at most `countMax` values; `rule` completes the error about a longer one.
    static func list<Element>(
        of element: ValueReader<Element>, atMost countMax: Int, _ rule: String
    ) -> ValueReader where Value == [Element] {
        ValueReader { node, name, reading in
            let values = list(of: element).read(node, name, &reading)
            if let values, values.count > countMax {
                return reading.refuse(node.line, "\(name): at most \(countMax) \(rule)")
            }
            return values
        }
    }

    /// Values by operator-defined names, which must not be reserved words.
    static func named<Element>(
        _ element: ValueReader<Element>, except reserved: Set<String> = []
    ) -> ValueReader where Value == [String: Element] {
        ValueReader { node, name, reading in
            guard let entries = reading.named(node, name) else { return nil }
            var found: [String: Element] = [:]
            for entry in entries {
                if reading.accepts(entry.key, in: name, line: entry.line, except: reserved) {
                    found[entry.key] = element.read(entry.value, "\(name).\(entry.key)", &reading)
                }
            }
            return found
        }
    }

    /// A map of known keys, applied to an empty value.
    static func map(_ table: KeyTable<Value>, _ empty: @escaping @Sendable () -> Value)
        -> ValueReader
    {
        ValueReader { node, name, reading in
            var value = empty()
            if !node.isEmpty { table.read(node, name, into: &value, &reading) }
            return value
        }
    }
}

/// The keys of one kind of map: the name of each key and the effect of its value.
struct KeyTable<Target: Sendable>: Sendable {
    /// One key.
    struct Row: Sendable {
        let name: String
        /// Former names, which are accepted too.
        var formerNames: [String] = []
        let read: @Sendable (YAMLNode, inout Target, inout Reading) -> Void
    }

    let rows: [Row]

    init(_ rows: [Row]) { self.rows = rows }

    /// Reads a map into `target` and reports the errors of every key.
    func read(
        _ node: YAMLNode, _ what: String, into target: inout Target, _ reading: inout Reading
    ) {
        guard case .map(let entries) = node.content else {
            let example = rows.first.map { ", such as '\($0.name): …'" } ?? ""
            return reading.report(node.line, "\(what) must be a map of keys\(example)")
        }
        for entry in entries {
            let key = entry.key
            guard let row = rows.first(where: { $0.name == key || $0.formerNames.contains(key) })
            else {
                let hint = SpellingSuggestion.hint(key, rows.map(\.name))
                reading.report(entry.line, "\(what) has no key '\(key)'\(hint)")
                continue
            }
            if key != row.name {
                guard !entries.contains(where: { $0.key == row.name }) else {
                    reading.report(
                        entry.line, "\(key) was renamed to \(row.name): use only \(row.name)")
                    continue
                }
                reading.note(key, isNow: row.name, line: entry.line)
            }
            row.read(entry.value, &target, &reading)
        }
    }
}

extension KeyTable.Row {
    /// Returns the row with former names of its key.
    func formerly(_ names: [String]) -> Self {
        var row = self
        row.formerNames = names
        return row
    }

    /// A key whose value is stored at a key path.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ place: any WritableKeyPath<Target, Value> & Sendable
    ) {
        self.init(name, value) { $0[keyPath: place] = $1 }
    }

    /// A key whose value is stored at an optional key path.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ place: any WritableKeyPath<Target, Value?> & Sendable
    ) {
        self.init(name, value) { $0[keyPath: place] = $1 }
    }

    /// A key whose value is passed to a closure.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ use: @escaping @Sendable (inout Target, Value) -> Void
    ) {
        self.init(name: name) { node, target, reading in
            if let read = value.read(node, name, &reading) { use(&target, read) }
        }
    }
}

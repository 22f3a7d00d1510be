import Configuration
import ImageModel
import YAML

/// How a value is read; `nil` where it was objected to.
struct ValueReader<Value: Sendable>: Sendable {
    let read: @Sendable (YAMLNode, _ name: String, inout Reading) -> Value?

    init(_ read: @escaping @Sendable (YAMLNode, String, inout Reading) -> Value?) {
        self.read = read
    }

    /// Of a scalar: `parse` answers `nil` where it is not `expected`.
    ///
    /// `isShown`: errors say what is there instead; not where that may be a secret, or a URL with
    /// one. Errors are logged, and sent to who asks. Of the words `near` they name the one that was
    /// meant.
    static func scalar(
        _ expected: String, isShown: Bool = true, near words: [String] = [],
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> ValueReader {
        ValueReader { node, name, reading in
            guard case .scalar(let text) = node.content else {
                reading.object(node.line, "\(name): expected \(expected)")
                return nil
            }
            guard let value = parse(text) else {
                let shown = isShown ? ", not '\(text.prefix(64))'" : ""
                let found = text.isEmpty ? ", not nothing" : shown
                let meant =
                    Nearness.nearest(text, words).map { ", did you mean '\($0)'?" } ?? ""
                reading.object(node.line, "\(name): expected \(expected)\(found)\(meant)")
                return nil
            }
            return value
        }
    }

    /// One of several words.
    static func word(_ words: [(String, Value)]) -> ValueReader {
        let names = words.map(\.0)
        return scalar("one of \(names.joined(separator: ", "))", near: names) { text in
            words.first { $0.0 == text }?.1
        }
    }

    /// What another reader reads, as something else.
    func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> ValueReader<Other> {
        ValueReader<Other> { node, name, reading in
            read(node, name, &reading).map(change)
        }
    }
}

extension ValueReader where Value == Bool {
    /// YAML's words, quoted or not.
    static let bool = scalar("yes or no") { text in
        switch text.lowercased() {
        case "yes", "true", "on": true
        case "no", "false", "off": false
        default: nil
        }
    }
}

extension ValueReader where Value == String {
    /// A name that is given in another place of the file; `none` is none where that is allowed.
    static func reference(_ kind: Reading.Kind) -> ValueReader {
        ValueReader { node, name, reading in
            guard let text = Self.name.read(node, name, &reading) else { return nil }
            reading.refer(to: text, kind, line: node.line)
            return text
        }
    }

    /// What something may be called.
    static let name = scalar("a name of letters, digits, '.', '_' and '-'") {
        Configuration.isName($0) ? $0 : nil
    }

    /// A part of a key: printable ASCII without spaces, or nothing.
    static let keyPart = scalar("a text of ASCII without spaces", isShown: false) {
        $0.utf8.count <= RequestLimits.nameBytesMax
            && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? $0 : nil
    }

    /// A host, with a port or without.
    static let host = scalar("a host such as cdn.example.com", isShown: false) { text in
        let isHost = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@".utf8.contains($0) }
        return !text.isEmpty && text.utf8.count <= 255 && isHost ? text : nil
    }
}

extension ValueReader where Value == NameOrNone {
    /// A name that is given in another place, or `none`.
    static func referenceOrNone(_ kind: Reading.Kind) -> ValueReader {
        ValueReader { node, name, reading in
            if case .scalar("none") = node.content { return NameOrNone.none }
            let read = ValueReader<String>.reference(kind).read(node, name, &reading)
            return read.map { NameOrNone.name($0) }
        }
    }
}

extension ValueReader where Value == [String] {
    /// Tags of entries, `CacheTag.countMax` at most.
    static let tags = ValueReader { node, name, reading in
        let tag = ValueReader<String>.scalar(CacheTag.expected) { CacheTag.isTag($0) ? $0 : nil }
        guard let tags = list(of: tag).read(node, name, &reading) else { return nil }
        guard tags.count <= CacheTag.countMax else {
            reading.object(node.line, "\(name): at most \(CacheTag.countMax) tags")
            return nil
        }
        return tags
    }
}

extension ValueReader {
    /// A list of values; one value alone is a list as well.
    static func list<Element>(of element: ValueReader<Element>) -> ValueReader
    where Value == [Element] {
        ValueReader { node, name, reading in
            guard case .list(let items) = node.content else {
                return element.read(node, name, &reading).map { [$0] }
            }
            return items.compactMap { element.read($0, name, &reading) }
        }
    }

    /// Values under names of the operator's own; some words mean something else and are no names.
    static func named<Element>(
        _ element: ValueReader<Element>, except reserved: Set<String> = []
    ) -> ValueReader where Value == [String: Element] {
        ValueReader { node, name, reading in
            guard case .map(let entries) = node.content else {
                reading.object(node.line, "\(name): expected names, each with its keys")
                return nil
            }
            var found: [String: Element] = [:]
            for entry in entries {
                if Configuration.isName(entry.key), !reserved.contains(entry.key) {
                    found[entry.key] = element.read(entry.value, entry.key, &reading)
                } else {
                    reading.object(entry.line, "\(name): '\(entry.key.prefix(64))' is no name")
                }
            }
            return found
        }
    }

    /// A map of known keys, on top of a value that says nothing.
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

/// The keys of one kind of map: what each is called, and what its value does.
struct KeyTable<Target: Sendable>: Sendable {
    /// One key.
    struct Row: Sendable {
        let name: String
        let read: @Sendable (YAMLNode, inout Target, inout Reading) -> Void
    }

    let rows: [Row]

    init(_ rows: [Row]) { self.rows = rows }

    /// Reads a map into `target`, and says of every key what is wrong with it.
    func read(
        _ node: YAMLNode, _ what: String, into target: inout Target, _ reading: inout Reading
    ) {
        guard case .map(let entries) = node.content else {
            let example = rows.first.map { ", such as '\($0.name): …'" } ?? ""
            return reading.object(node.line, "\(what) is a map of keys\(example)")
        }
        for entry in entries {
            guard let row = rows.first(where: { $0.name == entry.key }) else {
                let hint = Nearness.hint(entry.key, rows.map(\.name))
                reading.object(entry.line, "\(what) has no key '\(entry.key)'\(hint)")
                continue
            }
            row.read(entry.value, &target, &reading)
        }
    }
}

extension KeyTable.Row {
    /// A key whose value is put somewhere.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ place: any WritableKeyPath<Target, Value> & Sendable
    ) {
        self.init(name, value) { $0[keyPath: place] = $1 }
    }

    /// A key whose value is put where there may be none.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ place: any WritableKeyPath<Target, Value?> & Sendable
    ) {
        self.init(name, value) { $0[keyPath: place] = $1 }
    }

    /// A key whose value does something.
    init<Value: Sendable>(
        _ name: String, _ value: ValueReader<Value>,
        _ use: @escaping @Sendable (inout Target, Value) -> Void
    ) {
        self.init(name: name) { node, target, reading in
            if let read = value.read(node, name, &reading) { use(&target, read) }
        }
    }
}

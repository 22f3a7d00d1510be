import ImageModel
import YAML

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

/// Several values under one key, few of them, found together with one look. Nearly always it is one
/// value, which costs no list.
struct Multimap<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
    private struct Values: Sendable {
        var first: Value
        var others: [Value] = []
    }

    private var values: [Key: Values] = [:]

    var isEmpty: Bool { values.isEmpty }
    /// All values under all keys.
    var count: Int { values.values.reduce(0) { $0 + 1 + $1.others.count } }

    /// The values under a key, in the order in which they came.
    subscript(key: Key) -> [Value] { values[key].map { [$0.first] + $0.others } ?? [] }

    /// The first value under a key that is meant.
    func first(under key: Key, where isMeant: (Value) -> Bool) -> Value? {
        guard let known = values[key] else { return nil }
        return isMeant(known.first) ? known.first : known.others.first(where: isMeant)
    }

    mutating func insert(_ value: Value, under key: Key) {
        guard var known = values.updateValue(Values(first: value), forKey: key) else { return }
        known.others.append(value)
        values[key] = known
    }

    mutating func remove(_ value: Value, under key: Key) {
        guard var known = values.removeValue(forKey: key) else { return }
        if known.first != value {
            known.others.removeAll { $0 == value }
        } else if known.others.isEmpty {
            return
        } else {
            known.first = known.others.removeFirst()
        }
        values[key] = known
    }
}

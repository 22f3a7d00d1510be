/// Several values under one key, few of them, found together with one look.
struct Multimap<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
    private var values: [Key: [Value]] = [:]

    var isEmpty: Bool { values.isEmpty }
    /// All values under all keys.
    var count: Int { values.values.reduce(0) { $0 + $1.count } }

    /// The values under a key, in the order in which they came.
    subscript(key: Key) -> [Value] { values[key] ?? [] }

    mutating func insert(_ value: Value, under key: Key) { values[key, default: []].append(value) }

    mutating func remove(_ value: Value, under key: Key) {
        guard let all = values[key] else { return }
        let left = all.filter { $0 != value }
        values[key] = left.isEmpty ? nil : left
    }
}

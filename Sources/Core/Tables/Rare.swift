/// A value that is seldom there, kept in an object of its own: of its owner it takes eight bytes.
///
/// For large parts of elements that are moved and copied often. Each change makes a new object.
package indirect enum Rare<Value: Sendable>: Sendable {
    case absent
    case present(Value)

    package init(_ value: Value?) {
        self = value.map { .present($0) } ?? .absent
    }

    package var value: Value? {
        guard case .present(let value) = self else { return nil }
        return value
    }
}

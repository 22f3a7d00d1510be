/// A value that is seldom there, kept apart: where it is not there it takes eight bytes.
///
/// For large parts of elements that are moved and copied often.
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

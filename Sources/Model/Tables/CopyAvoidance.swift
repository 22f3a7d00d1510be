// Mutation of values in place.
//
// `dictionary[key]?.count += 1` is equivalent and more readable but takes three times as long: the
// accessors of the subscript are not inlined, and each of the three allocates its frame. These
// methods are for values that change with every event.
extension Dictionary {
    /// Mutates the value of a key; returns `nil` if there is none.
    @inlinable @inline(__always) @discardableResult
    package mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }

    /// Mutates the value of a key, inserting `first` beforehand if there is none.
    @inlinable @inline(__always) @discardableResult
    package mutating func change<Result>(
        _ key: Key, from first: @autoclosure () -> Value, _ change: (inout Value) -> Result
    ) -> Result {
        if let index = index(forKey: key) { return change(&values[index]) }
        var value = first()
        let result = change(&value)
        updateValue(value, forKey: key)
        return result
    }
}

/// Forces the type that stores it to be passed by address.
///
/// The compiler passes a large value of a loadable type to a nonmutating method as a full copy,
/// even if it is noncopyable. A tree of state machines has several kilobytes and is read some
/// hundred times per event. A type that stores an existential is not loadable, so its methods
/// receive its address.
///
/// For values with a single instance. Copying such a value copies each part separately.
package struct PassedByAddress: Sendable {
    private let existential: any Sendable = ()

    package init() {}
}

/// An optional value that is boxed and usually absent; it occupies eight bytes of its owner.
///
/// For large parts of elements that are moved and copied often. Each change allocates a new object.
package indirect enum Boxed<Value: Sendable>: Sendable {
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

// Changes of a value where it lies.
//
// `dictionary[key]?.count += 1` does the same and reads better. It takes three times as long: the
// accessors of the subscript are not inlined, and each of the three allocates its frame. The
// methods here are for what each event changes.
extension Dictionary {
    /// Changes the value of a key; `nil` where it has none.
    @inlinable @inline(__always) @discardableResult
    package mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }

    /// Changes the value of a key; one without a value gets `first`, and then the change.
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

/// What makes the type that stores it be passed by its address.
///
/// The compiler hands a large value of a loadable type to a method that only reads it as a copy of
/// all its bytes, even a noncopyable one. A tree of state machines is kilobytes large, and each
/// event reads it some hundred times. A type that stores an existential is not loadable: its
/// methods get the address of the place where it is.
///
/// For values of which one exists. A copy of such a value copies each part by itself.
package struct PassedByAddress: Sendable {
    private let existential: any Sendable = ()

    package init() {}
}

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

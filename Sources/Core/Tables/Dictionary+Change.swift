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

extension ValueEncoder {
    /// The value of what writes itself through nothing else; nil for what does.
    static func plain(
        _ value: some Encodable, at path: [any CodingKey]
    ) throws(JSONError) -> JSONHandle? {
        switch value {
        case let text as String: return try JSONHandle(text)
        case let flag as Bool: return try JSONHandle(flag)
        case let number as Double: return try real(number, at: path)
        case let number as any FixedWidthInteger: return try integer(number, at: path)
        case is any BinaryFloatingPoint:
            throw JSONError(
                "is a \(type(of: value)), which is not written: make it a Double", at: path)
        default: return nil
        }
    }

    private static func real(
        _ number: Double, at path: [any CodingKey]
    ) throws(JSONError) -> JSONHandle {
        guard number.isFinite else {
            throw JSONError("is \(number), which JSON does not have", at: path)
        }
        return try JSONHandle(number)
    }

    private static func integer(
        _ number: some FixedWidthInteger, at path: [any CodingKey]
    ) throws(JSONError) -> JSONHandle {
        guard let number = Int64(exactly: number) else {
            throw JSONError("is \(number), more than an integer of 64 bits holds", at: path)
        }
        return try JSONHandle(number)
    }
}

/// The members of an object.
struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: FilledNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws {
        try object.get().handle.set(key.stringValue, .null())
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let member = try ValueEncoder.handle(of: value, at: codingPath + [key])
        try object.get().handle.set(key.stringValue, member)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { refused(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        refused(key).unkeyedContainer()
    }

    func superEncoder(forKey key: Key) -> any Encoder { refused(key) }

    func superEncoder() -> any Encoder { ValueEncoder.refusingNested(at: codingPath) }

    private func refused(_ key: Key) -> ValueEncoder { .refusingNested(at: codingPath + [key]) }
}

/// The items of an array.
struct JSONItems: UnkeyedEncodingContainer {
    let array: FilledNode
    let codingPath: [any CodingKey]

    var count: Int { (try? array.get().handle.count) ?? 0 }

    func encodeNil() throws { try array.get().handle.append(.null()) }

    func encode(_ value: some Encodable) throws {
        let item = try ValueEncoder.handle(of: value, at: codingPath + [JSONIndex(count)])
        try array.get().handle.append(item)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { refused.container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { refused.unkeyedContainer() }

    func superEncoder() -> any Encoder { refused }

    private var refused: ValueEncoder { .refusingNested(at: codingPath + [JSONIndex(count)]) }
}

/// The one value of what is no collection.
struct JSONSingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.put(.null()) }

    func encode(_ value: some Encodable) throws {
        try encoder.put(ValueEncoder.handle(of: value, at: codingPath))
    }
}

/// The place of an item, in the path of what is in it.
private struct JSONIndex: CodingKey {
    let number: Int

    init(_ number: Int) { self.number = number }

    init(intValue: Int) { number = intValue }

    init?(stringValue: String) { nil }

    var intValue: Int? { number }

    var stringValue: String { "\(number)" }
}

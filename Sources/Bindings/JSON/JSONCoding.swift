internal import CJansson

/// Writes values as JSON (jansson).
///
/// Written are objects, arrays, texts, booleans, integers of 64 bits with a sign, `Double`, null,
/// and whatever writes itself as one of these. A value that asks its encoder for nested containers
/// or for that of a superclass is refused: let it encode a value instead.
public enum JSONWriter {
    /// One line without a line feed, names in the order of their bytes. Numbers are as Swift
    /// describes them, whole ones without a point. Throws for what JSON does not have, such as
    /// infinity, and for what is not written here; the error names the value.
    public static func text(_ value: some Encodable) throws(JSONError) -> String {
        do {
            return try ValueEncoder.handle(of: value, at: []).text()
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError("\(error)")
        }
    }
}

/// A value of jansson that several containers fill.
final class JSONNode {
    let handle: JSONHandle

    init(_ handle: consuming JSONHandle) { self.handle = handle }
}

/// What a container fills; a fault where there is nothing, since asking for a container cannot
/// fail.
typealias FilledNode = Result<JSONNode, JSONError>

/// Makes a value of jansson of one that writes itself. Whoever asks for a container of the same
/// kind again fills the same value.
final class ValueEncoder: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var node: JSONNode?
    private let refusal: JSONError?

    /// An encoder that takes nothing, where there is a refusal.
    init(at path: [any CodingKey], refusing refusal: JSONError? = nil) {
        (codingPath, self.refusal) = (path, refusal)
    }

    /// What a container has for those who want a container in it, or a superclass's encoder.
    static func refusingNested(at path: [any CodingKey]) -> ValueEncoder {
        let refusal = JSONError(
            "is a nested container, which is not written: encode a value", at: path)
        return ValueEncoder(at: path, refusing: refusal)
    }

    /// The value of anything.
    static func handle(
        of value: some Encodable, at path: [any CodingKey]
    ) throws -> JSONHandle {
        if let handle = try plain(value, at: path) { return handle }
        let encoder = ValueEncoder(at: path)
        try value.encode(to: encoder)
        guard let node = encoder.node else { throw JSONError("writes nothing", at: path) }
        return try node.handle.shared()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONMembers(object: filled(.object), codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONItems(array: filled(.array), codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONSingleValue(encoder: self)
    }

    /// The value itself, which is in no container.
    func put(_ handle: consuming JSONHandle) throws(JSONError) {
        if let refusal { throw refusal }
        guard node == nil else { throw JSONError("writes two values", at: codingPath) }
        node = JSONNode(handle)
    }

    private func filled(_ collection: JSONHandle.Collection) -> FilledNode {
        FilledNode { () throws(JSONError) in
            if let refusal { throw refusal }
            guard let node else {
                let made = JSONNode(try JSONHandle(collection))
                node = made
                return made
            }
            guard node.handle.collection == collection else {
                throw JSONError("asks for containers of two kinds", at: codingPath)
            }
            return node
        }
    }
}

extension JSONError {
    /// A fault of the value at a place.
    init(_ fault: String, at path: [any CodingKey]) {
        let place = path.map(\.stringValue).joined(separator: ".")
        self.init("\(place.isEmpty ? "the value" : place) \(fault)")
    }

}

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

/// Reads JSON (jansson).
public enum JSONReader {
    /// The members of an object whose values are texts. Throws for anything else, for a name that
    /// is there twice, for U+0000 in a text, and for more than `JSONLimits` permits.
    public static func texts(_ bytes: [UInt8]) throws(JSONError) -> [String: String] {
        guard bytes.count <= JSONLimits.bytesMax else {
            throw JSONError("the text has more than \(JSONLimits.bytesMax) bytes")
        }
        let object = try parse(bytes)
        guard object.collection == .object else {
            throw JSONError("this is no object")
        }
        return try texts(of: object)
    }

    private static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONHandle {
        var error = json_error_t()
        let value = bytes.withUnsafeBytes {
            json_loadb($0.baseAddress, $0.count, Int(JSON_REJECT_DUPLICATES), &error)
        }
        guard let value else {
            let reason = withUnsafeBytes(of: error.text) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw JSONError("\(error.line):\(error.column): \(reason)")
        }
        return try JSONHandle(owning: value)
    }

    private static func texts(
        of object: borrowing JSONHandle
    ) throws(JSONError) -> [String: String] {
        var texts: [String: String] = [:]
        var place = json_object_iter(object.value)
        while let member = place {
            let name = text(json_object_iter_key(member), json_object_iter_key_len(member))
            let value = json_object_iter_value(member)
            guard let characters = json_string_value(value) else {
                throw JSONError("'\(name)' is no text")
            }
            texts[name] = text(characters, json_string_length(value))
            place = json_object_iter_next(object.value, member)
        }
        return texts
    }

    private static func text(_ characters: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: characters, count: count), as: UTF8.self)
    }
}

/// A reference to a value of jansson.
struct JSONHandle: ~Copyable {
    let value: UnsafeMutablePointer<json_t>

    /// Takes over a reference. jansson makes none where there is no memory.
    init(owning value: UnsafeMutablePointer<json_t>?) throws(JSONError) {
        guard let value else { throw JSONError("there is no memory for a value") }
        self.value = value
    }

    deinit { json_decref(value) }

    /// What has other values in it.
    enum Collection {
        case object, array
    }

    /// An empty one.
    init(_ collection: Collection) throws(JSONError) {
        switch collection {
        case .object: try self.init(owning: json_object())
        case .array: try self.init(owning: json_array())
        }
    }

    static func null() throws(JSONError) -> JSONHandle { try JSONHandle(owning: json_null()) }

    init(_ flag: Bool) throws(JSONError) {
        try self.init(owning: flag ? json_true() : json_false())
    }

    init(_ text: String) throws(JSONError) {
        let value = text.withCString { json_stringn($0, text.utf8.count) }
        try self.init(owning: value)
    }

    init(_ number: Int64) throws(JSONError) {
        try self.init(owning: json_integer(json_int_t(number)))
    }

    /// JSON has no infinity and no NaN.
    init(_ number: Double) throws(JSONError) {
        guard number.isFinite else { throw JSONError("\(number) is no number in JSON") }
        try self.init(owning: json_real(number))
    }

    /// One more reference to the same value.
    func shared() throws(JSONError) -> JSONHandle { try JSONHandle(owning: json_incref(value)) }

    /// nil for a value that has no others in it.
    var collection: Collection? {
        switch value.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        default: nil
        }
    }

    /// The items of an array.
    var count: Int { json_array_size(value) }

    /// Puts a member into an object; it takes the place of one with the same name.
    func set(_ name: String, _ member: borrowing JSONHandle) throws(JSONError) {
        let member = member.value
        let status = name.withCString { json_object_setn(value, $0, name.utf8.count, member) }
        guard status == 0 else { throw JSONError("there is no memory for a member") }
    }

    /// Puts an item at the end of an array.
    func append(_ item: borrowing JSONHandle) throws(JSONError) {
        guard json_array_append(value, item.value) == 0 else {
            throw JSONError("there is no memory for an item")
        }
    }
}

extension JSONHandle {
    /// The value as text: no spaces, names in the order of their bytes.
    func text() throws(JSONError) -> String {
        var spelling = JSONSpelling()
        let status = withUnsafeMutablePointer(to: &spelling) { spelling in
            json_dump_callback(
                value,
                { bytes, count, spelling in
                    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
                    spelling?.assumingMemoryBound(to: JSONSpelling.self).pointee.append(piece)
                    return 0
                }, spelling, Int(JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY))
        }
        guard status == 0 else { throw JSONError("there is no memory for the text") }
        return String(decoding: spelling.bytes, as: UTF8.self)
    }
}

/// What jansson writes, with numbers as Swift describes them and escapes in small letters.
///
/// jansson writes 0.1 with the 17 digits that are always enough; Swift takes as few as say the
/// same. jansson hands over each quote, each escape and each number in a piece of its own, and a
/// number that is no integer always has a point or an exponent.
struct JSONSpelling {
    private(set) var bytes: [UInt8] = []
    private var isInText = false

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        if piece.count == 1, piece[0] == UInt8(ascii: "\"") { isInText.toggle() }
        if isInText {
            bytes += piece.first == UInt8(ascii: "\\") ? Self.small(piece) : Array(piece)
        } else {
            bytes += Self.number(piece) ?? Array(piece)
        }
    }

    /// `\u001B` → `\u001b`.
    private static func small(_ escape: UnsafeRawBufferPointer) -> [UInt8] {
        escape.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
    }

    /// `0.10000000000000001` → `0.1`, `5.0` → `5`; nil for what is no such number.
    private static func number(_ piece: UnsafeRawBufferPointer) -> [UInt8]? {
        guard piece.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") }),
            let number = Double(String(decoding: piece, as: UTF8.self))
        else { return nil }
        let text = Array(number.description.utf8)
        return text.suffix(2) == Array(".0".utf8)[...] ? text.dropLast(2) : text
    }
}

/// Why a value is not written as JSON, or why a text is not the JSON that is read here.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and where.
    public let reason: String

    /// A fault in words.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}

/// What a text may be at most that is read. Nobody may have it say more: jansson itself reads at
/// most 2,048 values within one another.
public enum JSONLimits {
    /// Bytes of the text.
    public static let bytesMax = 1 << 16
}

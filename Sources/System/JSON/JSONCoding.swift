internal import CJansson

/// Writes values as JSON.
///
/// Supports objects, arrays, strings, booleans, signed 64-bit integers, `Double`, null, and any
/// value that encodes itself as one of these. A value that requests nested containers or a
/// superclass's encoder is refused; it must encode a value instead.
public enum JSONWriter {
    /// Returns one line without a line feed, with names in byte order. Numbers are written as by
    /// Swift's `description`, integral ones without a decimal point. Throws for values that JSON
    /// lacks, such as infinity, and for unsupported ones; the error contains the path of the value.
    public static func text(_ value: some Encodable) throws(JSONError) -> String {
        do {
            return try ValueEncoder.text(of: value, at: [])
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError("\(error)")
        }
    }
}

/// Encodes a value to its text. Requesting a container of the same kind again adds to the same
/// value.
final class ValueEncoder: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var kind: Kind?
    /// The texts of an array's items, or that of the value itself.
    private(set) var items: [String] = []
    private var members: [String: String] = [:]
    private let refusal: JSONError?

    enum Kind {
        case object, array, value
    }

    /// Creates an encoder; with `refusal` it accepts no value.
    init(at path: [any CodingKey], refusing refusal: JSONError? = nil) {
        (codingPath, self.refusal) = (path, refusal)
    }

    /// Returns the encoder that a container returns for a nested container or a superclass's
    /// encoder.
    static func refusingNested(at path: [any CodingKey]) -> ValueEncoder {
        let refusal = JSONError(
            "is a nested container, which is not supported: encode a value", at: path)
        return ValueEncoder(at: path, refusing: refusal)
    }

    static func text(of value: some Encodable, at path: [any CodingKey]) throws -> String {
        if let text = try plain(value, at: path) { return text }
        let encoder = ValueEncoder(at: path)
        try value.encode(to: encoder)
        return try encoder.text()
    }

    /// Returns the text without spaces, with names in byte order.
    private func text() throws(JSONError) -> String {
        switch kind {
        case .object:
            let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let texts = ordered.map { "\(Self.quoted($0.key)):\($0.value)" }
            return "{\(texts.joined(separator: ","))}"
        case .array: return "[\(items.joined(separator: ","))]"
        case .value: return items[0]
        case nil: throw JSONError("encodes no value", at: codingPath)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        kind = kind ?? .object
        return KeyedEncodingContainer(JSONMembers(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        kind = kind ?? .array
        return JSONItems(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONSingleValue(encoder: self)
    }

    /// Sets a member of an object, replacing one with the same name.
    func set(_ name: String, _ text: String) throws(JSONError) {
        try check(.object)
        members[name] = text
    }

    func append(_ text: String) throws(JSONError) {
        try check(.array)
        items.append(text)
    }

    /// Sets the value itself, without a container.
    func put(_ text: String) throws(JSONError) {
        if let refusal { throw refusal }
        guard kind == nil else { throw JSONError("encodes two values", at: codingPath) }
        (kind, items) = (.value, [text])
    }

    /// Throws if the value is of another kind. Requesting a container can't fail, so filling it
    /// does.
    private func check(_ expected: Kind) throws(JSONError) {
        if let refusal { throw refusal }
        guard kind == expected else {
            throw JSONError("requests containers of two kinds", at: codingPath)
        }
    }
}

extension JSONError {
    init(_ fault: String, at path: [any CodingKey]) {
        let place = path.map(\.stringValue).joined(separator: ".")
        self.init("\(place.isEmpty ? "the value" : place) \(fault)")
    }
}

extension ValueEncoder {
    /// Returns the text of a value of a primitive type, and `nil` for all other types.
    private static func plain(
        _ value: some Encodable, at path: [any CodingKey]
    ) throws(JSONError) -> String? {
        switch value {
        case let text as String: return quoted(text)
        case let flag as Bool: return flag ? "true" : "false"
        case let number as Double: return try real(number, at: path)
        case let number as any FixedWidthInteger: return try integer(number, at: path)
        case is any BinaryFloatingPoint:
            throw JSONError(
                "is a \(type(of: value)), which is not supported: convert it to Double", at: path)
        default: return nil
        }
    }

    private static func real(
        _ number: Double, at path: [any CodingKey]
    ) throws(JSONError) -> String {
        guard number.isFinite else {
            throw JSONError("is \(number), which JSON cannot represent", at: path)
        }
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func integer(
        _ number: some FixedWidthInteger, at path: [any CodingKey]
    ) throws(JSONError) -> String {
        guard let number = Int64(exactly: number) else {
            throw JSONError("is \(number), which does not fit in a 64-bit integer", at: path)
        }
        return "\(number)"
    }

    private static func quoted(_ text: String) -> String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += escape(ofControl: byte).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escape(ofControl byte: UInt8) -> String {
        switch byte {
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0C: "\\f"
        case 0x0D: "\\r"
        default: "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
        }
    }
}

/// The members of an object.
struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { try encoder.set(key.stringValue, "null") }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try encoder.set(key.stringValue, ValueEncoder.text(of: value, at: codingPath + [key]))
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
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    var count: Int { encoder.items.count }

    func encodeNil() throws { try encoder.append("null") }

    func encode(_ value: some Encodable) throws {
        try encoder.append(ValueEncoder.text(of: value, at: codingPath + [JSONIndex(count)]))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { refused.container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { refused.unkeyedContainer() }

    func superEncoder() -> any Encoder { refused }

    private var refused: ValueEncoder { .refusingNested(at: codingPath + [JSONIndex(count)]) }
}

/// A single value without a container.
struct JSONSingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.put("null") }

    func encode(_ value: some Encodable) throws {
        try encoder.put(ValueEncoder.text(of: value, at: codingPath))
    }
}

/// The index of an item in a coding path.
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
    /// Parses an object whose values are all strings. Throws for anything else, for duplicate
    /// names, for U+0000 in a string, and if `JSONLimits` are exceeded.
    public static func texts(_ bytes: [UInt8]) throws(JSONError) -> [String: String] {
        guard bytes.count <= JSONLimits.bytesMax else {
            throw JSONError("the text exceeds \(JSONLimits.bytesMax) bytes")
        }
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
        defer { json_decref(value) }
        guard value.pointee.type == JSON_OBJECT else {
            throw JSONError("the top-level value is not an object")
        }
        return try texts(of: value)
    }

    private static func texts(
        of object: UnsafeMutablePointer<json_t>
    ) throws(JSONError) -> [String: String] {
        var texts: [String: String] = [:]
        var place = json_object_iter(object)
        while let member = place {
            let name = text(json_object_iter_key(member), json_object_iter_key_len(member))
            let value = json_object_iter_value(member)
            guard let characters = json_string_value(value) else {
                throw JSONError("'\(name)' is not a string")
            }
            texts[name] = text(characters, json_string_length(value))
            place = json_object_iter_next(object, member)
        }
        return texts
    }

    private static func text(_ characters: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: characters, count: count), as: UTF8.self)
    }
}

/// Why a value can't be written as JSON, or why a text isn't valid JSON for this reader.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and where it is.
    public let reason: String

    /// Creates an error with a reason.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}

/// Limits on the texts that are parsed. jansson itself limits the nesting depth to 2,048.
public enum JSONLimits {
    /// The size of the text in bytes.
    public static let bytesMax = 1 << 16
}

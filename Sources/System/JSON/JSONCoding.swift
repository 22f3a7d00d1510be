internal import CJansson

/// Writes values as JSON (jansson).
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
            return try ValueEncoder.handle(of: value, at: []).text()
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError("\(error)")
        }
    }
}

/// A jansson value that several containers may fill.
final class JSONNode {
    let handle: JSONHandle

    init(_ handle: consuming JSONHandle) { self.handle = handle }
}

/// The target of a container, or an error if there is none, since requesting a container can't
/// fail.
typealias FilledNode = Result<JSONNode, JSONError>

/// Encodes a value to a jansson value. Requesting a container of the same kind again returns the
/// same value.
final class ValueEncoder: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var node: JSONNode?
    private let refusal: JSONError?

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

    static func handle(
        of value: some Encodable, at path: [any CodingKey]
    ) throws -> JSONHandle {
        if let handle = try plain(value, at: path) { return handle }
        let encoder = ValueEncoder(at: path)
        try value.encode(to: encoder)
        guard let node = encoder.node else { throw JSONError("encodes no value", at: path) }
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

    /// Sets the value itself, without a container.
    func put(_ handle: consuming JSONHandle) throws(JSONError) {
        if let refusal { throw refusal }
        guard node == nil else { throw JSONError("encodes two values", at: codingPath) }
        node = JSONNode(handle)
    }

    private func filled(_ collection: JSONHandle.Collection) -> FilledNode {
        FilledNode { () throws(JSONError) in
            if let refusal { throw refusal }
            guard let node else {
                let created = JSONNode(try JSONHandle(collection))
                node = created
                return created
            }
            guard node.handle.collection == collection else {
                throw JSONError("requests containers of two kinds", at: codingPath)
            }
            return node
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
    /// Encodes a value of a primitive type. Returns `nil` for all other types.
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
                "is a \(type(of: value)), which is not supported: convert it to Double", at: path)
        default: return nil
        }
    }

    private static func real(
        _ number: Double, at path: [any CodingKey]
    ) throws(JSONError) -> JSONHandle {
        guard number.isFinite else {
            throw JSONError("is \(number), which JSON cannot represent", at: path)
        }
        return try JSONHandle(number)
    }

    private static func integer(
        _ number: some FixedWidthInteger, at path: [any CodingKey]
    ) throws(JSONError) -> JSONHandle {
        guard let number = Int64(exactly: number) else {
            throw JSONError("is \(number), which does not fit in a 64-bit integer", at: path)
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

/// A single value without a container.
struct JSONSingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.put(.null()) }

    func encode(_ value: some Encodable) throws {
        try encoder.put(ValueEncoder.handle(of: value, at: codingPath))
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
        let object = try parse(bytes)
        guard object.collection == .object else {
            throw JSONError("the top-level value is not an object")
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
                throw JSONError("'\(name)' is not a string")
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

/// A reference to a jansson value.
struct JSONHandle: ~Copyable {
    let value: UnsafeMutablePointer<json_t>

    /// Takes ownership of a reference; jansson returns none if it's out of memory.
    init(owning value: UnsafeMutablePointer<json_t>?) throws(JSONError) {
        guard let value else { throw JSONError("not enough memory for a value") }
        self.value = value
    }

    deinit { json_decref(value) }

    /// The kinds of values that contain others.
    enum Collection {
        case object, array
    }

    /// Creates an empty collection.
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

    /// Creates a number. JSON has no infinity and no NaN.
    init(_ number: Double) throws(JSONError) {
        guard number.isFinite else { throw JSONError("\(number) is not a number in JSON") }
        try self.init(owning: json_real(number))
    }

    /// Returns another reference to the same value.
    func shared() throws(JSONError) -> JSONHandle { try JSONHandle(owning: json_incref(value)) }

    /// The kind of collection; `nil` for a value that contains no others.
    var collection: Collection? {
        switch value.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        default: nil
        }
    }

    /// The number of items of an array.
    var count: Int { json_array_size(value) }

    /// Sets a member of an object, replacing one with the same name.
    func set(_ name: String, _ member: borrowing JSONHandle) throws(JSONError) {
        let member = member.value
        let status = name.withCString { json_object_setn(value, $0, name.utf8.count, member) }
        guard status == 0 else { throw JSONError("not enough memory for a member") }
    }

    func append(_ item: borrowing JSONHandle) throws(JSONError) {
        guard json_array_append(value, item.value) == 0 else {
            throw JSONError("not enough memory for an item")
        }
    }
}

extension JSONHandle {
    /// Returns the value as text without spaces, with names in byte order.
    func text() throws(JSONError) -> String {
        var spelling = JSONSpelling()
        let status = withUnsafeMutablePointer(to: &spelling) { spelling in
            json_dump_callback(
                value,
                { bytes, count, spelling in
                    let chunk = UnsafeRawBufferPointer(start: bytes, count: count)
                    spelling?.assumingMemoryBound(to: JSONSpelling.self).pointee.append(chunk)
                    return 0
                }, spelling, Int(JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY))
        }
        guard status == 0 else { throw JSONError("not enough memory for the text") }
        return String(decoding: spelling.bytes, as: UTF8.self)
    }
}

/// Rewrites jansson's output with Swift's number formatting and lowercase escapes.
///
/// jansson always writes 17 digits for 0.1; Swift writes the shortest text that reads back as the
/// same number. jansson passes each quote, escape and number in a separate chunk, and non-integers
/// always have a decimal point or an exponent.
struct JSONSpelling {
    private(set) var bytes: [UInt8] = []
    private var isInText = false

    mutating func append(_ chunk: UnsafeRawBufferPointer) {
        if chunk.count == 1, chunk[0] == UInt8(ascii: "\"") { isInText.toggle() }
        if isInText {
            bytes += chunk.first == UInt8(ascii: "\\") ? Self.small(chunk) : Array(chunk)
        } else {
            bytes += Self.number(chunk) ?? Array(chunk)
        }
    }

    /// `\u001B` → `\u001b`.
    private static func small(_ escape: UnsafeRawBufferPointer) -> [UInt8] {
        escape.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
    }

    /// `0.10000000000000001` → `0.1`, `5.0` → `5`; `nil` if it isn't such a number.
    private static func number(_ chunk: UnsafeRawBufferPointer) -> [UInt8]? {
        guard chunk.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") }),
            let number = Double(String(decoding: chunk, as: UTF8.self))
        else { return nil }
        let text = Array(number.description.utf8)
        return text.suffix(2) == Array(".0".utf8)[...] ? text.dropLast(2) : text
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

internal import CJansson

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

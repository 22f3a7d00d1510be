internal import CJansson

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

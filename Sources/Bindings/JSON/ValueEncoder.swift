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

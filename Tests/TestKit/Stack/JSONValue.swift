import FoundationEssentials

/// A JSON value printed by a program.
public enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses one value; throws if the bytes aren't JSON.
    public init(parsing bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    /// Decodes a value of any type.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let array = try? value.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    /// A member of an object; nil if it doesn't exist or this isn't an object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The string, or nil.
    public var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The number if it is an integer, or nil.
    public var integer: Int? {
        if case .number(let number) = self { Int(exactly: number) } else { nil }
    }

    /// The elements of an array, or nil.
    public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }

    /// The names of the members, sorted; empty if this isn't an object.
    public var names: [String] {
        if case .object(let members) = self { members.keys.sorted() } else { [] }
    }
}

import JSON

/// A JSON object. Its members are strings, Booleans, integers, lists and objects; `nil` is written
/// as null.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private var members: [String: any Encodable]

    init(dictionaryLiteral members: (String, any Encodable)...) {
        self.members = Dictionary(members) { $1 }
    }

    subscript(_ name: String) -> (any Encodable)? {
        get { members[name] }
        set { members[name] = newValue }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            try container.encode(value, forKey: Name(stringValue: name))
        }
    }

    /// The object on one line; `nil` if it can't be encoded.
    var line: [UInt8]? { (try? JSONWriter.text(self)).map { Array(($0 + "\n").utf8) } }

    /// Returns an object that reports an error: its HTTP status, name and message.
    static func failure(_ status: UInt16, _ name: String, _ message: String) -> JSONObject {
        ["status": status, "error": name, "message": message]
    }
}

import Testing

/// A value and its expected JSON.
struct JSONCase: Sendable, CustomTestStringConvertible {
    let value: any Encodable & Sendable
    let text: String

    init(_ value: any Encodable & Sendable, _ text: String) {
        (self.value, self.text) = (value, text)
    }

    var testDescription: String { text }
}

/// A value with members of all kinds, some of which are omitted.
struct MixedMembers: Encodable, Sendable {
    enum Kind: String, Encodable { case large }

    var zeta = "last"
    var kind = Kind.large
    var absent: Int?
    var present: Int? = 5
    var flags = [true, false]
    var shares = ["b": 0.25, "a": 1]
    var inner = Inner()

    struct Inner: Encodable {
        var none: String?

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(none, forKey: .none)
        }

        enum CodingKeys: String, CodingKey { case none = "none/of_it" }
    }
}

/// The members of another value, and one more: two containers encode into one object.
struct MoreMembers: Encodable, Sendable {
    func encode(to encoder: any Encoder) throws {
        try MixedMembers.Inner().encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(["x": ["y": 1]], forKey: .more)
    }

    enum CodingKeys: CodingKey { case more }
}

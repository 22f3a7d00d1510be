import CMessages
import Model

/// Aliases for the C form: a text, a message, and the elements of a repeated message.
typealias CText = UnsafeMutablePointer<CChar>
typealias CPart<Form> = UnsafeMutablePointer<Form>
typealias CList<Element> = UnsafeMutablePointer<UnsafeMutablePointer<Element>?>

/// An operation on each field of a message: reading, writing or, in tests, generating and listing.
///
/// A message declares each field in one call (`WireMessage.fields`): the property of the value, the
/// member of the C form, the field's name in errors, and its rule. `scripts/proto` generates these
/// calls. The rule applies both ways: a value that the receiver would reject is not sent. Reading
/// starts from a blank value, so an absent field keeps its blank value.
protocol FieldMap {
    /// The field that contains the message; empty for a top-level message.
    var container: String { get }

    /// Whether the contents of a `oneof` are stored in the value.
    var stores: Bool { get }

    /// Returns the number of the field of a `oneof` that is set, 0 for none; `number` is that of
    /// the value.
    func chosen(_ number: UInt32, _ which: inout some RawRepresentable<UInt32>) -> UInt32

    /// Returns whether an optional field is set; `number` is its field number.
    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool

    /// Returns whether an identifier or other bytes are present.
    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool

    /// A number, which may have another width in the message.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError)

    /// A number within a range.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError)

    /// A number that is neither infinite nor NaN.
    func finite(_ value: inout Double, _ member: inout Double, _ field: String) throws(WireError)

    /// A Boolean.
    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String)

    /// An enumeration value that this version knows.
    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger

    /// Cache tiers that this version knows.
    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)

    /// A text of at most `limit` bytes, UTF-8 without NUL.
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)

    /// An optional text with its own syntax; encoded as an empty text if absent.
    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError)

    /// At most `countMax` texts of at most `limit` bytes each.
    func texts(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) throws(WireError)

    /// Exactly 16 bytes.
    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError)

    /// At least one and at most `limit` bytes.
    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) throws(WireError)

    /// At most `limit` numbers, each at least `least`.
    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) throws(WireError)

    /// A required message.
    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError)

    /// A message that is omitted if it equals the default, and has the default value if absent.
    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) throws(WireError)

    /// An optional message.
    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError)

    /// At most `limit` messages.
    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) throws(WireError)
}

/// A value that is encoded as a message of `Proto/imagebus.proto`.
protocol WireMessage {
    /// The type that protobuf-c generates for the message.
    associatedtype Form

    /// Initializes an empty message.
    static var begin: (CPart<Form>?) -> Void { get }

    /// The value before its fields are read, with all optional fields absent.
    static var blank: Self { get }

    /// Declares each field of the message once.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError)
}

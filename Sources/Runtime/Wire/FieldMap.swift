import CMessages
import ImageModel
import Messages

/// A text of the C form, a message of it, and the elements of a repeated one.
typealias CText = UnsafeMutablePointer<CChar>
typealias CPart<Form> = UnsafeMutablePointer<Form>
typealias CList<Element> = UnsafeMutablePointer<UnsafeMutablePointer<Element>?>

/// What is done with each field of a message: it is read, written or, by tests, drawn and listed.
///
/// A message says each field in one line (`WireMessage.fields`): the property of the value, the
/// member of the C form, the field's name in faults, and its rule. The rule holds both ways: what
/// the receiver would refuse is not sent. A value that is read is blank before, so that a field
/// that is absent leaves what the blank value has.
protocol FieldMap {
    /// The field that the message lies in; empty for a message that is sent by itself.
    var container: String { get }

    /// Puts what was read into the value; a value that is written has it already.
    func take<Contents>(_ contents: consuming Contents, _ put: (consuming Contents) -> Void)

    /// Whether a field of a `oneof` is the one that is there; `number` is its number.
    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool

    /// Whether an identifier or other bytes are there.
    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool

    /// A number, perhaps of another width in the message.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError)

    /// The same, from a range.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError)

    /// A number that is not 0.
    func counted<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError)

    /// A number that is neither infinite nor NaN.
    func finite(_ value: inout Double, _ member: inout Double, _ field: String) throws(WireError)

    /// Yes or no.
    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String)

    /// A word of an enumeration that this version knows.
    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger

    /// The same, where it may be absent.
    func word<Word: RawRepresentable>(
        _ value: inout Word?, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger

    /// Tiers that this version knows.
    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)

    /// A text of `limit` bytes at most, UTF-8 without NUL.
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)

    /// A name of `nameBytesMax` bytes at most; none is an empty text.
    func name(_ value: inout String?, _ member: inout CText?, _ field: String) throws(WireError)

    /// A text of a form of its own; none is an empty text.
    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String
    ) throws(WireError)

    /// Texts, `countMax` at most, of `limit` bytes each.
    func texts(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) throws(WireError)

    /// Exactly 16 bytes.
    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError)

    /// Bytes; at least one, `limit` at most.
    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) throws(WireError)

    /// Numbers in a row, `limit` at most, none less than `least`.
    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) throws(WireError)

    /// A message that must be there.
    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError)

    /// A message that is not written where it is as usual, and is as usual where it is absent.
    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) throws(WireError)

    /// A message that may be absent.
    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError)

    /// Messages, `limit` at most.
    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) throws(WireError)
}

import CMessages
import Model

/// Aliases for the C form: a text, a message, and the elements of a repeated message.
typealias CText = UnsafeMutablePointer<CChar>
typealias CPart<Form> = UnsafeMutablePointer<Form>
typealias CList<Element> = UnsafeMutablePointer<UnsafeMutablePointer<Element>?>

/// An operation on each field of a message: reading, writing or, in tests, generating and listing.
///
/// A message declares each field in one line (`WireMessage.fields`): the property of the value, the
/// member of the C form, the field's name in errors, and its rule. The rule applies both ways: a
/// value that the receiver would reject is not sent. Reading starts from a blank value, so an
/// absent field keeps its blank value.
protocol FieldMap {
    /// The field that contains the message; empty for a top-level message.
    var container: String { get }

    /// When reading, stores the contents in the value; when writing, does nothing.
    func store<Contents>(_ contents: consuming Contents, _ put: (consuming Contents) -> Void)

    /// Returns whether a field of a `oneof` is set; `number` is its field number.
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

    /// A nonzero number.
    func counted<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
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

    /// An optional enumeration value that this version knows.
    func word<Word: RawRepresentable>(
        _ value: inout Word?, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger

    /// Cache tiers that this version knows.
    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)

    /// A text of at most `limit` bytes, UTF-8 without NUL.
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)

    /// An optional name of at most `nameBytesMax` bytes; encoded as an empty text if absent.
    func name(_ value: inout String?, _ member: inout CText?, _ field: String) throws(WireError)

    /// An optional text with its own syntax; encoded as an empty text if absent.
    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String
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

// Optional fields. `if` is the member that states which field of a `oneof` is set, followed by the
// number of the field in `imagebus.proto`.
extension FieldMap {
    func number<Number: FixedWidthInteger>(
        _ value: inout Number?, _ member: inout some FixedWidthInteger,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &which, number) else { return }
        var present = value ?? 0
        try self.number(&present, &member, field)
        value = present
    }

    /// An optional number within a range.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number?, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, if which: inout some RawRepresentable<UInt32>,
        _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &which, number) else { return }
        var present = value ?? range.lowerBound
        try self.number(&present, within: range, &member, field)
        value = present
    }

    /// A number that is omitted if it equals the default.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, unless usual: Number, _ member: inout some FixedWidthInteger,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try self.number(&value, &member, field)
    }

    /// A number within a range that is omitted if it equals the default.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>, unless usual: Number,
        _ member: inout some FixedWidthInteger, if which: inout some RawRepresentable<UInt32>,
        _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try self.number(&value, within: range, &member, field)
    }

    /// A Boolean that is omitted if it equals the default, and has the default value if absent.
    func flag(
        _ value: inout Bool, unless usual: Bool, _ member: inout protobuf_c_boolean,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) {
        if has(value != usual, &which, number) {
            flag(&value, &member, field)
        } else {
            value = usual
        }
    }

    func finite(
        _ value: inout Double?, _ member: inout Double,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &which, number) else { return }
        var present = value ?? 0
        try finite(&present, &member, field)
        value = present
    }

    /// A finite number that is omitted if it equals the default.
    func finite(
        _ value: inout Double, unless usual: Double, _ member: inout Double,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try finite(&value, &member, field)
    }

    func text(
        _ value: inout String?, _ member: inout CText?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String, limit: Int
    ) throws(WireError) {
        guard has(value != nil, &which, number) else { return }
        var present = value.take() ?? ""
        try text(&present, &member, field, limit: limit)
        value = present
    }

    func tiers(
        _ value: inout CacheTypes?, _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &which, number) else { return }
        var present = value ?? []
        try tiers(&present, &member, field)
        value = present
    }

    /// Cache tiers that are omitted if they equal the default.
    func tiers(
        _ value: inout CacheTypes, unless usual: CacheTypes, _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try tiers(&value, &member, field)
    }
}

// Fields of a `oneof`: `contents` returns the associated value if the value is this case, and `put`
// changes the value to this case. The functions return whether the message has that field. `if` and
// the number are as for optional fields.
//
// Inlined, the closures only test the case; otherwise each of them would copy the value.
extension FieldMap {
    @inline(__always)
    func text(
        _ contents: () -> String?, _ put: (consuming String) -> Void, _ member: inout CText?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String, limit: Int
    ) throws(WireError) -> Bool {
        guard var value = value(contents, "", if: &which, number) else { return false }
        try self.text(&value, &member, field, limit: limit)
        store(consume value, put)
        return true
    }

    @inline(__always)
    func number<Number: FixedWidthInteger>(
        _ contents: () -> Number?, _ put: (consuming Number) -> Void, _ member: inout Number,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, 0, if: &which, number) else { return false }
        try self.number(&value, &member, field)
        store(consume value, put)
        return true
    }

    @inline(__always)
    func tiers(
        _ contents: () -> CacheTypes?, _ put: (consuming CacheTypes) -> Void,
        _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, [], if: &which, number) else { return false }
        try self.tiers(&value, &member, field)
        store(consume value, put)
        return true
    }

    @inline(__always)
    func identifier<ID: WrappedIdentifier>(
        _ contents: () -> ID?, _ put: (consuming ID) -> Void, _ member: inout ProtobufCBinaryData,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, .blank, if: &which, number) else { return false }
        try self.identifier(&value, &member, field)
        store(consume value, put)
        return true
    }

    @inline(__always)
    func part<Part: WireMessage>(
        _ contents: () -> Part?, _ put: (consuming Part) -> Void, _ member: inout CPart<Part.Form>?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        // A message can be large: passing it in an optional would copy it.
        let contents = contents()
        guard has(contents != nil, &which, number) else { return false }
        var part = (consume contents) ?? .blank
        try self.part(&part, &member, field)
        store(consume part, put)
        return true
    }

    /// A case without contents.
    func unit(
        _ isPresent: Bool, _ put: () -> Void, _ member: inout CPart<Imagebus__V1__Unit>?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        try part(
            { isPresent ? Unit() : nil }, { _ in put() }, &member, if: &which, number, field)
    }

    /// Returns the contents, or blank ones to read into; `nil` if the message has another field.
    @inline(__always)
    private func value<Contents>(
        _ contents: () -> Contents?, _ blank: @autoclosure () -> Contents,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Contents? {
        let contents = contents()
        guard has(contents != nil, &which, number) else { return nil }
        return (consume contents) ?? blank()
    }
}

/// A `oneof` case without contents.
struct Unit: WireMessage {
    typealias Form = Imagebus__V1__Unit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__unit__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// A type that wraps a 128-bit identifier.
protocol WrappedIdentifier {
    init(_ value: Identifier128)
    var value: Identifier128 { get }
}

extension Token: WrappedIdentifier {}
extension GroupID: WrappedIdentifier {}
extension Incarnation: WrappedIdentifier {}
extension Epoch: WrappedIdentifier {}

extension WrappedIdentifier {
    /// The value before reading.
    static var blank: Self { Self(Identifier128(high: 0, low: 0)) }
}

/// A type that wraps a positive number.
protocol WrappedNumber {
    init(_ value: UInt64)
    var value: UInt64 { get }
}

extension JobID: WrappedNumber {}
extension BlockID: WrappedNumber {}

extension FieldMap {
    func identifier<ID: WrappedIdentifier>(
        _ value: inout ID, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        var bits = value.value
        try identifier(&bits, &member, field)
        value = ID(bits)
    }

    /// An optional identifier of 16 bytes.
    func identifier<ID: WrappedIdentifier>(
        maybe value: inout ID?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var present = value ?? .blank
        try identifier(&present, &member, field)
        value = present
    }

    func counted<ID: WrappedNumber>(
        _ value: inout ID, _ member: inout UInt64, _ field: String
    ) throws(WireError) {
        var number = value.value
        try counted(&number, &member, field)
        value = ID(number)
    }

    /// A set of arbitrary bits.
    func bits<Bits: OptionSet>(_ value: inout Bits, _ member: inout UInt32, _ field: String)
        throws(WireError) where Bits.RawValue == UInt32
    {
        var bits = value.rawValue
        try number(&bits, &member, field)
        value = Bits(rawValue: bits)
    }
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

/// A text with its own syntax.
protocol FormedText {
    /// The maximum length in bytes when writing.
    static var bytesMax: Int { get }
    /// The maximum length in bytes when reading.
    static var readBytesMax: Int { get }

    var text: String { get }

    /// Parses the text; returns `nil` if it counts as absent.
    init?(reading text: String, _ field: String) throws(WireError)
}

extension FormedText {
    static var readBytesMax: Int { bytesMax }
}

/// The limits for the names and values of pairs.
protocol DetailLimits {
    static var nameMax: Int { get }
    static func valueMax(beside name: String) -> Int
}

/// One pair of a text dictionary.
struct Detail<Limits: DetailLimits>: WireMessage {
    var name: String
    var value: String

    typealias Form = Imagebus__V1__Detail
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__detail__init }
    static var blank: Self { Self(name: "", value: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "Detail.name", limit: Limits.nameMax)
        try map.text(
            &value, &wire.pointee.value, "Detail.value", limit: Limits.valueMax(beside: name))
    }
}

extension FieldMap {
    /// A text dictionary, encoded in the order of the names.
    func details<Limits: DetailLimits>(
        _ value: inout [String: String], _ limits: Limits.Type, _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        var details =
            value.isEmpty
            ? []
            : value.sorted { $0.key < $1.key }.map { Detail<Limits>(name: $0.key, value: $0.value) }
        try list(&details, &count, &member, field, limit: limit)
        if details.isEmpty { return }
        value = Dictionary(details.map { ($0.name, $0.value) }) { first, _ in first }
        guard value.count == details.count else { throw .field(field, .duplicate) }
    }
}

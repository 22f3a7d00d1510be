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

// Fields that may be absent. `if` is the member that says which field of a `oneof` is there, and
// the number behind it is that of the field in `imagebus.proto`.
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

    /// The same of a number within a range.
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

    /// Absent where it is as usual.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, unless usual: Number, _ member: inout some FixedWidthInteger,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try self.number(&value, &member, field)
    }

    /// The same of a number within a range.
    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>, unless usual: Number,
        _ member: inout some FixedWidthInteger, if which: inout some RawRepresentable<UInt32>,
        _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try self.number(&value, within: range, &member, field)
    }

    /// Absent where it is as usual, and as usual where it is absent.
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

    /// Absent where it is as usual.
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

    /// Absent where they are as usual.
    func tiers(
        _ value: inout CacheTypes, unless usual: CacheTypes, _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        guard has(value != usual, &which, number) else { return }
        try tiers(&value, &member, field)
    }
}

// Fields of a `oneof` of several: `contents` is what the value has of that case, if it is of that
// case, and `put` makes it one of that case. They return whether the message has that field. `if`
// and the number are as for fields that may be absent.
//
// Inlined, the closures are a look at the case: otherwise a value would be copied for each.
extension FieldMap {
    @inline(__always)
    func text(
        _ contents: () -> String?, _ put: (consuming String) -> Void, _ member: inout CText?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String, limit: Int
    ) throws(WireError) -> Bool {
        guard var value = value(contents, "", if: &which, number) else { return false }
        try self.text(&value, &member, field, limit: limit)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func number<Number: FixedWidthInteger>(
        _ contents: () -> Number?, _ put: (consuming Number) -> Void, _ member: inout Number,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, 0, if: &which, number) else { return false }
        try self.number(&value, &member, field)
        take(consume value, put)
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
        take(consume value, put)
        return true
    }

    @inline(__always)
    func identifier<ID: WrappedIdentifier>(
        _ contents: () -> ID?, _ put: (consuming ID) -> Void, _ member: inout ProtobufCBinaryData,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, .blank, if: &which, number) else { return false }
        try self.identifier(&value, &member, field)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func part<Part: WireMessage>(
        _ contents: () -> Part?, _ put: (consuming Part) -> Void, _ member: inout CPart<Part.Form>?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        // A message can be large: it is not handed on in an optional, which would copy it.
        let contents = contents()
        guard has(contents != nil, &which, number) else { return false }
        var part = (consume contents) ?? .blank
        try self.part(&part, &member, field)
        take(consume part, put)
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

    /// The contents, or blank ones that are to be read; `nil` where the message has another field.
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

/// A case without contents.
struct Unit: WireMessage {
    typealias Form = Imagebus__V1__Unit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__unit__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// 128 bits by another name.
protocol WrappedIdentifier {
    init(_ value: Identifier128)
    var value: Identifier128 { get }
}

extension Token: WrappedIdentifier {}
extension GroupID: WrappedIdentifier {}
extension Incarnation: WrappedIdentifier {}
extension Epoch: WrappedIdentifier {}

extension WrappedIdentifier {
    /// Before it is read.
    static var blank: Self { Self(Identifier128(high: 0, low: 0)) }
}

/// A number from 1 on by another name.
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

    /// 16 bytes or none.
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

    /// A set of bits, any of them.
    func bits<Bits: OptionSet>(_ value: inout Bits, _ member: inout UInt32, _ field: String)
        throws(WireError) where Bits.RawValue == UInt32
    {
        var bits = value.rawValue
        try number(&bits, &member, field)
        value = Bits(rawValue: bits)
    }
}

/// A value as a message of `Proto/imagebus.proto`.
protocol WireMessage {
    /// What protobuf-c makes of the message.
    associatedtype Form

    /// Makes an empty message.
    static var begin: (CPart<Form>?) -> Void { get }

    /// A value before its fields are read: what may be absent is.
    static var blank: Self { get }

    /// Says each field of the message once.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError)
}

/// A text that has a form of its own.
protocol FormedText {
    /// Bytes of it at most, as it is written.
    static var bytesMax: Int { get }
    /// Bytes of it at most, as it is read.
    static var readBytesMax: Int { get }

    /// The text.
    var text: String { get }

    /// What was read; `nil` where it counts as none.
    init?(reading text: String, _ field: String) throws(WireError)
}

extension FormedText {
    static var readBytesMax: Int { bytesMax }
}

/// How long the name and the value of a pair may be.
protocol DetailLimits {
    static var nameMax: Int { get }
    static func valueMax(beside name: String) -> Int
}

/// One pair of a dictionary of texts.
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
    /// A dictionary of texts; on the wire in the order of the names.
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

import CMessages
import ImageModel
import Messages

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

import CMessages
import Messages

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

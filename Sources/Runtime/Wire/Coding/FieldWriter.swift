import CMessages
import Glibc
import Model

/// Builds the C form of a message in a slab. Values that the receiver would reject are rejected
/// here, so that an invalid value never ends the session.
struct FieldWriter: FieldMap {
    let region: UnsafeMutablePointer<SlabRegion>
    let container: String

    /// Returns the C form of a message; `field` is the field that contains it.
    static func build<Message: WireMessage>(
        _ value: inout Message, in region: UnsafeMutablePointer<SlabRegion>, _ field: String
    ) throws(WireError) -> CPart<Message.Form> {
        let writer = FieldWriter(region: region, container: field)
        let wire = try writer.allocate(1, of: Message.Form.self)
        Message.begin(wire)
        try value.fields(writer, wire)
        return wire
    }

    var stores: Bool { false }

    func chosen(_ number: UInt32, _ which: inout some RawRepresentable<UInt32>) -> UInt32 {
        Self.set(&which, number)
        return number
    }

    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool {
        if isPresent { Self.set(&which, number) }
        return isPresent
    }

    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool { isPresent }

    func number<Number: FixedWidthInteger, Raw: FixedWidthInteger>(
        _ value: inout Number, _ member: inout Raw, _ field: String
    ) throws(WireError) {
        guard let number = Raw(exactly: value) else { throw .field(field, .outOfRange) }
        member = number
    }

    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        guard range.contains(value) else { throw .field(field, .outOfRange) }
        try number(&value, &member, field)
    }

    func counted<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        guard value != 0 else { throw .field(field, .outOfRange) }
        try number(&value, &member, field)
    }

    func finite(_ value: inout Double, _ member: inout Double, _ field: String) throws(WireError) {
        guard value.isFinite else { throw .field(field, .outOfRange) }
        member = value
    }

    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String) {
        member = value ? 1 : 0
    }

    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger {
        Self.set(&member, value.rawValue)
    }

    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)
    {
        member = UInt32(value.rawValue)
    }

    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        let target = try allocate(Identifier128.byteCount, of: UInt8.self)
        let bytes = UnsafeMutableRawPointer(target)
        bytes.storeBytes(of: value.high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: value.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        member = ProtobufCBinaryData(len: Identifier128.byteCount, data: target)
    }

    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) throws(WireError) {
        guard !value.isEmpty else { throw .field(field, .missing) }
        guard value.count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let target = try allocate(value.count, of: UInt8.self)
        UnsafeMutableRawBufferPointer(start: target, count: value.count).copyBytes(from: value)
        member = ProtobufCBinaryData(len: value.count, data: target)
    }

    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) throws(WireError) {
        guard value.count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        guard value.allSatisfy({ $0 >= least }) else { throw .field(field, .outOfRange) }
        let target = try allocate(value.count, of: Number.self)
        for index in value.indices { target[index] = value[index] }
        (count, member) = (value.count, target)
    }

    private static func set<Raw: RawRepresentable>(
        _ member: inout Raw, _ number: some FixedWidthInteger
    ) where Raw.RawValue: FixedWidthInteger {
        if let raw = Raw(rawValue: Raw.RawValue(truncatingIfNeeded: number)) { member = raw }
    }
}

// Texts and messages.
extension FieldWriter {
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        member = try copy(value, field, limit: limit)
    }

    func name(_ value: inout String?, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        guard let value else { return }
        member = try copy(value, field, limit: limit)
    }

    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError) {
        guard let value else { return }
        member = try copy(value.text, field, limit: limit)
    }

    func texts(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) throws(WireError) {
        guard value.count <= countMax else { throw .field(field, .tooMany(limit: countMax)) }
        let parts = try allocate(value.count, of: CText?.self)
        for index in value.indices {
            (parts + index).initialize(to: try copy(value[index], field, limit: limit))
        }
        (count, member) = (value.count, parts)
    }

    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        member = try Self.build(&value, in: region, field)
    }

    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) throws(WireError) {
        if !isUsual { member = try Self.build(&value, in: region, field) }
    }

    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        guard var part = value else { return }
        member = try Self.build(&part, in: region, field)
    }

    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        if value.isEmpty { return }
        guard value.count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        let parts = try allocate(value.count, of: CPart<Part.Form>?.self)
        for index in value.indices {
            var part = value[index]
            (parts + index).initialize(to: try Self.build(&part, in: region, field))
        }
        (count, member) = (value.count, parts)
    }

    /// Returns a copy of a text, terminated by a NUL.
    private func copy(_ text: String, _ field: String, limit: Int) throws(WireError) -> CText {
        let count = text.utf8.count
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let target = try allocate(count + 1, of: CChar.self)
        UnsafeMutableRawBufferPointer(start: target, count: count).copyBytes(from: text.utf8)
        guard memchr(target, 0, count) == nil else { throw .field(field, .notText) }
        target[count] = 0
        return target
    }

    private func allocate<Part>(_ count: Int, of type: Part.Type) throws(WireError)
        -> UnsafeMutablePointer<Part>
    {
        guard let memory = region.pointee.allocate(count * MemoryLayout<Part>.stride) else {
            throw .quotaExceeded
        }
        return memory.bindMemory(to: type, capacity: count)
    }
}

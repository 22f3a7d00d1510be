import CMessages
import Glibc
import Model

/// Reads the fields of an unpacked message. All validation by rule and field name happens here.
struct FieldReader: FieldMap {
    let region: UnsafeMutablePointer<SlabRegion>
    let container: String

    var stores: Bool { true }

    func chosen(_ number: UInt32, _ which: inout some RawRepresentable<UInt32>) -> UInt32 {
        which.rawValue
    }

    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool { which.rawValue == number }

    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool { member.len > 0 }

    func number<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        guard let number = Number(exactly: member) else { throw .field(field, .outOfRange) }
        value = number
    }

    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        guard let number = Number(exactly: member), range.contains(number) else {
            throw .field(field, .outOfRange)
        }
        value = number
    }

    func counted<Number: FixedWidthInteger>(
        _ value: inout Number, _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        guard member != 0 else { throw .field(field, .outOfRange) }
        try number(&value, &member, field)
    }

    func finite(_ value: inout Double, _ member: inout Double, _ field: String) throws(WireError) {
        guard member.isFinite else { throw .field(field, .outOfRange) }
        value = member
    }

    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String) {
        value = member != 0
    }

    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger {
        guard let raw = Word.RawValue(exactly: member.rawValue), let word = Word(rawValue: raw)
        else { throw .field(field, .unknownValue) }
        value = word
    }

    /// Any other bit is a tier that this version does not know.
    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)
    {
        guard let bits = UInt8(exactly: member), bits & ~CacheTypes.all.rawValue == 0 else {
            throw .field(field, .unknownValue)
        }
        value = CacheTypes(rawValue: bits)
    }

    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard let start = UnsafeRawPointer(member.data), member.len == Identifier128.byteCount
        else { throw .field(field, .notAnIdentifier) }
        value = Identifier128(
            high: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) throws(WireError) {
        guard let start = member.data, member.len > 0 else { throw .field(field, .missing) }
        guard member.len <= limit else { throw .field(field, .tooLong(limit: limit)) }
        value = Array(UnsafeBufferPointer(start: start, count: member.len))
    }

    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) throws(WireError) {
        guard count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        let numbers = UnsafeBufferPointer(start: member, count: member == nil ? 0 : count)
        guard numbers.allSatisfy({ $0 >= least }) else { throw .field(field, .outOfRange) }
        value = Array(numbers)
    }
}

// Texts and messages.
extension FieldReader {
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        value = try text(member, field, limit: limit)
    }

    func name(_ value: inout String?, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        let name = try text(member, field, limit: limit)
        value = name.isEmpty ? nil : name
    }

    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError) {
        let text = try text(member, field, limit: limit)
        value = text.isEmpty ? nil : Text.parsed(text)
        guard value != nil || text.isEmpty || Text.ignoresInvalid else {
            throw .field(field, .unknownValue)
        }
    }

    func texts(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) throws(WireError) {
        guard count <= countMax else { throw .field(field, .tooMany(limit: countMax)) }
        guard let elements = member else { return }
        value.reserveCapacity(count)
        for index in 0..<count { value.append(try text(elements[index], field, limit: limit)) }
    }

    /// Validates a text, since protobuf-c checks neither for UTF-8 nor for NULs.
    private func text(_ pointer: CText?, _ field: String, limit: Int) throws(WireError) -> String {
        guard let pointer, let size = region.pointee.size(at: pointer) else { return "" }
        let count = size - 1
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
        guard memchr(pointer, 0, count) == nil, let text = String(validating: bytes, as: UTF8.self)
        else { throw .field(field, .notText) }
        return text
    }

    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        guard let wire = member else { throw .field(field, .missing) }
        try value.fields(FieldReader(region: region, container: field), wire)
    }

    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) throws(WireError) {
        guard let wire = member else { return }
        try value.fields(FieldReader(region: region, container: field), wire)
    }

    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        guard let wire = member else { return }
        var part = Part.blank
        try part.fields(FieldReader(region: region, container: field), wire)
        value = part
    }

    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        guard count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        guard let elements = member else { return }
        let reader = FieldReader(region: region, container: field)
        value.reserveCapacity(count)
        for index in 0..<count {
            guard let wire = elements[index] else { throw .field(field, .missing) }
            var part = Part.blank
            try part.fields(reader, wire)
            value.append(part)
        }
    }
}

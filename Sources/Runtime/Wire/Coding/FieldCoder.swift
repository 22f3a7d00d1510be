import CMessages
import Glibc
import Model

/// Whether fields are read from a message or written to it. A type and not a value, so that the
/// compiler makes one function per direction.
protocol CodingDirection {
    static var reads: Bool { get }
}

/// The fields of an unpacked message are read.
enum Reading: CodingDirection {
    static var reads: Bool { true }
}

/// The fields of a message to be packed are written, into memory of the slab.
enum Writing: CodingDirection {
    static var reads: Bool { false }
}

typealias FieldReader = FieldCoder<Reading>
typealias FieldWriter = FieldCoder<Writing>

/// Reads the fields of an unpacked message, or builds the C form of a message in a slab. All
/// validation by rule and field name happens here, in both directions: a value that the receiver
/// would reject is not sent, so that it never ends the session.
struct FieldCoder<Direction: CodingDirection>: FieldMap {
    let region: UnsafeMutablePointer<SlabRegion>
    let container: String

    var stores: Bool { Direction.reads }

    /// The coder of a part.
    private func coder(of field: String) -> Self { Self(region: region, container: field) }

    func chosen(_ number: UInt32, _ which: inout some RawRepresentable<UInt32>) -> UInt32 {
        if Direction.reads { return which.rawValue }
        Self.set(&which, number)
        return number
    }

    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool {
        if Direction.reads { return which.rawValue == number }
        if isPresent { Self.set(&which, number) }
        return isPresent
    }

    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool {
        Direction.reads ? member.len > 0 : isPresent
    }

    func number<Number: FixedWidthInteger, Raw: FixedWidthInteger>(
        _ value: inout Number, _ member: inout Raw, _ field: String
    ) throws(WireError) {
        if Direction.reads {
            guard let number = Number(exactly: member) else { throw .field(field, .outOfRange) }
            value = number
        } else {
            guard let number = Raw(exactly: value) else { throw .field(field, .outOfRange) }
            member = number
        }
    }

    func number<Number: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>,
        _ member: inout some FixedWidthInteger, _ field: String
    ) throws(WireError) {
        try number(&value, &member, field)
        guard range.contains(value) else { throw .field(field, .outOfRange) }
    }

    func finite(_ value: inout Double, _ member: inout Double, _ field: String) throws(WireError) {
        if Direction.reads { value = member } else { member = value }
        guard value.isFinite else { throw .field(field, .outOfRange) }
    }

    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String) {
        if Direction.reads { value = member != 0 } else { member = value ? 1 : 0 }
    }

    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) throws(WireError) where Word.RawValue: FixedWidthInteger {
        guard Direction.reads else { return Self.set(&member, value.rawValue) }
        guard let raw = Word.RawValue(exactly: member.rawValue), let word = Word(rawValue: raw)
        else { throw .field(field, .unknownValue) }
        value = word
    }

    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String)
        throws(WireError)
    {
        if Direction.reads {
            // Any other bit is a tier that this version does not know.
            guard let bits = UInt8(exactly: member), bits & ~CacheTypes.all.rawValue == 0 else {
                throw .field(field, .unknownValue)
            }
            value = CacheTypes(rawValue: bits)
        } else {
            member = UInt32(value.rawValue)
        }
    }

    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        if Direction.reads {
            guard let start = UnsafeRawPointer(member.data), member.len == Identifier128.byteCount
            else { throw .field(field, .notAnIdentifier) }
            value = Identifier128(
                high: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        } else {
            let target = try allocate(Identifier128.byteCount, of: UInt8.self)
            let bytes = UnsafeMutableRawPointer(target)
            bytes.storeBytes(of: value.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: value.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            member = ProtobufCBinaryData(len: Identifier128.byteCount, data: target)
        }
    }

    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) throws(WireError) {
        let count = Direction.reads ? member.len : value.count
        guard count > 0 else { throw .field(field, .missing) }
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        if Direction.reads {
            value = Array(UnsafeBufferPointer(start: member.data, count: count))
        } else {
            let target = try allocate(count, of: UInt8.self)
            UnsafeMutableRawBufferPointer(start: target, count: count).copyBytes(from: value)
            member = ProtobufCBinaryData(len: count, data: target)
        }
    }

    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) throws(WireError) {
        guard (Direction.reads ? count : value.count) <= limit else {
            throw .field(field, .tooMany(limit: limit))
        }
        if Direction.reads {
            value = Array(UnsafeBufferPointer(start: member, count: member == nil ? 0 : count))
        }
        guard value.allSatisfy({ $0 >= least }) else { throw .field(field, .outOfRange) }
        guard !Direction.reads else { return }
        let target = try allocate(value.count, of: Number.self)
        for index in value.indices { target[index] = value[index] }
        (count, member) = (value.count, target)
    }

    private static func set<Raw: RawRepresentable>(
        _ member: inout Raw, _ number: some FixedWidthInteger
    ) where Raw.RawValue: FixedWidthInteger {
        if let raw = Raw(rawValue: Raw.RawValue(truncatingIfNeeded: number)) { member = raw }
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

// Texts.
extension FieldCoder {
    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        if Direction.reads {
            value = try text(member, field, limit: limit)
        } else {
            member = try copy(value, field, limit: limit)
        }
    }

    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError) {
        guard Direction.reads else {
            if let value { member = try copy(value.text, field, limit: limit) }
            return
        }
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
        guard (Direction.reads ? count : value.count) <= countMax else {
            throw .field(field, .tooMany(limit: countMax))
        }
        if Direction.reads {
            guard let elements = member else { return }
            value.reserveCapacity(count)
            for index in 0..<count { value.append(try text(elements[index], field, limit: limit)) }
        } else {
            let parts = try allocate(value.count, of: CText?.self)
            for index in value.indices {
                (parts + index).initialize(to: try copy(value[index], field, limit: limit))
            }
            (count, member) = (value.count, parts)
        }
    }

    /// Validates a text, since protobuf-c checks neither for UTF-8 nor for NULs.
    private func text(_ pointer: CText?, _ field: String, limit: Int) throws(WireError) -> String {
        // An absent text is the static empty string of protobuf-c.
        guard let pointer, let size = region.pointee.size(at: pointer) else { return "" }
        let count = size - 1
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
        guard memchr(pointer, 0, count) == nil, let text = String(validating: bytes, as: UTF8.self)
        else { throw .field(field, .notText) }
        return text
    }

    /// Copies a text, terminated by NUL; throws if it contains a NUL or is longer than the limit.
    private func copy(_ text: String, _ field: String, limit: Int) throws(WireError) -> CText {
        let count = text.utf8.count
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let target = try allocate(count + 1, of: CChar.self)
        UnsafeMutableRawBufferPointer(start: target, count: count).copyBytes(from: text.utf8)
        guard memchr(target, 0, count) == nil else { throw .field(field, .notText) }
        target[count] = 0
        return target
    }
}

// Messages.
extension FieldCoder {
    /// Allocates and fills a message.
    static func build<Message: WireMessage>(
        _ value: inout Message, in region: UnsafeMutablePointer<SlabRegion>, _ field: String
    ) throws(WireError) -> CPart<Message.Form> {
        let coder = Self(region: region, container: field)
        let wire = try coder.allocate(1, of: Message.Form.self)
        Message.begin(wire)
        try value.fields(coder, wire)
        return wire
    }

    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        if Direction.reads {
            guard let wire = member else { throw .field(field, .missing) }
            try value.fields(coder(of: field), wire)
        } else {
            member = try Self.build(&value, in: region, field)
        }
    }

    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) throws(WireError) {
        guard Direction.reads ? member != nil : !isUsual else { return }
        try part(&value, &member, field)
    }

    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) throws(WireError) {
        guard Direction.reads ? member != nil : value != nil else { return }
        var present = value ?? .blank
        try part(&present, &member, field)
        if Direction.reads { value = present }
    }

    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        let size = Direction.reads ? count : value.count
        guard size <= limit else { throw .field(field, .tooMany(limit: limit)) }
        if Direction.reads {
            guard let elements = member else { return }
            let coder = coder(of: field)
            value.reserveCapacity(count)
            for index in 0..<count {
                guard let wire = elements[index] else { throw .field(field, .missing) }
                var part = Part.blank
                try part.fields(coder, wire)
                value.append(part)
            }
        } else if size > 0 {
            let parts = try allocate(size, of: CPart<Part.Form>?.self)
            for index in value.indices {
                var part = value[index]
                (parts + index).initialize(to: try Self.build(&part, in: region, field))
            }
            (count, member) = (size, parts)
        }
    }
}

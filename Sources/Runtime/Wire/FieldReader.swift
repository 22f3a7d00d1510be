import CMessages
import ImageModel
import Messages

/// Reads the fields of an unpacked message: everything is checked here, once, by rule and name.
struct FieldReader {
    let region: UnsafeMutablePointer<SlabRegion>

    /// A text of `limit` bytes at most. protobuf-c checks neither UTF-8 nor NULs.
    func text(_ pointer: UnsafeMutablePointer<CChar>?, _ field: String, limit: Int)
        throws(WireError) -> String
    {
        guard let pointer, let size = region.pointee.size(at: pointer) else { return "" }
        let count = size - 1
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .field(field, .notText)
        }
        return text
    }

    /// A text with presence.
    func text(
        _ pointer: UnsafeMutablePointer<CChar>?, present: Bool, _ field: String, limit: Int
    ) throws(WireError) -> String? {
        present ? try text(pointer, field, limit: limit) : nil
    }

    /// A name; `nil` for an empty text.
    func name(_ pointer: UnsafeMutablePointer<CChar>?, _ field: String) throws(WireError)
        -> String?
    {
        let name = try text(pointer, field, limit: RequestLimits.nameBytesMax)
        return name.isEmpty ? nil : name
    }

    /// The elements of a repeated text, `countMax` at most, of `limit` bytes each and, where there
    /// is a limit for that, `totalMax` in all.
    func texts(
        _ count: Int, _ elements: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
        _ field: String, countMax: Int, limit: Int, totalMax: Int? = nil
    ) throws(WireError) -> [String] {
        guard count <= countMax else { throw .field(field, .tooMany(limit: countMax)) }
        guard let elements else { return [] }
        var texts: [String] = []
        texts.reserveCapacity(count)
        var total = 0
        for index in 0..<count {
            let text = try text(elements[index], field, limit: limit)
            total += text.utf8.count
            if let totalMax, total > totalMax { throw .field(field, .tooLong(limit: totalMax)) }
            texts.append(text)
        }
        return texts
    }

    /// Exactly 16 bytes.
    func identifier(_ data: ProtobufCBinaryData, _ field: String) throws(WireError)
        -> Identifier128
    {
        let bytes = UnsafeRawBufferPointer(start: data.data, count: data.data == nil ? 0 : data.len)
        guard bytes.count == Identifier128.byteCount else {
            throw .field(field, .notAnIdentifier)
        }
        return Identifier128(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// A copy of bytes; at least one, `limit` at most.
    func data(_ data: ProtobufCBinaryData, _ field: String, limit: Int) throws(WireError)
        -> [UInt8]
    {
        guard let start = data.data, data.len > 0 else { throw .field(field, .missing) }
        guard data.len <= limit else { throw .field(field, .tooLong(limit: limit)) }
        return Array(UnsafeBufferPointer(start: start, count: data.len))
    }

    /// A word of an enumeration that this version knows.
    func known<Word: RawRepresentable>(_ raw: some BinaryInteger, _ field: String)
        throws(WireError) -> Word where Word.RawValue: BinaryInteger
    {
        guard let value = Word.RawValue(exactly: raw), let word = Word(rawValue: value) else {
            throw .field(field, .unknownValue)
        }
        return word
    }

    /// The same number in another width.
    func exactly<Number: BinaryInteger>(_ value: some BinaryInteger, _ field: String)
        throws(WireError) -> Number
    {
        guard let number = Number(exactly: value) else { throw .field(field, .outOfRange) }
        return number
    }

    /// A number that is not 0.
    func counted<Number: BinaryInteger>(_ value: Number, _ field: String) throws(WireError)
        -> Number
    {
        guard value != 0 else { throw .field(field, .outOfRange) }
        return value
    }

    /// Neither infinite nor NaN.
    func finite(_ value: Double, _ field: String) throws(WireError) -> Double {
        guard value.isFinite else { throw .field(field, .outOfRange) }
        return value
    }

    /// A message that must be there.
    func required<Part>(_ pointer: UnsafeMutablePointer<Part>?, _ field: String)
        throws(WireError) -> Part
    {
        guard let pointer else { throw .field(field, .missing) }
        return pointer.pointee
    }

    /// The elements of a repeated message, `limit` at most.
    func list<Part, Value>(
        _ count: Int, _ elements: UnsafeMutablePointer<UnsafeMutablePointer<Part>?>?,
        _ field: String, limit: Int, _ read: (Part) throws(WireError) -> Value
    ) throws(WireError) -> [Value] {
        guard count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        guard let elements else { return [] }
        var values: [Value] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            values.append(try read(try required(elements[index], field)))
        }
        return values
    }
}

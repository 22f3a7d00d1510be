import CMessages
import ImageModel
import Messages

/// Builds the C form of a message in a slab. What the receiver would refuse is refused here
/// already, so that a value of ours that cannot travel never costs a session.
struct FieldWriter {
    let region: UnsafeMutablePointer<SlabRegion>

    /// An empty message.
    func make<Part>(_ initialise: (UnsafeMutablePointer<Part>?) -> Void) throws(WireError)
        -> UnsafeMutablePointer<Part>
    {
        let part = try allocate(1, of: Part.self)
        initialise(part)
        return part
    }

    /// A copy of a text, ended by a NUL.
    func text(_ text: String, _ field: String, limit: Int) throws(WireError)
        -> UnsafeMutablePointer<CChar>
    {
        let count = text.utf8.count
        guard count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let target = try allocate(count + 1, of: CChar.self)
        let bytes = UnsafeMutableRawBufferPointer(start: target, count: count)
        bytes.copyBytes(from: text.utf8)
        guard !bytes.contains(0) else { throw .field(field, .notText) }
        target[count] = 0
        return target
    }

    /// A name, or an empty text.
    func name(_ name: String?, _ field: String) throws(WireError) -> UnsafeMutablePointer<CChar> {
        try text(name ?? "", field, limit: RequestLimits.nameBytesMax)
    }

    /// The elements of a repeated text, within the limits of `FieldReader.texts`.
    func texts(
        _ texts: [String], _ field: String, countMax: Int, limit: Int, totalMax: Int? = nil
    ) throws(WireError) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
        guard texts.count <= countMax else { throw .field(field, .tooMany(limit: countMax)) }
        if let totalMax, texts.reduce(0, { $0 + $1.utf8.count }) > totalMax {
            throw .field(field, .tooLong(limit: totalMax))
        }
        let parts = try allocate(texts.count, of: UnsafeMutablePointer<CChar>?.self)
        for (index, text) in texts.enumerated() {
            (parts + index).initialize(to: try self.text(text, field, limit: limit))
        }
        return parts
    }

    /// The 16 bytes.
    func bytes(_ identifier: Identifier128) throws(WireError) -> ProtobufCBinaryData {
        let target = UnsafeMutableRawPointer(
            try allocate(Identifier128.byteCount, of: UInt8.self))
        target.storeBytes(of: identifier.high.bigEndian, as: UInt64.self)
        target.storeBytes(of: identifier.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        return ProtobufCBinaryData(
            len: Identifier128.byteCount,
            data: target.assumingMemoryBound(to: UInt8.self))
    }

    /// A copy of bytes; at least one, `limit` at most.
    func data(_ bytes: [UInt8], _ field: String, limit: Int) throws(WireError)
        -> ProtobufCBinaryData
    {
        guard !bytes.isEmpty else { throw .field(field, .missing) }
        guard bytes.count <= limit else { throw .field(field, .tooLong(limit: limit)) }
        let target = try allocate(bytes.count, of: UInt8.self)
        UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyBytes(from: bytes)
        return ProtobufCBinaryData(len: bytes.count, data: target)
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

    /// The elements of a repeated message, `limit` at most.
    func list<Value, Part>(
        _ values: [Value], _ field: String, limit: Int,
        _ write: (Value) throws(WireError) -> UnsafeMutablePointer<Part>
    ) throws(WireError) -> UnsafeMutablePointer<UnsafeMutablePointer<Part>?> {
        guard values.count <= limit else { throw .field(field, .tooMany(limit: limit)) }
        let parts = try allocate(values.count, of: UnsafeMutablePointer<Part>?.self)
        for (index, value) in values.enumerated() {
            (parts + index).initialize(to: try write(value))
        }
        return parts
    }

    /// Block ids as a packed list of numbers.
    func numbers(_ blocks: [BlockID], _ field: String) throws(WireError)
        -> UnsafeMutablePointer<UInt64>
    {
        guard blocks.count <= MessageLimits.idsMax else {
            throw .field(field, .tooMany(limit: MessageLimits.idsMax))
        }
        let numbers = try allocate(blocks.count, of: UInt64.self)
        for (index, block) in blocks.enumerated() {
            numbers[index] = try counted(block.value, field)
        }
        return numbers
    }

    /// Numbers as a packed list.
    func array<Number: FixedWidthInteger>(_ numbers: [Number]) throws(WireError)
        -> UnsafeMutablePointer<Number>
    {
        let target = try allocate(numbers.count, of: Number.self)
        for (index, number) in numbers.enumerated() { target[index] = number }
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

import Deflate

/// Chunks of a PNG in a piece of memory.
struct PNGChunkWriter {
    /// Length, type and check sum of a chunk.
    static let overhead = 12

    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// Room for all that will be written.
    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    mutating func append(_ bytes: [UInt8]) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyBytes(from: bytes)
        count += bytes.count
    }

    mutating func chunk(_ type: String, _ data: [UInt8]) {
        append(PNGWriter.bigEndian(data.count))
        let start = count
        append(Array(type.utf8) + data)
        sign(from: start)
    }

    /// A chunk whose data `body` writes; it answers how many bytes those are.
    mutating func chunk(
        _ type: String, _ body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let start = count
        append([0, 0, 0, 0] + Array(type.utf8))
        let length = try body(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
        count += length
        UnsafeMutableRawBufferPointer(rebasing: memory[start...])
            .copyBytes(from: PNGWriter.bigEndian(length))
        sign(from: start + 4)
    }

    private mutating func sign(from start: Int) {
        let signed = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<count])
        append(PNGWriter.bigEndian(Int(CRC32.of(signed))))
    }
}

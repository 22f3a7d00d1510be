import Deflate
import ImageModel
import PNGFilters
import StageContract

/// Writes a PNG (PNG 1.2): one IHDR, one IDAT, one IEND.
struct PNGWriter {
    let size: PixelSize
    /// 1 grey, 2 grey and alpha, 3 sRGB, 4 sRGB and alpha.
    let bands: Int
    /// 1, or 2 in the machine's order.
    let bytesPerBand: Int
    let filter: PNGFilter
    /// libdeflate's, 1 to 12.
    let level: Int
    let cancellation: CancellationFlag

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let headerBytes = 13

    /// - Parameter pixels: rows without padding.
    func write(
        _ pixels: UnsafeRawBufferPointer, to writer: BlockWriter<some OutputSpace>
    ) throws {
        let row = size.width * bands * bytesPerBand
        let filtered = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (row + 1) * size.height, alignment: 64)
        defer { filtered.deallocate() }
        let ordered = bytesPerBand == 2 ? Self.bigEndianSamples(of: pixels) : nil
        defer { ordered?.deallocate() }
        filter.apply(
            to: ordered.map { UnsafeRawBufferPointer($0) } ?? pixels, above: nil,
            count: size.height, columns: row, stride: row, step: bands * bytesPerBand,
            into: filtered)
        if cancellation.isCancelled { throw ImageError.cancelled }
        let compressor = try ZlibCompressor(level: level)
        let bound = compressor.bound(filtered.count)
        let overhead = Self.signature.count + Self.headerBytes + 3 * PNGChunkWriter.overhead
        guard let memory = writer.next(overhead + bound) else { throw ImageError.cancelled }
        var chunks = PNGChunkWriter(memory)
        chunks.append(Self.signature)
        chunks.chunk("IHDR", header)
        try chunks.chunk("IDAT") { target in
            guard
                let count = compressor.compress(
                    UnsafeRawBufferPointer(filtered),
                    into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(bound)))
            else { throw ImageError(.internalError, "libdeflate has no room in its own bound") }
            return count
        }
        chunks.chunk("IEND", [])
        writer.written(chunks.count)
    }

    private var header: [UInt8] {
        let colourType: [UInt8] = [0, 4, 2, 6]
        return Self.bigEndian(size.width) + Self.bigEndian(size.height)
            + [UInt8(8 * bytesPerBand), colourType[bands - 1], 0, 0, 0]
    }

    /// A copy, the more significant byte of each sample first.
    private static func bigEndianSamples(
        of pixels: UnsafeRawBufferPointer
    ) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: pixels.count, alignment: 64)
        let (source, target) = (
            pixels.assumingMemoryBound(to: UInt16.self), copy.bindMemory(to: UInt16.self)
        )
        for index in source.indices {
            target.initializeElement(at: index, to: source[index].bigEndian)
        }
        return copy
    }

    static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }
}

import ImageModel
import Zlib

/// Pixels of a PNG as the stack writes it: 8 bits, one pass, without a palette (PNG specification,
/// third edition).
enum PNGPixels {
    /// Bytes of pixels at most: a side of 16,384 squared.
    static let bytesMax = 1 << 30
    private static let signatureBytes = 8

    /// Throws `unsupportedFormat` for another PNG, `badImageData` for what is none, and
    /// `limitExceeded`.
    static func pixels(of file: UnsafeRawBufferPointer) throws(ImageError) -> FramePixels {
        let header = try Header(file)
        let rows = try inflate(data(of: file), header)
        return FramePixels(size: header.size, rgba: try PNGRows(header.channels).rgba(rows, header))
    }

    /// What its first chunk says.
    struct Header {
        let size: PixelSize
        /// Samples of a pixel, a byte each: 1, 2, 3 or 4.
        let channels: Int
        var rowBytes: Int { size.width * channels }

        init(size: PixelSize, channels: Int) { (self.size, self.channels) = (size, channels) }

        init(_ file: UnsafeRawBufferPointer) throws(ImageError) {
            // Greys, colours, and both with alpha.
            try self.init(file, channels: [0: 1, 2: 3, 4: 2, 6: 4])
        }

        /// Of a file with a palette.
        init(indexed file: UnsafeRawBufferPointer) throws(ImageError) {
            try self.init(file, channels: [3: 1])
        }

        private init(
            _ file: UnsafeRawBufferPointer, channels kinds: [UInt8: Int]
        ) throws(ImageError) {
            let start = PNGPixels.signatureBytes + 8
            guard file.count >= start + 13, file[1] == UInt8(ascii: "P"), file[0] == 0x89 else {
                throw PNGPixels.broken("it is no PNG")
            }
            size = PixelSize(
                width: PNGPixels.number(file, start), height: PNGPixels.number(file, start + 4))
            let channels = kinds[file[start + 9]]
            guard let channels, file[start + 8] == 8, file[start + 12] == 0 else {
                throw ImageError(
                    .unsupportedFormat,
                    "a frame came as a PNG with a palette, other depths than 8 bits or several "
                        + "passes: leave out what asks for these, or take frames encoded")
            }
            self.channels = channels
            guard size.isPositive, let area = size.area, area <= PNGPixels.bytesMax / 4 else {
                throw ImageError(
                    .limitExceeded, "a frame of \(size) has too many pixels to be held",
                    details: ["limit": "\(PNGPixels.bytesMax)"])
            }
        }
    }

    /// Rows that were compressed, each behind the byte of its filter. Throws `badImageData` where
    /// some are missing.
    static func inflate(
        _ data: [UnsafeRawBufferPointer], _ header: Header
    ) throws(ImageError) -> [UInt8] {
        var rows = [UInt8](repeating: 0, count: header.size.height * (1 + header.rowBytes))
        let filled = rows.withUnsafeMutableBytes { rows in
            Result { () throws(ZlibError) in
                try inflate(data, into: rows)
            }
        }
        guard case .success(rows.count) = filled else { throw broken("rows are missing") }
        return rows
    }

    /// How many bytes were filled.
    private static func inflate(
        _ parts: [UnsafeRawBufferPointer], into rows: UnsafeMutableRawBufferPointer
    ) throws(ZlibError) -> Int {
        var inflater = try Inflater(.zlib)
        var filled = 0
        for part in parts {
            let room = UnsafeMutableRawBufferPointer(rebasing: rows[filled...])
            filled += try inflater.step(part.bytes, into: room).produced
        }
        return filled
    }

    /// Its compressed rows, which may lie in several places.
    static func data(of file: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        chunks(0x4944_4154, of: file)
    }

    /// The contents of the chunks of a kind, whose name is four letters as a number.
    static func chunks(
        _ kind: Int, of file: UnsafeRawBufferPointer
    ) -> [UnsafeRawBufferPointer] {
        var (offset, found) = (signatureBytes, [UnsafeRawBufferPointer]())
        while offset + 12 <= file.count {
            let count = number(file, offset)
            guard count <= file.count - offset - 12 else { break }
            if number(file, offset + 4) == kind {
                found.append(UnsafeRawBufferPointer(rebasing: file[(offset + 8)...].prefix(count)))
            }
            offset += 12 + count
        }
        return found
    }

    static func number(_ file: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        Int(UInt32(bigEndian: file.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    static func broken(_ what: String) -> ImageError {
        ImageError(.badImageData, "the pixels of a frame cannot be read: \(what)")
    }
}

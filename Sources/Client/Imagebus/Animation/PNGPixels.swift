package import Model
import Zlib

/// Reads the pixels of a PNG in the form that the stack writes: 8 bits, not interlaced, without a
/// palette (PNG specification, third edition).
enum PNGPixels {
    /// The largest size of the decoded pixels: 16,384 × 16,384 pixels of four bytes.
    static let bytesMax = 1 << 30
    private static let signatureBytes = 8

    /// Decodes a file. Throws `unsupportedFormat` for other kinds of PNG, `badImageData` for bytes
    /// that are not a valid PNG, and `limitExceeded`.
    static func pixels(of file: UnsafeRawBufferPointer) throws(ImageError) -> FramePixels {
        let header = try Header(file)
        let rows = try inflate(data(of: file), header)
        return FramePixels(size: header.size, rgba: try PNGRows(header.channels).rgba(rows, header))
    }

    /// The contents of the first chunk (`IHDR`).
    struct Header {
        let size: PixelSize
        /// Samples per pixel, one byte each: 1 to 4.
        let channels: Int
        var rowBytes: Int { size.width * channels }

        init(size: PixelSize, channels: Int) { (self.size, self.channels) = (size, channels) }

        init(_ file: UnsafeRawBufferPointer) throws(ImageError) {
            // Gray, RGB, and both with alpha.
            try self.init(file, channels: [0: 1, 2: 3, 4: 2, 6: 4])
        }

        /// Reads the header of a file with a palette.
        init(indexed file: UnsafeRawBufferPointer) throws(ImageError) {
            try self.init(file, channels: [3: 1])
        }

        private init(
            _ file: UnsafeRawBufferPointer, channels kinds: [UInt8: Int]
        ) throws(ImageError) {
            let start = PNGPixels.signatureBytes + 8
            guard file.count >= start + 13, file[1] == UInt8(ascii: "P"), file[0] == 0x89 else {
                throw PNGPixels.broken("not a PNG")
            }
            size = PixelSize(
                width: PNGPixels.number(file, start), height: PNGPixels.number(file, start + 4))
            let channels = kinds[file[start + 9]]
            guard let channels, file[start + 8] == 8, file[start + 12] == 0 else {
                throw ImageError(
                    .unsupportedFormat,
                    "a frame arrived as a PNG with a palette, a depth other than 8 bits or "
                        + "interlacing: leave out the options for these, or request encoded frames")
            }
            self.channels = channels
            guard size.isPositive, let area = size.area, area <= PNGPixels.bytesMax / 4 else {
                throw ImageError(
                    .limitExceeded, "a frame of \(size) has too many pixels to be stored"
                ) { $0.limit = "\(PNGPixels.bytesMax)" }
            }
        }
    }

    /// Decompresses the rows, each preceded by its filter byte. Throws `badImageData` if rows are
    /// missing.
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

    /// Returns the number of bytes written.
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

    /// Returns the compressed rows, which may be split across several chunks.
    static func data(of file: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        chunks(0x4944_4154, of: file)
    }

    /// Returns the contents of all chunks of a kind, given its four-letter name as a number.
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

/// Reverses and applies PNG filters (PNG specification, third edition, chapter 9), and expands
/// pixels to four bytes each.
struct PNGRows {
    private let channels: Int

    init(_ channels: Int) { self.channels = channels }

    /// Returns the pixels as RGBA. Throws `badImageData` for an unknown filter.
    func rgba(_ rows: [UInt8], _ header: PNGPixels.Header) throws(ImageError) -> [UInt8] {
        var rows = rows
        let (width, height) = (header.size.width, header.size.height)
        var pixels = [UInt8](repeating: 255, count: 4 * width * height)
        let isKnown = rows.withUnsafeMutableBufferPointer { rows in
            pixels.withUnsafeMutableBufferPointer { pixels in
                for y in 0..<height {
                    let start = y * (1 + header.rowBytes)
                    guard undo(rows[start], rows, at: start + 1, header.rowBytes, isFirst: y == 0)
                    else { return false }
                    widen(rows, from: start + 1, to: pixels, at: 4 * y * width, width)
                }
                return true
            }
        }
        guard isKnown else { throw PNGPixels.broken("unknown filter") }
        return pixels
    }

    /// Reverses the filters of all rows. Returns false for an unknown filter.
    func undo(_ rows: inout [UInt8], _ header: PNGPixels.Header) -> Bool {
        rows.withUnsafeMutableBufferPointer { rows in
            (0..<header.size.height).allSatisfy { y in
                let start = y * (1 + header.rowBytes)
                return undo(rows[start], rows, at: start + 1, header.rowBytes, isFirst: y == 0)
            }
        }
    }

    /// Filters RGBA pixels into rows of differences to the pixel on the left (filter type 1, Sub).
    static func differences(_ rgba: [UInt8], _ size: PixelSize) -> [UInt8] {
        let row = 4 * size.width
        var rows = [UInt8](repeating: 1, count: (row + 1) * size.height)
        for y in 0..<size.height {
            let (source, target) = (y * row, y * (row + 1) + 1)
            for x in 0..<row {
                rows[target + x] = rgba[source + x] &- (x < 4 ? 0 : rgba[source + x - 4])
            }
        }
        return rows
    }

    /// Reverses the filter of the row that starts at `start`. Returns false for an unknown filter.
    private func undo(
        _ filter: UInt8, _ rows: UnsafeMutableBufferPointer<UInt8>, at start: Int, _ count: Int,
        isFirst: Bool
    ) -> Bool {
        let above = start - count - 1
        switch filter {
        case 0: break
        case 1:
            for x in channels..<max(channels, count) {
                rows[start + x] &+= rows[start + x - channels]
            }
        case 2:
            guard !isFirst else { break }
            for x in 0..<count { rows[start + x] &+= rows[above + x] }
        case 3:
            for x in 0..<count {
                let left = x < channels ? 0 : Int(rows[start + x - channels])
                let up = isFirst ? 0 : Int(rows[above + x])
                rows[start + x] &+= UInt8((left + up) / 2)
            }
        case 4:
            for x in 0..<count {
                let isEdge = x < channels
                rows[start + x] &+= Self.paeth(
                    isEdge ? 0 : Int(rows[start + x - channels]),
                    isFirst ? 0 : Int(rows[above + x]),
                    isEdge || isFirst ? 0 : Int(rows[above + x - channels]))
            }
        default: return false
        }
        return true
    }

    /// Returns the Paeth predictor: the neighbor closest to left + up - corner.
    private static func paeth(_ left: Int, _ up: Int, _ corner: Int) -> UInt8 {
        let (toLeft, toUp) = (abs(up - corner), abs(left - corner))
        let toCorner = abs(left + up - 2 * corner)
        if toLeft <= toUp, toLeft <= toCorner { return UInt8(left) }
        return UInt8(toUp <= toCorner ? up : corner)
    }

    /// Expands one row to RGBA; alpha is already set to opaque.
    private func widen(
        _ rows: UnsafeMutableBufferPointer<UInt8>, from start: Int,
        to pixels: UnsafeMutableBufferPointer<UInt8>, at place: Int, _ width: Int
    ) {
        let isGray = channels < 3
        for x in 0..<width {
            let (source, target) = (start + x * channels, place + 4 * x)
            pixels[target] = rows[source]
            pixels[target + 1] = rows[isGray ? source : source + 1]
            pixels[target + 2] = rows[isGray ? source : source + 2]
            if channels % 2 == 0 { pixels[target + 3] = rows[source + channels - 1] }
        }
    }
}

/// The pixels of a palette PNG as the stack writes it when a number of colors is requested: not
/// interlaced, 8-bit indexes.
package struct IndexedPixels: Hashable, Sendable {
    /// Width and height in pixels.
    package let size: PixelSize
    /// Red, green, blue and alpha of each color; at most 256 colors.
    package let palette: [[UInt8]]
    /// The color index of each pixel, row by row from the top.
    package let indexes: [UInt8]

    /// Creates an image from indexes that must be valid for the palette and whose count must match
    /// the size.
    package init(size: PixelSize, palette: [[UInt8]], indexes: [UInt8]) {
        (self.size, self.palette, self.indexes) = (size, palette, indexes)
    }

    /// Reads a palette PNG. Throws `unsupportedFormat` for other kinds of PNG, and `badImageData`
    /// for bytes that are not a valid PNG or refer to missing colors.
    package init(png file: UnsafeRawBufferPointer) throws(ImageError) {
        let header = try PNGPixels.Header(indexed: file)
        var rows = try PNGPixels.inflate(PNGPixels.data(of: file), header)
        guard PNGRows(1).undo(&rows, header) else { throw PNGPixels.broken("unknown filter") }
        let width = header.size.width
        var indexes: [UInt8] = []
        indexes.reserveCapacity(width * header.size.height)
        for y in 0..<header.size.height {
            indexes += rows[(y * (width + 1) + 1)..<((y + 1) * (width + 1))]
        }
        let palette = Self.palette(of: file)
        guard Int(indexes.max() ?? 0) < palette.count else {
            throw PNGPixels.broken("missing color")
        }
        self.init(size: header.size, palette: palette, indexes: indexes)
    }

    /// Returns the colors of `PLTE` with the alpha values that `tRNS` assigns to the first of them.
    private static func palette(of file: UnsafeRawBufferPointer) -> [[UInt8]] {
        let colors = PNGPixels.chunks(0x504C_5445, of: file).first
        let alphas = PNGPixels.chunks(0x7452_4E53, of: file).first
        guard let colors else { return [] }
        return (0..<min(256, colors.count / 3)).map { index -> [UInt8] in
            var alpha: UInt8 = 255
            if let alphas, index < alphas.count { alpha = alphas[index] }
            return [colors[3 * index], colors[3 * index + 1], colors[3 * index + 2], alpha]
        }
    }
}

import ImageModel
import Vips

/// Reads the pixels of a bitmap that is not compressed: a BMP, or an image of an icon. Anyone may
/// have written it: what lies behind the end of the file is damage, a color behind the end of the
/// palette is black.
struct BitmapPixels {
    private let bitmap: BitmapHeader
    private let size: PixelSize
    private let bands: Int
    /// Red, green and blue of each color.
    private let palette: [UInt8]
    private let channels: [Channel]

    /// - Parameters:
    ///   - size: of the image; in an icon, half of the rows.
    ///   - bands: 3, or 4 with alpha.
    init(
        _ bitmap: BitmapHeader, _ size: PixelSize, bands: Int, in file: UnsafeRawBufferPointer
    ) {
        precondition(bands == 3 || bands == 4)
        (self.bitmap, self.size, self.bands) = (bitmap, size, bands)
        let bytes = HeaderBytes(Span(_unsafeBytes: file))
        palette = stride(
            from: bitmap.palette.lowerBound, to: bitmap.palette.upperBound - 2,
            by: bitmap.paletteEntryBytes
        ).flatMap { entry in [2, 1, 0].map { bytes.byte(entry + $0) ?? 0 } }
        channels = bitmap.masks.map { Channel(mask: $0) }
    }

    /// The pixels, from the top. Alpha that is 0 everywhere says nothing.
    func read(_ file: UnsafeRawBufferPointer) throws(VipsError) -> ZeroedBytes {
        guard bitmap.pixels <= file.count,
            bitmap.storedBytes(rows: size.height) <= file.count - bitmap.pixels
        else { throw VipsError(kind: .corrupt, operation: "bitmap", text: "rows are missing") }
        let pixels = ZeroedBytes(count: size.width * size.height * bands)
        let bytes = Span<UInt8>(_unsafeBytes: file)
        var alphas: UInt8 = 0
        for y in 0..<size.height {
            let row = bitmap.pixels + y * bitmap.rowBytes
            let line = bitmap.isTopDown ? y : size.height - 1 - y
            for x in 0..<size.width {
                let target = (line * size.width + x) * bands
                let color = color(x, inRow: row, of: bytes)
                pixels.bytes[target] = color.red
                pixels.bytes[target + 1] = color.green
                pixels.bytes[target + 2] = color.blue
                guard bands == 4 else { continue }
                pixels.bytes[target + 3] = color.alpha
                alphas |= color.alpha
            }
        }
        if bands == 4, alphas == 0 { setAlpha(of: pixels) { _, _ in 255 } }
        return pixels
    }

    /// Makes transparent what the mask of an icon says, whose rows lie behind those of the pixels.
    /// An image with alpha of its own needs none, and one without a whole mask has none.
    func applyMask(to pixels: ZeroedBytes, _ file: UnsafeRawBufferPointer) {
        let start = bitmap.pixels + size.height * bitmap.rowBytes
        let rowBytes = (size.width + 31) / 32 * 4
        let hasAlpha = stride(from: 3, to: pixels.bytes.count, by: 4)
            .contains { pixels.bytes[$0] != 255 }
        let used = (size.height - 1) * rowBytes + (size.width + 7) / 8
        guard !hasAlpha, start <= file.count, used <= file.count - start else { return }
        let bytes = Span<UInt8>(_unsafeBytes: file)
        setAlpha(of: pixels) { x, y in
            let row = bitmap.isTopDown ? y : size.height - 1 - y
            let byte = bytes[start + row * rowBytes + x / 8]
            return byte & (0x80 >> UInt8(x % 8)) == 0 ? 255 : 0
        }
    }

    private func setAlpha(of pixels: ZeroedBytes, _ alpha: (_ x: Int, _ y: Int) -> UInt8) {
        for y in 0..<size.height {
            for x in 0..<size.width {
                pixels.bytes[(y * size.width + x) * 4 + 3] = alpha(x, y)
            }
        }
    }

    private typealias Color = (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8)

    private func color(_ x: Int, inRow row: Int, of bytes: Span<UInt8>) -> Color {
        switch bitmap.depth {
        case 24:
            let place = row + 3 * x
            return (bytes[place + 2], bytes[place + 1], bytes[place], 255)
        case 16:
            let place = row + 2 * x
            return masked(Int(bytes[place]) | Int(bytes[place + 1]) << 8)
        case 32:
            let place = row + 4 * x
            return masked(
                Int(bytes[place]) | Int(bytes[place + 1]) << 8 | Int(bytes[place + 2]) << 16
                    | Int(bytes[place + 3]) << 24)
        default:
            let bit = x * bitmap.depth
            let shift = 8 - bitmap.depth - bit % 8
            let index = Int(bytes[row + bit / 8]) >> shift & (1 << bitmap.depth - 1)
            guard 3 * index < palette.count else { return (0, 0, 0, 255) }
            return (palette[3 * index], palette[3 * index + 1], palette[3 * index + 2], 255)
        }
    }

    private func masked(_ word: Int) -> Color {
        (
            channels[0].sample(word) ?? 0, channels[1].sample(word) ?? 0,
            channels[2].sample(word) ?? 0, channels[3].sample(word) ?? 255
        )
    }
}

/// The bits of a color in a pixel.
private struct Channel {
    private let mask: Int
    private let shift: Int
    private let most: Int

    init(mask: Int) {
        self.mask = mask
        shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        most = mask >> shift
    }

    /// In 8 bits, rounded; `nil` without a mask.
    func sample(_ word: Int) -> UInt8? {
        mask == 0 ? nil : UInt8((((word & mask) >> shift) * 255 + most / 2) / most)
    }
}

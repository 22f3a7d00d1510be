internal import Glibc
import Model
import Pixbuf
import Vips

/// BMP. libvips has no loader for it; gdk-pixbuf decodes run-length encoding.
struct BMPDecoder: FormatDecoder {
    let format = ImageFormat.bmp

    func prepare() -> Bool { PixbufLoader.bmp.load() }

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        return try .blank(
            width: bitmap.size.width, height: bitmap.size.height, bands: bitmap.bands
        ).embedding(profile: bitmap.profile.map { Array(bytes[$0]) } ?? [], xmp: [])
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        guard bitmap.coding == .plain else {
            return try .pixbuf(bytes, by: .bmp, bitmap.size, bands: bitmap.bands)
        }
        try VipsImage.checkArea(of: bitmap.size)
        let pixels = try BitmapPixels(bitmap, bitmap.size, bands: bitmap.bands, in: bytes)
            .read(bytes)
        return try .pixels(pixels, bitmap.size, bands: bitmap.bands)
    }

    private static func bitmap(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> BitmapHeader {
        guard let bitmap = HeaderBytes(Span(_unsafeBytes: bytes)).bitmap else {
            throw VipsError(kind: .corrupt, operation: "bmp", text: "invalid header")
        }
        guard bitmap.coding != .unknown else { throw VipsError.unknownCoding }
        return bitmap
    }
}

extension VipsError {
    /// The error for an unknown bitmap encoding.
    static var unknownCoding: VipsError {
        VipsError(
            kind: .unsupported, operation: "bitmap",
            text: "unknown depth or printer compression")
    }
}

extension BitmapHeader {
    /// The bands of the output. Without a mask, the fourth byte of a pixel is ignored.
    fileprivate var bands: Int { hasAlpha ? 4 : 3 }
}

extension VipsImage {
    /// Decodes all pixels with gdk-pixbuf, at the size stated in the header.
    static func pixbuf(
        _ bytes: UnsafeRawBufferPointer, by loader: PixbufLoader, _ size: PixelSize, bands: Int
    ) throws(VipsError) -> VipsImage {
        try checkArea(of: size)
        let pixels = ZeroedBytes(count: size.width * size.height * bands)
        do {
            try loader.decode(
                bytes, width: size.width, height: size.height, bands: bands, into: pixels.bytes)
        } catch {
            throw VipsError(error, operation: "pixbuf")
        }
        return try .pixels(pixels, size, bands: bands)
    }

    /// Creates an image of pixels in memory that lives as long as the image; otherwise like the
    /// variant for other memory.
    static func pixels(
        _ memory: ZeroedBytes, _ size: PixelSize, bands: Int, bytesPerBand: Int = 1,
        isCMYK: Bool = false
    ) throws(VipsError) -> VipsImage {
        try pixels(
            UnsafeRawBufferPointer(memory.bytes), width: size.width, height: size.height,
            bands: bands, bytesPerBand: bytesPerBand, isCMYK: isCMYK, owner: memory)
    }

    /// Rejects an image whose pixels would take too much memory.
    static func checkArea(of size: PixelSize) throws(VipsError) {
        guard let area = size.area, area <= ImageLimits.ofWorkers.pixelsMax else {
            throw VipsError(kind: .tooLarge, operation: "bitmap", text: "an image of \(size)")
        }
    }
}

/// Windows icons and cursors: the largest and deepest image of the file, which is a PNG, or a
/// bitmap with a mask.
struct ICODecoder: FormatDecoder {
    let format = ImageFormat.ico
    let loaders = [VipsLoader.png]

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        let icon = try Self.largest(of: bytes)
        guard let bitmap = icon.bitmap else { return try .checkedPNG(Self.part(bytes, icon)) }
        guard bitmap.coding == .plain else { throw VipsError.unknownCoding }
        return try .blank(width: icon.size.width, height: icon.size.height, bands: 4)
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let icon = try Self.largest(of: bytes)
        guard let bitmap = icon.bitmap else { return try .checkedPNG(Self.part(bytes, icon)) }
        guard bitmap.coding == .plain else { throw VipsError.unknownCoding }
        try VipsImage.checkArea(of: icon.size)
        let image = BitmapPixels(bitmap, icon.size, bands: 4, in: bytes)
        let file = UnsafeRawBufferPointer(rebasing: bytes[..<icon.range.upperBound])
        let pixels = try image.read(file)
        image.applyMask(to: pixels, file)
        return try .pixels(pixels, icon.size, bands: 4)
    }

    private static func largest(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> IconImage {
        guard let icon = HeaderBytes(Span(_unsafeBytes: bytes)).largestIcon else {
            throw VipsError(kind: .corrupt, operation: "ico", text: "no readable image")
        }
        return icon
    }

    private static func part(
        _ bytes: UnsafeRawBufferPointer, _ icon: IconImage
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[icon.range])
    }
}

/// Reads the pixels of an uncompressed bitmap: a BMP, or an image of an icon. The file is
/// untrusted: a truncated bitmap is an error, and a color beyond the palette is black.
struct BitmapPixels {
    private let bitmap: BitmapHeader
    private let size: PixelSize
    private let bands: Int
    /// The red, green and blue values of each color.
    private let palette: [UInt8]
    private let channels: [Channel]

    /// - Parameters:
    ///   - size: The size of the image; in an icon, half the number of rows.
    ///   - bands: 3, or 4 with alpha.
    init(_ bitmap: BitmapHeader, _ size: PixelSize, bands: Int, in file: UnsafeRawBufferPointer) {
        precondition(bands == 3 || bands == 4)
        (self.bitmap, self.size, self.bands) = (bitmap, size, bands)
        let bytes = HeaderBytes(Span(_unsafeBytes: file))
        palette = stride(
            from: bitmap.palette.lowerBound, to: bitmap.palette.upperBound - 2,
            by: bitmap.paletteEntryBytes
        ).flatMap { entry in [2, 1, 0].map { bytes.byte(entry + $0) ?? 0 } }
        channels = bitmap.masks.map { Channel(mask: $0) }
    }

    /// Returns the pixels from top to bottom. Alpha that is 0 everywhere is ignored.
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

    /// Makes pixels transparent according to an icon's mask, whose rows follow those of the pixels.
    /// Not applied if the image has its own alpha, or if the mask is incomplete.
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

/// The bits of a color channel in a pixel.
private struct Channel {
    private let mask: Int
    private let shift: Int
    private let most: Int

    init(mask: Int) {
        self.mask = mask
        shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        most = mask >> shift
    }

    /// Returns the value in 8 bits, rounded; `nil` without a mask.
    func sample(_ word: Int) -> UInt8? {
        mask == 0 ? nil : UInt8((((word & mask) >> shift) * 255 + most / 2) / most)
    }
}

/// Zero-initialized memory for pixels, owned by reference.
///
/// Uses zero pages of the kernel: no byte of a large image is touched before it is written.
final class ZeroedBytes {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        guard let memory = calloc(max(1, count), 1) else {
            fatalError("no memory for \(count) bytes of pixels")
        }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { free(bytes.baseAddress) }
}

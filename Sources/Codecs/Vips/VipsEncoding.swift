internal import CVipsShims

/// The format and options with which `VipsImage.save` writes an image. Metadata, including
/// profiles, is omitted unless a case states otherwise.
public enum VipsEncoding: Sendable, Equatable {
    /// JPEG.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, on libjpeg's scale.
    ///   - progressive: several scans; needs the whole image in memory.
    ///   - optimized: computes optimal Huffman tables in a second pass: smaller but slower.
    ///   - subsampling: the chroma subsampling.
    case jpeg(
        quality: Int, progressive: Bool = false, optimized: Bool = false,
        subsampling: Subsampling = .auto)

    /// PNG.
    ///
    /// - Parameters:
    ///   - compression: zlib's level, 0 to 9.
    ///   - filter: the filter applied to rows before compression.
    ///   - interlaced: Adam7; needs the whole image in memory.
    ///   - palette: the palette, or `nil` to store all samples unchanged.
    case png(
        compression: Int, filter: PNGFilter = .none, interlaced: Bool = false,
        palette: Palette? = nil)

    /// WebP.
    ///
    /// - Parameters:
    ///   - quality: 0 to 100; for a lossless image, the compression effort.
    ///   - lossless: preserves every visible pixel exactly.
    ///   - effort: 0 (fast) to 6 (small).
    case webp(quality: Int, lossless: Bool = false, effort: Int = 4)

    /// GIF with one frame.
    ///
    /// - Parameters:
    ///   - bits: the base 2 logarithm of the number of colors, 1 to 8.
    ///   - dither: the fraction of a pixel's error that is passed to its neighbors, 0 to 1.
    ///   - effort: the effort for choosing colors, 1 (fast) to 10 (best).
    ///   - interlaced: stores rows in four passes.
    case gif(bits: Int = 8, dither: Double = 1, effort: Int = 7, interlaced: Bool = false)

    /// TIFF with one page of unchanged samples, compressed with deflate.
    ///
    /// - Parameters:
    ///   - predicts: stores each sample as the difference from the previous one, which makes
    ///     photographs smaller.
    ///   - embedsMetadata: also writes the image's profile and XMP.
    case tiff(predicts: Bool, embedsMetadata: Bool = false)

    /// JPEG XL. Only available if the library was created with `VipsSaver.jxl`.
    ///
    /// - Parameters:
    ///   - quality: 5 to 100; libjxl has no distance for lower values.
    ///   - lossless: preserves every sample exactly.
    ///   - effort: 3 (fast) to 9 (small).
    ///   - embedsMetadata: also writes the image's profile.
    case jxl(quality: Int, lossless: Bool = false, effort: Int = 7, embedsMetadata: Bool = false)

    /// Chroma subsampling; the values are libvips'.
    public enum Subsampling: Int, Sendable {
        /// One chroma sample for four pixels below quality 90, otherwise one for each.
        case auto = 0
        /// One chroma sample for four pixels.
        case quarter = 1
        /// One chroma sample for each pixel.
        case full = 2
    }

    /// The palette of an image with few colors.
    public struct Palette: Sendable, Equatable {
        /// The base 2 logarithm of the number of colors, 1 to 8 (2 to 256 colors). PNG supports 1,
        /// 2, 4 and 8.
        public var bits: Int
        /// The required similarity to the image, 0 to 100; lower values need fewer colors.
        public var quality: Int
        /// The fraction of a pixel's error that is passed to its neighbors, 0 to 1.
        public var dither: Double

        /// Creates a palette; the defaults are as similar to the image as possible.
        public init(bits: Int = 8, quality: Int = 100, dither: Double = 1) {
            (self.bits, self.quality, self.dither) = (bits, quality, dither)
        }
    }

    /// PNG row filters; the values are libpng's bits.
    public enum PNGFilter: Int, Sendable {
        case none = 0x08
        case sub = 0x10
    }
}

extension VipsImage {
    /// Computes and encodes all pixels and passes the bytes to `sink` in chunks, in order.
    ///
    /// - Parameters:
    ///   - sink: consumes all bytes it's given, or returns `false` to end the save. Called on this
    ///     thread or on a thread of libvips, never concurrently, and never after this function
    ///     returns.
    /// - Throws: `refused` if the sink refused, `killed`, `corrupt` if the pixels come from damaged
    ///   bytes, `internal`.
    public func save(
        _ encoding: VipsEncoding, to sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(VipsError) {
        let result = withoutActuallyEscaping(sink) { sink in
            let box = VipsSink(sink)
            let status = withExtendedLifetime(self) {
                save(encoding, context: Unmanaged.passUnretained(box).toOpaque())
            }
            return (status: status, refused: box.refused)
        }
        guard result.status == 0 else {
            let error = VipsError.fromLibrary("save", otherwise: .corrupt)
            guard result.refused else { throw error }
            throw VipsError(kind: .refused, operation: error.operation, text: error.text)
        }
    }

    /// Encodes all pixels like `save`, and returns the bytes.
    public func encoded(_ encoding: VipsEncoding) throws(VipsError) -> [UInt8] {
        var bytes: [UInt8] = []
        try save(encoding) {
            bytes.append(contentsOf: $0)
            return true
        }
        return bytes
    }

    private func save(_ encoding: VipsEncoding, context: UnsafeMutableRawPointer) -> CInt {
        switch encoding {
        case .jpeg(let quality, let progressive, let optimized, let subsampling):
            let options = cvips_jpeg_options(
                quality: CInt(quality), progressive: progressive ? 1 : 0,
                optimise_coding: optimized ? 1 : 0, subsampling: CInt(subsampling.rawValue),
                strip: 1)
            return cvips_save_jpeg(pointer, options, passToSink, context)
        case .png(let compression, let filter, let interlaced, let palette):
            let options = cvips_png_options(
                compression: CInt(compression), filter_bits: CInt(filter.rawValue),
                interlace: interlaced ? 1 : 0, palette: palette?.shim ?? cvips_palette(), strip: 1)
            return cvips_save_png(pointer, options, passToSink, context)
        case .webp(let quality, let lossless, let effort):
            let options = cvips_webp_options(
                quality: CInt(quality), lossless: lossless ? 1 : 0, effort: CInt(effort), strip: 1)
            return cvips_save_webp(pointer, options, passToSink, context)
        case .gif(let bits, let dither, let effort, let interlaced):
            let options = cvips_gif_options(
                bits: CInt(bits), dither: dither, effort: CInt(effort),
                interlace: interlaced ? 1 : 0)
            return cvips_save_gif(pointer, options, passToSink, context)
        case .tiff(let predicts, let embedsMetadata):
            return cvips_save_tiff(
                pointer, predicts ? 1 : 0, embedsMetadata ? 0 : 1, passToSink, context)
        case .jxl(let quality, let lossless, let effort, let embedsMetadata):
            let options = cvips_jxl_options(
                quality: CInt(quality), lossless: lossless ? 1 : 0, effort: CInt(effort),
                strip: embedsMetadata ? 0 : 1)
            return cvips_save_jxl(pointer, options, passToSink, context)
        }
    }
}

extension VipsEncoding.Palette {
    fileprivate var shim: cvips_palette {
        cvips_palette(bits: CInt(bits), quality: CInt(quality), dither: dither)
    }
}

/// Carries a closure through a C callback.
private final class VipsSink {
    private let sink: (UnsafeRawBufferPointer) -> Bool
    private(set) var refused = false

    init(_ sink: @escaping (UnsafeRawBufferPointer) -> Bool) {
        self.sink = sink
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> CInt {
        guard !refused, sink(bytes) else {
            refused = true
            return -1
        }
        return 0
    }
}

private func passToSink(
    context: UnsafeMutableRawPointer?, bytes: UnsafeRawPointer?, count: Int
) -> CInt {
    guard let context else { return -1 }
    // Valid: `save` retains the sink until libvips has returned.
    let sink = Unmanaged<VipsSink>.fromOpaque(context).takeUnretainedValue()
    return sink.write(UnsafeRawBufferPointer(start: bytes, count: count))
}

extension VipsImage {
    /// Returns the same pixels with copies of this metadata attached, which encodings that embed
    /// metadata write. Empty arrays are omitted. The metadata doesn't affect any pixel.
    public func embedding(profile: [UInt8], xmp: [UInt8]) throws(VipsError) -> VipsImage {
        try profile.withBytes { profile throws(VipsError) in
            try xmp.withBytes { xmp throws(VipsError) in
                try derive("copy") { cvips_enclose($0, profile, xmp, $1) }
            }
        }
    }

    /// Returns the same pixels with EXIF attached as libvips' loaders do: the raw bytes and a text
    /// per entry. EXIF that libvips can't read, or that exceeds the size limit of a JPEG, is
    /// omitted.
    ///
    /// - Parameter exif: EXIF starting with its TIFF header, optionally preceded by `Exif` and two
    ///   zeros.
    public func embedding(exif: [UInt8]) throws(VipsError) -> VipsImage {
        let carrier = HeldBytes(Self.jpeg(of: exif))
        guard !exif.isEmpty,
            let read = try? VipsImage.load(carrier.bytes, by: .jpeg, owner: carrier)
        else { return self }
        return try derive("copy") { image, out in
            withExtendedLifetime(read) { cvips_enclose_exif(image, read.pointer, out) }
        }
    }

    /// Returns the same pixels with a numeric header field set, named as in libvips.
    public func stating(_ number: Int, as name: String) throws(VipsError) -> VipsImage {
        try derive("copy") { cvips_state($0, name, CInt(clamping: number), $1) }
    }

    /// Returns the header of a one-pixel gray JPEG with this EXIF, since libvips only parses EXIF
    /// of files.
    private static func jpeg(of exif: [UInt8]) -> [UInt8] {
        let mark = Array("Exif\0\0".utf8)
        let body = (exif.starts(with: mark) ? [] : mark) + exif
        let count = body.count + 2
        guard count <= Int(UInt16.max) else { return [] }
        return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(count >> 8), UInt8(count & 0xFF)] + body
            + [0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
            + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0xFF, 0xD9]
    }
}

extension [UInt8] {
    fileprivate func withBytes(
        _ body: (cvips_bytes) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        let result = withUnsafeBytes { bytes in
            let given = cvips_bytes(
                bytes: bytes.isEmpty ? nil : bytes.baseAddress, count: bytes.count)
            return Result { () throws(VipsError) in try body(given) }
        }
        return try result.get()
    }
}

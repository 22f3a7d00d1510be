internal import CVipsShims

/// How `VipsImage.save` writes an image. Metadata, profiles included, is left out unless a case
/// says otherwise.
public enum VipsEncoding: Sendable, Equatable {
    /// - Parameters:
    ///   - quality: 1 to 100; libjpeg's scale.
    ///   - progressive: several scans; needs the whole image in memory.
    ///   - optimised: a second pass finds the best Huffman tables: smaller, slower.
    ///   - subsampling: how many samples of chroma there are.
    case jpeg(
        quality: Int, progressive: Bool = false, optimised: Bool = false,
        subsampling: Subsampling = .auto)

    /// - Parameters:
    ///   - compression: 0 to 9, zlib's levels.
    ///   - filter: what is done to rows before they are compressed.
    ///   - interlaced: Adam7; needs the whole image in memory.
    ///   - palette: nil: every sample as it is.
    case png(
        compression: Int, filter: PNGFilter = .none, interlaced: Bool = false,
        palette: Palette? = nil)

    /// - Parameters:
    ///   - quality: 0 to 100; of a lossless image, how hard to try.
    ///   - lossless: every visible pixel as it was.
    ///   - effort: 0 fast to 6 small.
    case webp(quality: Int, lossless: Bool = false, effort: Int = 4)

    /// One frame.
    ///
    /// - Parameters:
    ///   - bits: the power of two that is the number of colours, 1 to 8.
    ///   - dither: 0 to 1: how much of the error of a pixel goes to its neighbours.
    ///   - effort: 1 (fast) to 10 (best) for the colours.
    ///   - interlaced: rows in four passes.
    case gif(bits: Int = 8, dither: Double = 1, effort: Int = 7, interlaced: Bool = false)

    /// One page, every sample as it is, deflated.
    ///
    /// - Parameters:
    ///   - predicts: each sample is stored as the difference to the one before it, which makes
    ///     photographs smaller.
    ///   - encloses: profile and XMP of the image are written too.
    case tiff(predicts: Bool, encloses: Bool = false)

    /// Only where the library was told to permit `VipsSaver.jxl`.
    ///
    /// - Parameters:
    ///   - quality: 5 to 100; below, libjxl has no distance for it.
    ///   - lossless: every sample as it was.
    ///   - effort: 3 fast to 9 small.
    ///   - encloses: the profile of the image is written too.
    case jxl(quality: Int, lossless: Bool = false, effort: Int = 7, encloses: Bool = false)

    /// How many samples of chroma are stored; the values are libvips'.
    public enum Subsampling: Int, Sendable {
        /// One for four pixels below quality 90, else one for each.
        case auto = 0
        /// One for four pixels.
        case quarter = 1
        /// One for each.
        case full = 2
    }

    /// Colours of an image that has few of them.
    public struct Palette: Sendable, Equatable {
        /// As a power of two, 1 to 8: two colours to 256. A PNG has 1, 2, 4 or 8.
        public var bits: Int
        /// 0 to 100: how much like the image it must be; fewer colours suffice for less.
        public var quality: Int
        /// 0 to 1: how much of the error of a pixel goes to its neighbours.
        public var dither: Double
        /// 1 (fast) to 10 (best).
        public var effort: Int

        /// A palette that is like the image as far as it can be, unless told otherwise.
        public init(bits: Int = 8, quality: Int = 100, dither: Double = 1, effort: Int = 7) {
            (self.bits, self.quality) = (bits, quality)
            (self.dither, self.effort) = (dither, effort)
        }
    }

    /// The row filters of PNG; the values are libpng's bits.
    public enum PNGFilter: Int, Sendable {
        case none = 0x08
        case sub = 0x10
        case up = 0x20
        case paeth = 0x80
        /// The best of all for each row: smaller for photographs, several times slower.
        case adaptive = 0xF8
    }
}

extension VipsImage {
    /// Computes all pixels and encodes them, handing the bytes to `sink` piece by piece, from the
    /// first to the last.
    ///
    /// - Parameters:
    ///   - sink: takes all bytes it is given, or answers false, which ends the save. It is called
    ///     on this thread or on one of libvips, never on two at once, never after this returns.
    /// - Throws: `refused` when the sink refused, `killed`, `corrupt` where the pixels come from
    ///   damaged bytes, `internal`.
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
            let error = VipsError.take("save", otherwise: .corrupt)
            guard result.refused else { throw error }
            throw VipsError(kind: .refused, operation: error.operation, text: error.text)
        }
    }

    private func save(_ encoding: VipsEncoding, context: UnsafeMutableRawPointer) -> CInt {
        switch encoding {
        case .jpeg(let quality, let progressive, let optimised, let subsampling):
            let options = cvips_jpeg_options(
                quality: CInt(quality), progressive: progressive ? 1 : 0,
                optimise_coding: optimised ? 1 : 0, subsampling: CInt(subsampling.rawValue),
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
        case .tiff(let predicts, let encloses):
            return cvips_save_tiff(
                pointer, predicts ? 1 : 0, encloses ? 0 : 1, passToSink, context)
        case .jxl(let quality, let lossless, let effort, let encloses):
            let options = cvips_jxl_options(
                quality: CInt(quality), lossless: lossless ? 1 : 0, effort: CInt(effort),
                strip: encloses ? 0 : 1)
            return cvips_save_jxl(pointer, options, passToSink, context)
        }
    }
}

extension VipsEncoding.Palette {
    fileprivate var shim: cvips_palette {
        cvips_palette(
            bits: CInt(bits), quality: CInt(quality), dither: dither, effort: CInt(effort))
    }
}

/// What a C callback can carry in place of a closure.
private final class VipsSink {
    private let sink: (UnsafeRawBufferPointer) -> Bool
    private(set) var refused = false

    init(_ sink: @escaping (UnsafeRawBufferPointer) -> Bool) {
        self.sink = sink
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> CInt {
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
    // `save` holds the sink until libvips has returned.
    let sink = Unmanaged<VipsSink>.fromOpaque(context).takeUnretainedValue()
    return sink.take(UnsafeRawBufferPointer(start: bytes, count: count))
}

extension VipsImage {
    /// The same pixels with copies of these beside them, which encodings that enclose such write;
    /// empty ones are none. What they say changes no pixel.
    public func enclosing(
        profile: [UInt8], xmp: [UInt8]
    ) throws(VipsError) -> VipsImage {
        try profile.withBytes { profile throws(VipsError) in
            try xmp.withBytes { xmp throws(VipsError) in
                try derive("copy") { cvips_enclose($0, profile, xmp, $1) }
            }
        }
    }

    /// The same pixels with EXIF, as loaders of libvips leave it: its bytes, and a text for each
    /// entry. What libvips cannot read, or is longer than EXIF of a JPEG, is left out.
    ///
    /// - Parameter exif: from the header of its TIFF on, or with `Exif` and two zeros in front.
    public func enclosing(exif: [UInt8]) throws(VipsError) -> VipsImage {
        let carrier = HeldBytes(Self.jpeg(of: exif))
        guard !exif.isEmpty,
            let read = try? VipsImage.load(carrier.bytes, by: .jpeg, owner: carrier)
        else { return self }
        return try derive("copy") { image, out in
            withExtendedLifetime(read) { cvips_enclose_exif(image, read.pointer, out) }
        }
    }

    /// The same pixels with a number in the header, by libvips' name for it.
    public func stating(_ number: Int, as name: String) throws(VipsError) -> VipsImage {
        try derive("copy") { cvips_state($0, name, CInt(clamping: number), $1) }
    }

    /// The header of a JPEG of one grey pixel, with that EXIF: libvips reads EXIF of files only.
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

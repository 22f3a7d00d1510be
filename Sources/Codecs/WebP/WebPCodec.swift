internal import CWebP
public import CodecSupport

/// Encodes images in memory as WebP.
public enum WebPEncoder {
    /// Encodes YUV 4:2:0 planes in BT.601, limited range (16 to 235, chroma to 240), with centered
    /// chroma: libwebp's internal format, so nothing is copied or converted. Lossy only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V; U and V have the same stride. No alignment is required.
    ///   - sink: consumes all bytes it's given, in order, or returns `false` to end the encoding.
    ///     Called on this thread, mostly once the image is encoded.
    ///   - isCancelled: called on this thread, about once per percent of the work.
    /// - Throws: `tooLarge`, `cancelled`, `refused`, `outOfMemory`, `internal` if a source is too
    ///   small or the encoding is lossless.
    public static func encode(
        planes sources: [SampleSource], as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(CodecError) {
        let areValid =
            encoding.isPossible && !encoding.isLossless
            && PlaneSubsampling.yuv420.fits(sources, encoding.width, encoding.height)
            && sources[1].stride == sources[2].stride
        guard areValid else {
            throw CodecError(kind: .internal, text: "planes have the wrong size")
        }
        let bases = sources.map { $0.base(UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_planes(encoding.shim, bases, strides, callbacks, &code)
        }
    }

    /// Encodes interleaved RGB or straight-alpha RGBA; libwebp copies all pixels. Otherwise like
    /// the variant for planes.
    ///
    /// - Parameter bands: 3 or 4.
    public static func encode(
        pixels source: SampleSource, bands: Int, as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(CodecError) {
        let isValid =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(rowBytes: encoding.width * bands, height: encoding.height)
        guard isValid, let base = source.base(UInt8.self) else {
            throw CodecError(kind: .internal, text: "pixels have the wrong size")
        }
        let stride = CInt(clamping: source.stride)
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_pixels(encoding.shim, base, stride, CInt(bands), callbacks, &code)
        }
    }

    private static func run(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (cwebp_callbacks, inout CInt) -> cwebp_status
    ) throws(CodecError) {
        var code: CInt = 0
        let status = CodecCallbacks.withContext(sink: sink, isCancelled: isCancelled) { context in
            let callbacks = cwebp_callbacks(
                sink: passToSink, stop: isCancelledCallback, context: context)
            return body(callbacks, &code)
        }
        guard status == CWEBP_OK else { throw CodecError(status, code: code) }
    }
}

/// The options for encoding pixels as WebP. No metadata is written: no EXIF, no profile.
public struct WebPEncoding: Equatable, Sendable {
    /// The width in pixels, 1 to 16,383.
    public var width: Int
    /// The height in pixels, 1 to 16,383.
    public var height: Int
    /// The quality, 0 to 100; for a lossless image, the compression effort.
    public var quality: Int
    /// The method, 0 (fastest) to 6 (smallest); libvips calls it effort.
    public var method: Int
    /// Whether every visible pixel is preserved exactly.
    public var isLossless: Bool
    /// The near-lossless preprocessing of a lossless image, 0 to 100; 100 changes no pixels.
    public var nearLossless: Int
    /// The quality of alpha in a lossy image, 0 to 100; 100 is lossless.
    public var alphaQuality: Int
    /// Whether lossy encoding uses the slower, sharper conversion to chroma.
    public var sharpensChroma: Bool

    /// Creates options; the default is lossy with libvips' default effort.
    public init(
        width: Int, height: Int, quality: Int, method: Int = 4, isLossless: Bool = false,
        nearLossless: Int = 100, alphaQuality: Int = 100, sharpensChroma: Bool = false
    ) {
        self.width = width
        self.height = height
        self.quality = quality
        self.method = method
        self.isLossless = isLossless
        self.nearLossless = nearLossless
        self.alphaQuality = alphaQuality
        self.sharpensChroma = sharpensChroma
    }

    var isPossible: Bool {
        width > 0 && height > 0 && (0...100).contains(quality) && (0...6).contains(method)
            && (0...100).contains(nearLossless) && (0...100).contains(alphaQuality)
    }

    var shim: cwebp_encoding {
        cwebp_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            quality: CInt(quality), method: CInt(method), is_lossless: isLossless ? 1 : 0,
            near_lossless: CInt(nearLossless), alpha_quality: CInt(alphaQuality),
            sharp_yuv: sharpensChroma ? 1 : 0)
    }
}

/// An animated WebP being built with libwebpmux's encoder. Identical frames may be merged; their
/// total duration is kept.
public final class WebPAnimation {
    private let animation: OpaquePointer
    private let encoding: WebPEncoding

    /// The longest duration of an animation in milliseconds.
    public static let durationMax = Int(CInt.max)

    /// Starts an animation.
    ///
    /// - Parameters:
    ///   - encoding: the options for each frame; its size is that of all frames.
    ///   - plays: how often the animation is played, 0 to 65,535; 0 means endlessly.
    /// - Throws: `tooLarge`, `outOfMemory`, `internal` if an option is invalid.
    public init(_ encoding: WebPEncoding, plays: Int) throws(CodecError) {
        guard encoding.isPossible, (0...65_535).contains(plays) else {
            throw CodecError(kind: .internal, text: "invalid options for an animation")
        }
        guard encoding.width <= Self.sideMax, encoding.height <= Self.sideMax else {
            throw CodecError(kind: .tooLarge, text: "a side exceeds the limit")
        }
        guard let created = cwebp_animation_new(encoding.shim, CInt(plays)) else {
            throw CodecError(kind: .outOfMemory, text: "cannot start an animation")
        }
        (animation, self.encoding) = (created, encoding)
    }

    deinit { cwebp_animation_free(animation) }

    private static let sideMax = 16_383

    /// Encodes the next frame: straight-alpha RGBA, rows without gaps.
    ///
    /// - Parameter start: the milliseconds since the first frame, more than that of the previous
    ///   frame.
    /// - Throws: `cancelled`, `tooLarge`, `outOfMemory`, `internal`.
    public func add(
        _ pixels: UnsafeRawBufferPointer, from start: Int, isCancelled: () -> Bool
    ) throws(CodecError) {
        guard pixels.count == 4 * encoding.width * encoding.height,
            let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw CodecError(kind: .internal, text: "pixels have the wrong size") }
        var code: CInt = 0
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cwebp_animation_add(
                animation, base, CInt(clamping: 4 * encoding.width), CInt(clamping: start),
                cwebp_callbacks(sink: passToSink, stop: isCancelledCallback, context: context),
                &code)
        }
        guard status == CWEBP_OK else { throw CodecError(status, code: code) }
    }

    /// Delivers the file; no frames may be added afterwards.
    ///
    /// - Parameters:
    ///   - end: the end of the last frame in milliseconds.
    ///   - sink: consumes all bytes at once, or returns `false`.
    ///   - isCancelled: called on this thread while frames are re-encoded because all are
    ///     identical.
    /// - Throws: `refused`, `cancelled`, `outOfMemory`, `internal`.
    public func finish(
        at end: Int, to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(CodecError) {
        let status = CodecCallbacks.withContext(sink: sink, isCancelled: isCancelled) { context in
            cwebp_animation_finish(
                animation, CInt(clamping: end),
                cwebp_callbacks(sink: passToSink, stop: isCancelledCallback, context: context))
        }
        guard status == CWEBP_OK else { throw CodecError(status) }
    }
}

/// The metadata in a WebP container, handled by libwebpmux.
public enum WebPContainer {
    /// Adds metadata chunks to the image of a complete file. Empty arrays are omitted. The metadata
    /// isn't parsed.
    ///
    /// - Parameters:
    ///   - exif: EXIF starting with its TIFF header.
    ///   - sink: consumes all bytes at once, or returns `false`; called on this thread.
    /// - Throws: `refused`, `outOfMemory`, `internal` if `file` isn't a WebP.
    public static func embed(
        profile: [UInt8], exif: [UInt8], xmp: [UInt8], in file: UnsafeRawBufferPointer,
        to sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(CodecError) {
        let file = cwebp_bytes(
            bytes: file.baseAddress?.assumingMemoryBound(to: UInt8.self), count: file.count)
        let status = CodecCallbacks.withContext(sink: sink, isCancelled: { false }) { context in
            profile.withShim { profile in
                exif.withShim { exif in
                    xmp.withShim { xmp in
                        cwebp_enclose(file, profile, exif, xmp, passToSink, context)
                    }
                }
            }
        }
        guard status == CWEBP_OK else { throw CodecError(status) }
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cwebp_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cwebp_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}

/// Decodes the beginning of a WebP.
public struct WebPBeginning {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Whether pixels may be transparent.
    public let hasAlpha: Bool
    /// Whether it's an animation, which can't be decoded here.
    public let isAnimated: Bool
    private let bytes: UnsafeRawBufferPointer

    /// Reads the header.
    ///
    /// - Parameter bytes: the beginning of the file; must stay valid and unchanged.
    /// - Throws: `corrupt`, also for an incomplete header; `tooLarge` if more than 256 chunks
    ///   precede the pixels.
    public init(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
        var header = cwebp_header()
        let status = cwebp_read_header(Self.shim(bytes), &header)
        guard status != CWEBP_TOO_LARGE else {
            throw CodecError(kind: .tooLarge, text: "too many chunks before the pixels")
        }
        guard status == CWEBP_OK else { throw CodecError(status) }
        (width, height) = (Int(header.width), Int(header.height))
        (hasAlpha, isAnimated) = (header.has_alpha != 0, header.is_animated != 0)
        self.bytes = bytes
    }

    /// 3 for RGB, 4 for straight-alpha RGBA.
    public var bands: Int { hasAlpha ? 4 : 3 }

    /// Writes the rows that have arrived and leaves the others unchanged.
    ///
    /// - Parameters:
    ///   - pixels: exactly the size of the scaled image, without padding.
    ///   - width: the width of the scaled image, at most that of the file.
    ///   - height: the height of the scaled image.
    ///   - isCancelled: called on this thread every few rows, but rarely before the first one.
    /// - Returns: the number of rows written. Decoding ends at damaged data after them.
    /// - Throws: `corrupt`, also for an animation; `cancelled`, `outOfMemory`, `internal`.
    public func read(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int,
        isCancelled: () -> Bool
    ) throws(CodecError) -> Int {
        guard (1...self.width).contains(width), (1...self.height).contains(height),
            pixels.count == width * height * bands
        else { throw CodecError(kind: .internal, text: "the memory does not match the image") }
        guard !isAnimated else { throw CodecError(kind: .corrupt, text: "an animation") }
        let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let shim = Self.shim(bytes)
        var rows: CInt = 0
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cwebp_read_beginning(
                shim, CInt(width), CInt(height), CInt(bands), base, isCancelledCallback, context,
                &rows)
        }
        guard status == CWEBP_OK else { throw CodecError(status) }
        return Int(rows)
    }

    private static func shim(_ bytes: UnsafeRawBufferPointer) -> cwebp_bytes {
        cwebp_bytes(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

extension CodecError {
    init(_ status: cwebp_status, code: CInt = 0) {
        self.init(status: status.rawValue, text: "libwebp error \(code)")
    }
}

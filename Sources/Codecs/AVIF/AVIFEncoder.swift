internal import CAVIF
public import CodecSupport

/// Encodes images in memory as AVIF.
public enum AVIFEncoder {
    /// Encodes 8-bit YUV planes in BT.601, full range, with centered chroma, in place. Lossy only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V, or only Y. No alignment is required.
    ///   - sink: consumes all bytes at once, or returns `false` to end the encoding. Called on this
    ///     thread, once the image is encoded.
    ///   - isCancelled: called on this thread before and after the image is encoded: libaom can't
    ///     be interrupted in between.
    /// - Throws: `cancelled`, `refused`, `outOfMemory`, `internal` if a source is too small or the
    ///   encoding is lossless.
    public static func encode(
        planes sources: [SampleSource], as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(CodecError) {
        let areValid =
            encoding.isPossible && encoding.depth == 8 && !encoding.isLossless
            && encoding.chroma.fits(sources, encoding.width, encoding.height)
        guard areValid else {
            throw CodecError(kind: .internal, text: "planes have the wrong size")
        }
        let bases = sources.map { $0.base(UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            encoding.withShim { cavif_encode_planes($0, bases, strides, callbacks, &code) }
        }
    }

    /// Encodes interleaved RGB or straight-alpha RGBA, which libavif first converts to planes.
    /// Otherwise like the variant for planes.
    ///
    /// If the depth exceeds 8 bits, samples are 16 bits in native byte order.
    ///
    /// - Parameter bands: 3 or 4.
    /// - Returns: whether the file has alpha: it's omitted if every pixel is opaque.
    public static func encode(
        pixels source: SampleSource, bands: Int, as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(CodecError) -> Bool {
        let isValid =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(
                rowBytes: encoding.width * bands * (encoding.depth > 8 ? 2 : 1),
                height: encoding.height)
        guard isValid, let base = source.base(UInt8.self) else {
            throw CodecError(kind: .internal, text: "pixels have the wrong size")
        }
        let stride = CInt(clamping: source.stride)
        var hasAlpha: CInt = 0
        try run(sink, isCancelled) { callbacks, code in
            encoding.withShim {
                cavif_encode_pixels($0, base, stride, CInt(bands), callbacks, &hasAlpha, &code)
            }
        }
        return hasAlpha != 0
    }

    private static func run(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (cavif_callbacks, inout CInt) -> cavif_status
    ) throws(CodecError) {
        var code: CInt = 0
        let status = CodecCallbacks.withContext(sink: sink, isCancelled: isCancelled) { context in
            let callbacks = cavif_callbacks(
                sink: passToSink, stop: isCancelledCallback, context: context)
            return body(callbacks, &code)
        }
        guard status == CAVIF_OK else { throw CodecError(status, code: code) }
    }
}

/// The options for encoding pixels as AVIF with libaom on one thread. The colors are 8-bit sRGB
/// unless `depth`, `colors` or `profile` state otherwise.
public struct AVIFEncoding: Equatable, Sendable {
    /// The width in pixels, 1 to 65,536.
    public var width: Int
    /// The height in pixels, 1 to 65,536.
    public var height: Int
    /// The chroma subsampling: `gray`, `yuv420` or `yuv444`.
    public var chroma: PlaneSubsampling
    /// The quality, 0 to 100; see `quantizer(ofQuality:)`.
    public var quality: Int
    /// The quality of alpha, 0 to 100; 100 is lossless.
    public var alphaQuality: Int
    /// libavif's speed, 0 (slow and small) to 9 (fast).
    public var speed: Int
    /// Whether every pixel is preserved exactly; colors are then stored as RGB without subsampling.
    public var isLossless: Bool
    /// Bits per sample: 8, 10 or 12.
    public var depth = 8
    /// The colors as ITU-T H.273 code points; `nil` means sRGB. Not combinable with a profile.
    public var colors: Colors?
    /// The ICC profile; empty means sRGB. The encoder doesn't parse it.
    public var profile: [UInt8] = []
    /// EXIF starting with its TIFF header; empty means none.
    public var exif: [UInt8] = []
    /// An XMP packet; empty means none.
    public var xmp: [UInt8] = []

    /// Colors as ITU-T H.273 code points.
    public struct Colors: Sendable, Equatable {
        /// The color primaries: 1, 9 or 12.
        public var primaries: UInt8
        /// The transfer characteristics, such as 16 and 18.
        public var transfer: UInt8

        /// Creates colors from code points, which aren't checked.
        public init(primaries: UInt8, transfer: UInt8) {
            (self.primaries, self.transfer) = (primaries, transfer)
        }
    }

    /// Creates options; the default is lossy and fast enough for a server.
    public init(
        width: Int, height: Int, chroma: PlaneSubsampling, quality: Int, alphaQuality: Int = 100,
        speed: Int = 8, isLossless: Bool = false
    ) {
        self.width = width
        self.height = height
        self.chroma = chroma
        self.quality = quality
        self.alphaQuality = alphaQuality
        self.speed = speed
        self.isLossless = isLossless
    }

    /// Returns libaom's quantizer for a lossy quality: from 1 (finest) at 100 to 63 at 0, linearly
    /// interpolated and rounded. 0 would be lossless.
    public static func quantizer(ofQuality quality: Int) -> Int {
        1 + ((100 - quality) * 62 + 50) / 100
    }

    /// The largest side that AV1 supports.
    public static let sideMax = 65_536
    /// The fastest `speed`.
    public static let speedMax = 9

    var isPossible: Bool {
        (1...Self.sideMax).contains(width) && (1...Self.sideMax).contains(height)
            && (0...100).contains(quality) && (0...100).contains(alphaQuality)
            && (0...Self.speedMax).contains(speed) && [8, 10, 12].contains(depth)
            && [.gray, .yuv420, .yuv444].contains(chroma)
    }

    /// Calls `body` with the options for libavif, which are only valid during the call.
    func withShim<Result>(_ body: (cavif_encoding) -> Result) -> Result {
        profile.withShim { profile in
            exif.withShim { exif in
                xmp.withShim { xmp in body(shim(profile, exif, xmp)) }
            }
        }
    }

    private func shim(
        _ profile: cavif_bytes, _ exif: cavif_bytes, _ xmp: cavif_bytes
    ) -> cavif_encoding {
        cavif_encoding(
            width: CInt(width), height: CInt(height),
            chroma: isLossless ? CAVIF_444 : cavif_chroma(rawValue: chroma.rawValue),
            quantizer: isLossless ? 0 : CInt(Self.quantizer(ofQuality: quality)),
            alpha_quantizer: isLossless || alphaQuality == 100
                ? 0 : CInt(Self.quantizer(ofQuality: alphaQuality)),
            speed: CInt(speed), depth: CInt(depth), primaries: CInt(colors?.primaries ?? 0),
            transfer: CInt(colors?.transfer ?? 0), is_identity: isLossless ? 1 : 0,
            profile: profile, exif: exif, xmp: xmp)
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cavif_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cavif_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}

internal import CAVIF

/// Encodes images that lie in memory.
public enum AVIFEncoder {
    /// Encodes planes of YUV, 8 bits, BT.601, full range, chroma centred, where they lie. Lossy
    /// only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V, or Y alone. No alignment is asked for.
    ///   - sink: takes all bytes at once, or answers false, which ends the encoding; called on this
    ///     thread, once the image is encoded.
    ///   - isCancelled: asked on this thread before the image is encoded and after it: libaom
    ///     cannot be stopped on the way.
    /// - Throws: `cancelled`, `refused`, `outOfMemory`, `internal` where a source is too small or
    ///   the encoding is lossless.
    public static func encode(
        planes sources: [AVIFSource], as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(AVIFError) {
        let areFit =
            encoding.isPossible && encoding.depth == 8 && !encoding.isLossless
            && sources.count == encoding.planeCount
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(rowBytes: size.width, height: size.height)
            }
        guard areFit else { throw AVIFError(kind: .internal, text: "planes do not fit") }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            encoding.withShim { cavif_encode_planes($0, bases, strides, callbacks, &code) }
        }
    }

    /// Encodes interleaved RGB or RGBA (not premultiplied); libavif makes planes of them first.
    /// Otherwise as for planes.
    ///
    /// Where more than 8 bits are written, samples are of 16, in the machine's order.
    ///
    /// - Parameter bands: 3 or 4.
    /// - Returns: whether the file has alpha: it has none where every pixel is opaque.
    public static func encode(
        pixels source: AVIFSource, bands: Int, as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(AVIFError) -> Bool {
        let isFit =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(
                rowBytes: encoding.width * bands * (encoding.depth > 8 ? 2 : 1),
                height: encoding.height)
        guard isFit, let base = source.memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw AVIFError(kind: .internal, text: "pixels do not fit") }
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
    ) throws(AVIFError) {
        var code: CInt = 0
        let status = AVIFCallbacks.withContext(sink, isCancelled) { context in
            let callbacks = cavif_callbacks(
                sink: passToSink, stop: askWhetherCancelled, context: context)
            return body(callbacks, &code)
        }
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
    }
}

/// Where samples to be encoded lie.
public struct AVIFSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, less than 2 GB.
    public let stride: Int

    /// Memory that stays valid and unchanged while `AVIFEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(rowBytes: Int, height: Int) -> Bool {
        stride >= rowBytes && stride <= Int(CInt.max)
            && memory.count >= stride * (height - 1) + rowBytes
    }
}

/// How pixels become an AVIF: 8 bits, sRGB, by libaom on one thread; other colours
/// where a profile says so.
public struct AVIFEncoding: Equatable, Sendable {
    /// Which samples of colour there are.
    public enum Chroma: Sendable {
        /// None.
        case grey
        /// One for four pixels.
        case yuv420
        /// One for each.
        case yuv444
    }

    /// Columns, 1 to 65,536.
    public var width: Int
    /// Rows, 1 to 65,536.
    public var height: Int
    /// How many samples of colour are stored.
    public var chroma: Chroma
    /// 0 to 100; see `quantizer(ofQuality:)`.
    public var quality: Int
    /// The quality of alpha, 0 to 100; 100 loses nothing.
    public var alphaQuality: Int
    /// libavif's: 0 slow and small to 9 fast.
    public var speed: Int
    /// Whether every pixel comes back as it was; colours are stored as RGB then, one for each
    /// pixel.
    public var isLossless: Bool
    /// Bits of a sample: 8, 10 or 12.
    public var depth = 8
    /// By the numbers of ITU-T H.273; `nil`: sRGB. Not beside a profile.
    public var colours: Colours?
    /// The ICC profile of the colours; empty: sRGB. The encoder does not read it.
    public var profile: [UInt8] = []
    /// EXIF from the header of its TIFF on; empty: none.
    public var exif: [UInt8] = []
    /// An XMP packet; empty: none.
    public var xmp: [UInt8] = []

    /// Colours by their numbers.
    public struct Colours: Sendable, Equatable {
        /// Of the chromaticities: 1, 9 or 12.
        public var primaries: UInt8
        /// Of the curve, such as 16 and 18.
        public var transfer: UInt8

        /// Names colours.
        public init(primaries: UInt8, transfer: UInt8) {
            (self.primaries, self.transfer) = (primaries, transfer)
        }
    }

    /// Lossy, and as fast as a server wants it, unless told otherwise.
    public init(
        width: Int, height: Int, chroma: Chroma, quality: Int, alphaQuality: Int = 100,
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

    /// libaom's quantizer of a quality with loss: 1, the finest, at 100 to 63 at 0, linear between
    /// them and rounded. 0 would be without loss.
    public static func quantizer(ofQuality quality: Int) -> Int {
        1 + ((100 - quality) * 62 + 50) / 100
    }

    /// Planes that are encoded: 1 or 3.
    public var planeCount: Int { chroma == .grey ? 1 : 3 }

    /// Columns and rows of Y, of U or of V: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        index == 0 || chroma != .yuv420
            ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    }

    /// The largest side that AV1 has.
    public static let sideMax = 65_536
    /// The fastest `speed`.
    public static let speedMax = 9

    var isPossible: Bool {
        (1...Self.sideMax).contains(width) && (1...Self.sideMax).contains(height)
            && (0...100).contains(quality) && (0...100).contains(alphaQuality)
            && (0...Self.speedMax).contains(speed) && [8, 10, 12].contains(depth)
    }

    /// Runs `body` with what libavif is told, which is valid for that call only.
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
            chroma: isLossless ? CAVIF_444 : chroma.shim,
            quantizer: isLossless ? 0 : CInt(Self.quantizer(ofQuality: quality)),
            alpha_quantizer: isLossless || alphaQuality == 100
                ? 0 : CInt(Self.quantizer(ofQuality: alphaQuality)),
            speed: CInt(speed), depth: CInt(depth), primaries: CInt(colours?.primaries ?? 0),
            transfer: CInt(colours?.transfer ?? 0), is_identity: isLossless ? 1 : 0,
            profile: profile, exif: exif, xmp: xmp)
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cavif_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cavif_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}

extension AVIFEncoding.Chroma {
    fileprivate var shim: cavif_chroma {
        switch self {
        case .grey: CAVIF_GREY
        case .yuv420: CAVIF_420
        case .yuv444: CAVIF_444
        }
    }
}

/// What C callbacks can carry in place of two closures, for the time of one encoding.
struct AVIFCallbacks {
    let sink: (UnsafeRawBufferPointer) -> Bool
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(sink) { sink in
            withoutActuallyEscaping(isCancelled) { isCancelled in
                var callbacks = AVIFCallbacks(sink: sink, isCancelled: isCancelled)
                return withUnsafeMutablePointer(to: &callbacks) {
                    body(UnsafeMutableRawPointer($0))
                }
            }
        }
    }
}

func passToSink(
    context: UnsafeMutableRawPointer?, bytes: UnsafePointer<UInt8>?, count: Int
) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libavif has returned.
    let callbacks = context.assumingMemoryBound(to: AVIFCallbacks.self)
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    return callbacks.pointee.sink(bytes) ? 1 : 0
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    return context.assumingMemoryBound(to: AVIFCallbacks.self).pointee.isCancelled() ? 1 : 0
}

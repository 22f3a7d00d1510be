internal import CWebP

/// Encodes images that lie in memory.
public enum WebPEncoder {
    /// Encodes planes of YUV 4:2:0, BT.601, limited range (16 to 235, chroma to 240), chroma
    /// centred: what libwebp works on itself, so nothing is copied or converted. Lossy only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V; U and V have the same stride. No alignment is asked for.
    ///   - sink: takes all bytes it is given, in order, or answers false, which ends the encoding;
    ///     called on this thread, mostly once the image is encoded.
    ///   - isCancelled: asked on this thread, about once for every percent of the work.
    /// - Throws: `tooLarge`, `cancelled`, `refused`, `outOfMemory`, `internal` where a source is
    ///   too small or the encoding is lossless.
    public static func encode(
        planes sources: [WebPSource], as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let areFit =
            encoding.isPossible && !encoding.isLossless && sources.count == 3
            && sources[1].stride == sources[2].stride
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(rowBytes: size.width, height: size.height)
            }
        guard areFit else { throw WebPError(kind: .internal, text: "planes do not fit") }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_planes(encoding.shim, bases, strides, callbacks, &code)
        }
    }

    /// Encodes interleaved RGB or RGBA (not premultiplied); libwebp makes its own copy of all
    /// pixels. Otherwise as for planes.
    ///
    /// - Parameter bands: 3 or 4.
    public static func encode(
        pixels source: WebPSource, bands: Int, as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let isFit =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(rowBytes: encoding.width * bands, height: encoding.height)
        guard isFit, let base = source.memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw WebPError(kind: .internal, text: "pixels do not fit") }
        let stride = CInt(clamping: source.stride)
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_pixels(encoding.shim, base, stride, CInt(bands), callbacks, &code)
        }
    }

    private static func run(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (cwebp_callbacks, inout CInt) -> cwebp_status
    ) throws(WebPError) {
        var code: CInt = 0
        let status = WebPCallbacks.withContext(sink, isCancelled) { context in
            let callbacks = cwebp_callbacks(
                sink: passToSink, stop: askWhetherCancelled, context: context)
            return body(callbacks, &code)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: code) }
    }
}

/// Where samples to be encoded lie.
public struct WebPSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, less than 2 GB.
    public let stride: Int

    /// Memory that stays valid and unchanged while `WebPEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(rowBytes: Int, height: Int) -> Bool {
        stride >= rowBytes && stride <= Int(CInt.max)
            && memory.count >= stride * (height - 1) + rowBytes
    }
}

/// How pixels become a WebP. Nothing goes beside them: no EXIF, no profile.
public struct WebPEncoding: Equatable, Sendable {
    /// Columns, 1 to 16,383.
    public var width: Int
    /// Rows, 1 to 16,383.
    public var height: Int
    /// 0 to 100; of a lossless image, how much is tried to make it small.
    public var quality: Int
    /// 0, the fastest, to 6, the smallest: what libvips calls effort.
    public var method: Int
    /// Whether every pixel that can be seen comes back as it was.
    public var isLossless: Bool
    /// Of a lossless image: how little pixels may be changed before, 0 to 100; 100 changes none.
    public var nearLossless: Int
    /// Of a lossy one: the quality of alpha, 0 to 100; 100 loses nothing.
    public var alphaQuality: Int
    /// Of lossy pixels: whether chroma is made with an eye on sharp edges, which takes longer.
    public var sharpensChroma: Bool

    /// Lossy at libvips' effort, unless told otherwise.
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

    /// Columns and rows of Y, of U or of V: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        index == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
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

/// One animated WebP in the making, by libwebpmux's encoder. Frames that are the same may become
/// one; the time that they are shown stays.
public final class WebPAnimation {
    private let animation: OpaquePointer
    private let encoding: WebPEncoding

    /// Milliseconds of a whole animation at most.
    public static let durationMax = Int(CInt.max)

    /// - Parameters:
    ///   - encoding: how each frame becomes a WebP; its size is that of all.
    ///   - plays: how often all frames are shown, 0 to 65,535; 0: without end.
    /// - Throws: `tooLarge`, `outOfMemory`, `internal` where options are none.
    public init(_ encoding: WebPEncoding, plays: Int) throws(WebPError) {
        guard encoding.isPossible, (0...65_535).contains(plays) else {
            throw WebPError(kind: .internal, text: "an animation has impossible options")
        }
        guard encoding.width <= Self.sideMax, encoding.height <= Self.sideMax else {
            throw WebPError(kind: .tooLarge, text: "a side is too long")
        }
        guard let made = cwebp_animation_new(encoding.shim, CInt(plays)) else {
            throw WebPError(kind: .outOfMemory, text: "no animation begins")
        }
        (animation, self.encoding) = (made, encoding)
    }

    deinit { cwebp_animation_free(animation) }

    private static let sideMax = 16_383

    /// Encodes the next frame: RGBA, not premultiplied, rows without gaps.
    ///
    /// - Parameter start: milliseconds from the first frame on, more than that of the one before.
    /// - Throws: `cancelled`, `tooLarge`, `outOfMemory`, `internal`.
    public func add(
        _ pixels: UnsafeRawBufferPointer, from start: Int, isCancelled: () -> Bool
    ) throws(WebPError) {
        guard pixels.count == 4 * encoding.width * encoding.height,
            let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw WebPError(kind: .internal, text: "pixels do not fit") }
        var code: CInt = 0
        let status = WebPCallbacks.withContext({ _ in true }, isCancelled) { context in
            cwebp_animation_add(
                animation, base, CInt(clamping: 4 * encoding.width), CInt(clamping: start),
                cwebp_callbacks(sink: passToSink, stop: askWhetherCancelled, context: context),
                &code)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: code) }
    }

    /// Hands over the file; nothing may be added afterwards.
    ///
    /// - Parameters:
    ///   - end: when the last frame ends, in milliseconds.
    ///   - sink: takes all bytes at once, or answers false.
    ///   - isCancelled: asked on this thread where frames that are all the same are encoded anew.
    /// - Throws: `refused`, `cancelled`, `outOfMemory`, `internal`.
    public func finish(
        at end: Int, to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let status = WebPCallbacks.withContext(sink, isCancelled) { context in
            cwebp_animation_finish(
                animation, CInt(clamping: end),
                cwebp_callbacks(sink: passToSink, stop: askWhetherCancelled, context: context))
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
    }
}

/// What goes beside the image in a WebP, by libwebpmux.
public enum WebPContainer {
    /// The image of a finished file with these chunks beside it; empty ones are none. Nobody reads
    /// what they say.
    ///
    /// - Parameters:
    ///   - exif: from the header of its TIFF on.
    ///   - sink: takes all bytes at once, or answers false; called on this thread.
    /// - Throws: `refused`, `outOfMemory`, `internal` where `file` is no WebP.
    public static func enclose(
        profile: [UInt8], exif: [UInt8], xmp: [UInt8], in file: UnsafeRawBufferPointer,
        to sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(WebPError) {
        let file = cwebp_bytes(
            bytes: file.baseAddress?.assumingMemoryBound(to: UInt8.self), count: file.count)
        let status = WebPCallbacks.withContext(sink, { false }) { context in
            profile.withShim { profile in
                exif.withShim { exif in
                    xmp.withShim { xmp in
                        cwebp_enclose(file, profile, exif, xmp, passToSink, context)
                    }
                }
            }
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cwebp_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cwebp_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}

/// What C callbacks can carry in place of two closures, for the time of one encoding.
struct WebPCallbacks {
    let sink: (UnsafeRawBufferPointer) -> Bool
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(sink) { sink in
            withoutActuallyEscaping(isCancelled) { isCancelled in
                var callbacks = WebPCallbacks(sink: sink, isCancelled: isCancelled)
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
    // `withContext` keeps it where it is until libwebp has returned.
    let callbacks = context.assumingMemoryBound(to: WebPCallbacks.self)
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    return callbacks.pointee.sink(bytes) ? 1 : 0
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    return context.assumingMemoryBound(to: WebPCallbacks.self).pointee.isCancelled() ? 1 : 0
}

/// Reads the first bytes of a WebP into pixels.
public struct WebPBeginning {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Whether some pixels may be transparent.
    public let hasAlpha: Bool
    /// Whether it has frames: then no pixels are made of it.
    public let isAnimated: Bool
    private let bytes: UnsafeRawBufferPointer

    /// Reads the header.
    ///
    /// - Parameter bytes: the file from its start on; must stay valid and unchanged.
    /// - Throws: `corrupt`, also for a header that is not there as a whole; `tooLarge` where more
    ///   than 256 chunks stand in front of the pixels.
    public init(_ bytes: UnsafeRawBufferPointer) throws(WebPError) {
        var header = cwebp_header()
        let status = cwebp_read_header(Self.shim(bytes), &header)
        guard status != CWEBP_TOO_LARGE else {
            throw WebPError(kind: .tooLarge, text: "too many chunks in front of the pixels")
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
        (width, height) = (Int(header.width), Int(header.height))
        (hasAlpha, isAnimated) = (header.has_alpha != 0, header.is_animated != 0)
        self.bytes = bytes
    }

    /// 3 RGB, or 4 RGB and alpha, not premultiplied.
    public var bands: Int { hasAlpha ? 4 : 3 }

    /// Writes the rows that have arrived and leaves the others as they are.
    ///
    /// - Parameters:
    ///   - pixels: of the scaled image, without padding, exactly as large as it is.
    ///   - width: columns of the scaled image, at most those of the file.
    ///   - height: rows of it.
    ///   - isCancelled: asked on this thread every few rows, and seldom in front of the first one.
    /// - Returns: how many rows were written. Damage behind them ends the reading.
    /// - Throws: `corrupt`, also for an animation; `cancelled`, `outOfMemory`, `internal`.
    public func read(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int,
        isCancelled: () -> Bool
    ) throws(WebPError) -> Int {
        guard (1...self.width).contains(width), (1...self.height).contains(height),
            pixels.count == width * height * bands
        else { throw WebPError(kind: .internal, text: "the memory does not fit the image") }
        guard !isAnimated else { throw WebPError(kind: .corrupt, text: "an animation") }
        let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let shim = Self.shim(bytes)
        var rows: CInt = 0
        let status = WebPCallbacks.withContext({ _ in true }, isCancelled) { context in
            cwebp_read_beginning(
                shim, CInt(width), CInt(height), CInt(bands), base, askWhetherCancelled, context,
                &rows)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
        return Int(rows)
    }

    private static func shim(_ bytes: UnsafeRawBufferPointer) -> cwebp_bytes {
        cwebp_bytes(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

/// Why libwebp made no image.
public struct WebPError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// A side is longer than 16,383 pixels, or a part of the result than the format permits; or
        /// a file has more chunks in front of its pixels than are looked at.
        case tooLarge
        /// The cancellation closure answered true.
        case cancelled
        /// The sink refused bytes.
        case refused
        /// There is no memory.
        case outOfMemory
        /// A fault of ours: wrong sizes or options.
        case `internal`
        /// The bytes are damaged, cut off within the header, or no WebP of the kind that is read.
        case corrupt
    }

    /// What a caller decides by.
    public let kind: Kind
    /// For the log, not for a client: libwebp has numbers only (`WebPEncodingError`).
    public let text: String

    /// `tooLarge: libwebp error 5`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ status: cwebp_status, code: CInt) {
        kind = Kind(status)
        text = "libwebp error \(code)"
    }
}

extension WebPError.Kind {
    fileprivate init(_ status: cwebp_status) {
        self =
            switch status {
            case CWEBP_TOO_LARGE: .tooLarge
            case CWEBP_STOPPED: .cancelled
            case CWEBP_REFUSED: .refused
            case CWEBP_NO_MEMORY: .outOfMemory
            case CWEBP_CORRUPT: .corrupt
            default: .internal
            }
    }
}

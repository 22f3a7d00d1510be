internal import CJPEG
public import CodecSupport

/// The options for encoding planes as JPEG. Only a JFIF header is written: no EXIF, no profile.
public struct JPEGEncoding: Equatable, Sendable {
    /// The chroma subsampling.
    public enum Subsampling: Sendable {
        /// Luma only.
        case gray
        /// Full-size chroma.
        case yuv444
        /// Half of the columns.
        case yuv422
        /// Half of the rows.
        case yuv440
        /// Half of both.
        case yuv420
    }

    /// The number of luma columns, 1 to 65,500.
    public var width: Int
    /// The number of luma rows, 1 to 65,500.
    public var height: Int
    /// The planes and their subsampling.
    public var subsampling: Subsampling
    /// The quality on libjpeg's scale, 1 to 100.
    public var quality: Int
    /// Whether to write a progressive file, which requires all coefficients in memory.
    public var isProgressive: Bool
    /// Whether to compute Huffman tables for this image, which saves a few percent of the bytes but
    /// needs a second pass. A progressive file always does so.
    public var optimizesCoding: Bool

    /// Creates options; the default is baseline with the standard's Huffman tables.
    public init(
        width: Int, height: Int, subsampling: Subsampling, quality: Int,
        isProgressive: Bool = false, optimizesCoding: Bool = false
    ) {
        self.width = width
        self.height = height
        self.subsampling = subsampling
        self.quality = quality
        self.isProgressive = isProgressive
        self.optimizesCoding = optimizesCoding
    }

    /// The number of planes, 1 or 3.
    public var planeCount: Int { subsampling == .gray ? 1 : 3 }

    /// Returns the columns and rows of a plane. Halves of odd numbers are rounded up.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0 else { return (width, height) }
        let factors = subsampling.factors
        return (
            (width + factors.horizontal - 1) / factors.horizontal,
            (height + factors.vertical - 1) / factors.vertical
        )
    }
}

extension JPEGEncoding.Subsampling {
    /// The number of luma samples per chroma sample.
    var factors: (horizontal: Int, vertical: Int) {
        switch self {
        case .gray, .yuv444: (1, 1)
        case .yuv422: (2, 1)
        case .yuv440: (1, 2)
        case .yuv420: (2, 2)
        }
    }
}

/// Encodes sample planes, full range with centered chroma, as produced by `JPEGPlaneDecoder`.
public enum JPEGPlaneEncoder {
    /// Encodes one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of `encoding`. No padding or alignment is required. Rows
    ///     whose length is a multiple of 8 columns are read in place, others through a copy of 16
    ///     rows.
    ///   - next: returns memory for at least that many more bytes, or `nil` to end the encoding.
    ///     Called on this thread, when the memory returned before is full. The caller keeps
    ///     ownership.
    ///   - isCancelled: called on this thread for every row of MCUs in each pass.
    /// - Returns: the number of bytes written to all memory that `next` returned.
    /// - Throws: `refused` if `next` returned `nil`, `cancelled`, `outOfMemory`, `unsupported` if
    ///   the image is too large, `internal` if a source is too small.
    public static func encode(
        _ sources: [SampleSource], as encoding: JPEGEncoding,
        into next: (_ minimum: Int) -> UnsafeMutableRawBufferPointer?, isCancelled: () -> Bool
    ) throws(CodecError) -> Int {
        try check(sources, encoding)
        let bases = sources.map { $0.base(UInt8.self) }
        let strides = sources.map(\.stride)
        var written = 0
        var failure = cjpeg_failure()
        let status = CodecCallbacks.withContext(next: next, isCancelled: isCancelled) { context in
            cjpeg_encode(
                encoding.shim, bases, strides, nextSinkBuffer, isCancelledCallback, context,
                &written, &failure)
        }
        guard status == CJPEG_OK else { throw CodecError(failure) }
        return written
    }

    private static func check(
        _ sources: [SampleSource], _ encoding: JPEGEncoding
    ) throws(CodecError) {
        guard encoding.width > 0, encoding.height > 0, (1...100).contains(encoding.quality) else {
            throw CodecError(kind: .internal, text: "unsupported encoding")
        }
        let areValid =
            sources.count == encoding.planeCount
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(rowBytes: size.width, height: size.height)
            }
        guard areValid else {
            throw CodecError(kind: .internal, text: "sources have the wrong size")
        }
    }
}

extension JPEGEncoding {
    fileprivate var shim: cjpeg_encoding {
        let factors = subsampling.factors
        return cjpeg_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            components: CInt(planeCount), horizontal: CInt(factors.horizontal),
            vertical: CInt(factors.vertical), quality: CInt(clamping: quality),
            is_progressive: isProgressive ? 1 : 0, optimises_coding: optimizesCoding ? 1 : 0)
    }
}

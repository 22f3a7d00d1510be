internal import CJPEG
public import CodecSupport

/// The options for encoding planes as JPEG. Only a JFIF header is written: no EXIF, no profile.
public struct JPEGEncoding: Equatable, Sendable {
    /// The number of luma columns, 1 to 65,500.
    public var width: Int
    /// The number of luma rows, 1 to 65,500.
    public var height: Int
    /// The planes and their subsampling.
    public var subsampling: PlaneSubsampling
    /// The quality on libjpeg's scale, 1 to 100.
    public var quality: Int
    /// Whether to write a progressive file, which requires all coefficients in memory.
    public var isProgressive: Bool
    /// Whether to compute Huffman tables for this image, which saves a few percent of the bytes but
    /// needs a second pass. A progressive file always does so.
    public var optimizesCoding: Bool

    /// Creates options; the default is baseline with the standard's Huffman tables.
    public init(
        width: Int, height: Int, subsampling: PlaneSubsampling, quality: Int,
        isProgressive: Bool = false, optimizesCoding: Bool = false
    ) {
        self.width = width
        self.height = height
        self.subsampling = subsampling
        self.quality = quality
        self.isProgressive = isProgressive
        self.optimizesCoding = optimizesCoding
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
        guard encoding.subsampling.fits(sources, encoding.width, encoding.height) else {
            throw CodecError(kind: .internal, text: "sources have the wrong size")
        }
    }
}

extension JPEGEncoding {
    fileprivate var shim: cjpeg_encoding {
        cjpeg_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            components: CInt(subsampling.planeCount),
            horizontal: 1 << CInt(subsampling.horizontalLog2),
            vertical: 1 << CInt(subsampling.verticalLog2), quality: CInt(clamping: quality),
            is_progressive: isProgressive ? 1 : 0, optimises_coding: optimizesCoding ? 1 : 0)
    }
}

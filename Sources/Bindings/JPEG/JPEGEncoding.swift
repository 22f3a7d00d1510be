internal import CJPEG

/// How planes become a JPEG. Nothing but a JFIF header goes before them: no EXIF, no profile.
public struct JPEGEncoding: Equatable, Sendable {
    /// How much smaller than luma the planes of chroma are.
    public enum Subsampling: Sendable {
        /// One plane, no colours.
        case grey
        /// As large.
        case yuv444
        /// Half of the columns.
        case yuv422
        /// Half of the rows.
        case yuv440
        /// Half of both.
        case yuv420
    }

    /// Columns of luma, 1 to 65,500.
    public var width: Int
    /// Rows of luma, 1 to 65,500.
    public var height: Int
    /// Which planes there are.
    public var subsampling: Subsampling
    /// 1 to 100, libjpeg's scale.
    public var quality: Int
    /// Whether a rough image comes first; all coefficients are held in memory then.
    public var isProgressive: Bool
    /// Whether the Huffman tables are made for this image: some percent fewer bytes for a second
    /// pass. A progressive one always has its own.
    public var optimisesCoding: Bool

    /// Baseline with the standard's Huffman tables, unless told otherwise.
    public init(
        width: Int, height: Int, subsampling: Subsampling, quality: Int,
        isProgressive: Bool = false, optimisesCoding: Bool = false
    ) {
        self.width = width
        self.height = height
        self.subsampling = subsampling
        self.quality = quality
        self.isProgressive = isProgressive
        self.optimisesCoding = optimisesCoding
    }

    /// 1 or 3.
    public var planeCount: Int { subsampling == .grey ? 1 : 3 }

    /// Columns and rows of one plane: of half of an odd number, the larger half.
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
    /// Samples of luma for each of chroma.
    var factors: (horizontal: Int, vertical: Int) {
        switch self {
        case .grey, .yuv444: (1, 1)
        case .yuv422: (2, 1)
        case .yuv440: (1, 2)
        case .yuv420: (2, 2)
        }
    }
}

/// Encodes planes of samples, full range, chroma centred: what `JPEGPlaneDecoder` gives.
public enum JPEGPlaneEncoder {
    /// Encodes one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of `encoding`. No padding or alignment is asked for; rows of
    ///     a multiple of 8 columns are read where they lie, others through a copy of 16 rows.
    ///   - next: gives memory for at least that many more bytes, or nil to end the encoding. It is
    ///     called on this thread; what it gave before is full by then, and stays the caller's.
    ///   - isCancelled: asked on this thread on every row of MCUs, of each pass.
    /// - Returns: how many bytes were written into all the memory that `next` gave.
    /// - Throws: `refused` where `next` gave none, `cancelled`, `outOfMemory`, `unsupported` where
    ///   the image is too large, `internal` where a source is too small.
    public static func encode(
        _ sources: [JPEGPlaneSource], as encoding: JPEGEncoding,
        into next: (_ minimum: Int) -> UnsafeMutableRawBufferPointer?, isCancelled: () -> Bool
    ) throws(JPEGError) -> Int {
        try check(sources, encoding)
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map(\.stride)
        var written = 0
        var failure = cjpeg_failure()
        let status = JPEGSink.withContext(next, isCancelled) { context in
            cjpeg_encode(
                encoding.shim, bases, strides, takeFromSink, askSinkWhetherCancelled, context,
                &written, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        return written
    }

    private static func check(
        _ sources: [JPEGPlaneSource], _ encoding: JPEGEncoding
    ) throws(JPEGError) {
        guard encoding.width > 0, encoding.height > 0, (1...100).contains(encoding.quality) else {
            throw JPEGError(kind: .internal, text: "no such encoding")
        }
        let areFit =
            sources.count == encoding.planeCount
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(width: size.width, height: size.height)
            }
        guard areFit else { throw JPEGError(kind: .internal, text: "sources do not fit") }
    }
}

/// Where a plane to be encoded lies.
public struct JPEGPlaneSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next.
    public let stride: Int

    /// Memory that stays valid and unchanged while `JPEGPlaneEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(width: Int, height: Int) -> Bool {
        stride >= width && memory.count >= stride * (height - 1) + width
    }
}

extension JPEGEncoding {
    fileprivate var shim: cjpeg_encoding {
        let factors = subsampling.factors
        return cjpeg_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            components: CInt(planeCount), horizontal: CInt(factors.horizontal),
            vertical: CInt(factors.vertical), quality: CInt(clamping: quality),
            is_progressive: isProgressive ? 1 : 0, optimises_coding: optimisesCoding ? 1 : 0)
    }
}

/// What C callbacks can carry in place of two closures, for the time of one encoding.
struct JPEGSink {
    let next: (Int) -> UnsafeMutableRawBufferPointer?
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ next: (Int) -> UnsafeMutableRawBufferPointer?, _ isCancelled: () -> Bool,
        _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(next) { next in
            withoutActuallyEscaping(isCancelled) { isCancelled in
                var sink = JPEGSink(next: next, isCancelled: isCancelled)
                return withUnsafeMutablePointer(to: &sink) { body(UnsafeMutableRawPointer($0)) }
            }
        }
    }
}

func askSinkWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libjpeg has returned.
    return context.assumingMemoryBound(to: JPEGSink.self).pointee.isCancelled() ? 1 : 0
}

func takeFromSink(
    context: UnsafeMutableRawPointer?, minimum: Int, count: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    guard let context, let count else { return nil }
    let sink = context.assumingMemoryBound(to: JPEGSink.self)
    guard let memory = sink.pointee.next(minimum) else { return nil }
    count.pointee = memory.count
    return memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
}

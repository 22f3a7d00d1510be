internal import CZimg

/// One image in planes, as a graph takes or gives it.
public struct ZimgFormat: Hashable, Sendable {
    /// How the planes make colours, in the order of the planes.
    public enum Planes: Hashable, Sendable {
        /// One plane.
        case grey
        /// R, G, B.
        case rgb
        /// Y, Cb, Cr.
        case yCbCr(ZimgSubsampling)
    }

    /// How Y, Cb and Cr are made of red, green and blue.
    public enum Matrix: Hashable, Sendable {
        /// As in JFIF.
        case bt601
        /// As in HDTV.
        case bt709
    }

    /// Which numbers black and white have.
    public enum Range: Hashable, Sendable {
        /// 0 to 255, chroma around 128: JPEG, PNG.
        case full
        /// 16 to 235, chroma 16 to 240: WebP.
        case limited
    }

    /// The size of a sample.
    public enum Depth: Int, Hashable, Sendable {
        /// 0 to 255.
        case eight = 1
        /// 0 to 65,535, in the machine's order.
        case sixteen = 2

        /// Bytes of a sample.
        public var bytes: Int { rawValue }
    }

    /// Columns of the first plane.
    public var width: Int
    /// Rows of the first plane.
    public var height: Int
    /// The planes.
    public var planes: Planes
    /// Of Y, Cb and Cr; of no effect on other planes.
    public var matrix: Matrix
    /// The range of all planes.
    public var range: Range
    /// The size of all samples.
    public var depth: Depth
    /// What of the first plane is image; nil is all. Only of what a graph takes.
    public var region: ZimgRegion?

    /// A format; a graph refuses what zimg cannot do.
    ///
    /// Width and height must be divisible by the subsampling. Of an image that is not, describe
    /// one that is a column or row larger: the source has such a column where its planes are
    /// padded, and `region` says where the image ends; the target gets a column too many, whose
    /// source is found by enlarging `region` in the same proportion (it may lie beyond the source).
    public init(
        width: Int, height: Int, planes: Planes, matrix: Matrix = .bt601, range: Range = .full,
        depth: Depth = .eight, region: ZimgRegion? = nil
    ) {
        self.width = width
        self.height = height
        self.planes = planes
        self.matrix = matrix
        self.range = range
        self.depth = depth
        self.region = region
    }

    /// 1 or 3.
    public var planeCount: Int { planes == .grey ? 1 : 3 }

    /// Columns and rows of one plane.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0, case .yCbCr(let subsampling) = planes else { return (width, height) }
        return (width >> subsampling.horizontalLog2, height >> subsampling.verticalLog2)
    }
}

/// How much smaller the planes of chroma are than that of luma.
public struct ZimgSubsampling: Hashable, Sendable {
    /// Where a sample of chroma lies among its samples of luma.
    public enum Siting: Hashable, Sendable {
        /// In their middle: JPEG, WebP.
        case centre
        /// Beside the left of them, vertically in the middle: MPEG-2.
        case left
        /// With the first of them: BT.2020.
        case topLeft
    }

    /// Base 2 logarithm of the columns of luma for each of chroma: 0 to 2.
    public let horizontalLog2: Int
    /// The same for rows.
    public let verticalLog2: Int
    /// Where chroma lies; of no effect in a direction without subsampling.
    public let siting: Siting

    /// No chroma is left out.
    public static let yuv444 = ZimgSubsampling(horizontalLog2: 0, verticalLog2: 0)
    /// Half of the columns.
    public static let yuv422 = ZimgSubsampling(horizontalLog2: 1, verticalLog2: 0)
    /// Half of the rows.
    public static let yuv440 = ZimgSubsampling(horizontalLog2: 0, verticalLog2: 1)
    /// Half of both.
    public static let yuv420 = ZimgSubsampling(horizontalLog2: 1, verticalLog2: 1)
    /// A quarter of the columns.
    public static let yuv411 = ZimgSubsampling(horizontalLog2: 2, verticalLog2: 0)

    /// Any other.
    public init(horizontalLog2: Int, verticalLog2: Int, siting: Siting = .centre) {
        self.horizontalLog2 = horizontalLog2
        self.verticalLog2 = verticalLog2
        self.siting = siting
    }
}

/// A rectangle in fractions of a sample of the first plane. It may reach beyond the plane, whose
/// edge is then repeated.
public struct ZimgRegion: Hashable, Sendable {
    /// From the left edge of the first column.
    public let left: Double
    /// From the upper edge of the first row.
    public let top: Double
    /// More than 0.
    public let width: Double
    /// More than 0.
    public let height: Double

    /// A rectangle.
    public init(left: Double = 0, top: Double = 0, width: Double, height: Double) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    var isFinite: Bool {
        left.isFinite && top.isFinite && width.isFinite && height.isFinite
    }
}

/// All that a graph depends on: the key under which it can be kept.
public struct ZimgConversion: Hashable, Sendable {
    /// What goes in.
    public var source: ZimgFormat
    /// What comes out; its `region` must be nil.
    public var target: ZimgFormat
    /// For the first plane, and for all of RGB.
    public var filter: ZimgFilter
    /// For chroma.
    public var chromaFilter: ZimgFilter

    /// A conversion; where both sizes are the same, nothing is resampled.
    public init(
        from source: ZimgFormat, to target: ZimgFormat, filter: ZimgFilter = .lanczos3,
        chromaFilter: ZimgFilter? = nil
    ) {
        self.source = source
        self.target = target
        self.filter = filter
        self.chromaFilter = chromaFilter ?? filter
    }
}

/// How samples are made from their neighbours. All but `point` become wider as they reduce, so that
/// nothing is skipped.
public enum ZimgFilter: Hashable, Sendable {
    /// The nearest sample.
    case point
    /// A triangle.
    case bilinear
    /// Mitchell and Netravali's family: (0, 0.5) is Catmull-Rom, (1/3, 1/3) Mitchell.
    case bicubic(b: Double, c: Double)
    /// Lanczos with 3 lobes.
    case lanczos3
}

extension ZimgFormat {
    var shim: czimg_format {
        var format = czimg_format()
        format.width = UInt32(clamping: width)
        format.height = UInt32(clamping: height)
        format.family = planes.family
        if case .yCbCr(let subsampling) = planes {
            format.horizontal_log2 = UInt32(clamping: subsampling.horizontalLog2)
            format.vertical_log2 = UInt32(clamping: subsampling.verticalLog2)
            format.siting = subsampling.siting.shim
            format.matrix = matrix == .bt709 ? CZIMG_BT709 : CZIMG_BT601
        }
        format.is_limited = range == .limited ? 1 : 0
        format.bytes = UInt32(depth.bytes)
        format.left = region?.left ?? 0
        format.top = region?.top ?? 0
        format.active_width = region?.width ?? Double(width)
        format.active_height = region?.height ?? Double(height)
        return format
    }
}

extension ZimgFormat.Planes {
    fileprivate var family: czimg_family {
        switch self {
        case .grey: CZIMG_GREY
        case .rgb: CZIMG_RGB
        case .yCbCr: CZIMG_YCBCR
        }
    }
}

extension ZimgSubsampling.Siting {
    fileprivate var shim: czimg_siting {
        switch self {
        case .centre: CZIMG_SITED_CENTRE
        case .left: CZIMG_SITED_LEFT
        case .topLeft: CZIMG_SITED_TOP_LEFT
        }
    }
}

extension ZimgFilter {
    var shim: czimg_resampling {
        switch self {
        case .point: czimg_resampling(filter: CZIMG_POINT, a: 0, b: 0)
        case .bilinear: czimg_resampling(filter: CZIMG_BILINEAR, a: 0, b: 0)
        case .bicubic(let b, let c): czimg_resampling(filter: CZIMG_BICUBIC, a: b, b: c)
        case .lanczos3: czimg_resampling(filter: CZIMG_LANCZOS, a: 3, b: 0)
        }
    }
}

/// A conversion made ready: filter coefficients, and scratch memory.
///
/// Building takes 0.5 to 3 ms, often more than using it: keep it, or ask `ZimgGraphCache`. One
/// thread at a time.
public struct ZimgGraph: ~Copyable {
    private let pointer: OpaquePointer
    /// What it converts.
    public let conversion: ZimgConversion

    /// Builds the graph.
    ///
    /// - Parameter codePath: one that is available; tests name it, everyone else leaves the choice.
    /// - Throws: `unsupported` where zimg has no such conversion, or sizes are not divisible by the
    ///   subsampling; `outOfMemory`.
    public init(
        _ conversion: ZimgConversion, codePath: ZimgCodePath = .automatic
    ) throws(ZimgError) {
        precondition(codePath.isAvailable, "this processor has no such instructions")
        guard conversion.target.region == nil else {
            throw ZimgError(kind: .unsupported, text: "a region of the target")
        }
        if let region = conversion.source.region, !region.isFinite {
            // zimg takes NaN for "all of it".
            throw ZimgError(kind: .unsupported, text: "a region without a place or size")
        }
        var failure = czimg_failure()
        guard
            let pointer = czimg_build(
                conversion.source.shim, conversion.target.shim, conversion.filter.shim,
                conversion.chromaFilter.shim, codePath.shim, &failure)
        else { throw ZimgError(failure) }
        self.pointer = pointer
        self.conversion = conversion
    }

    deinit {
        czimg_free(pointer)
    }

    /// Bytes of scratch memory that it holds.
    public var scratchBytes: Int { czimg_scratch_bytes(pointer) }

    /// Converts one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of the source format.
    ///   - targets: one for each plane of the target format.
    ///   - isCancelled: asked on this thread before each row of the source is read.
    /// - Throws: `cancelled`; `internal` where planes are too small or not aligned (`ZimgPlane`).
    public borrowing func process(
        from sources: [ZimgPlaneSource], to targets: [ZimgPlaneTarget], isCancelled: () -> Bool
    ) throws(ZimgError) {
        var from = try Self.source(sources, format: conversion.source)
        var to = try Self.target(targets, format: conversion.target)
        var failure = czimg_failure()
        let pointer = pointer
        let status = ZimgCancellation.withContext(isCancelled) { context in
            czimg_process(pointer, &from, &to, askWhetherCancelled, context, &failure)
        }
        guard status == CZIMG_FINE else { throw ZimgError(failure) }
    }

    private static func source(
        _ planes: [ZimgPlaneSource], format: ZimgFormat
    ) throws(ZimgError) -> czimg_source {
        try check(format, planes.map { ($0.memory, $0.stride) })
        func base(_ index: Int) -> UnsafePointer<UInt8>? {
            guard planes.indices.contains(index) else { return nil }
            return planes[index].memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
        func stride(_ index: Int) -> Int {
            planes.indices.contains(index) ? planes[index].stride : 0
        }
        return czimg_source(
            base: (base(0), base(1), base(2)), stride: (stride(0), stride(1), stride(2)))
    }

    private static func target(
        _ planes: [ZimgPlaneTarget], format: ZimgFormat
    ) throws(ZimgError) -> czimg_target {
        try check(format, planes.map { (UnsafeRawBufferPointer($0.memory), $0.stride) })
        func base(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
            guard planes.indices.contains(index) else { return nil }
            return planes[index].memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
        func stride(_ index: Int) -> Int {
            planes.indices.contains(index) ? planes[index].stride : 0
        }
        return czimg_target(
            base: (base(0), base(1), base(2)), stride: (stride(0), stride(1), stride(2)))
    }

    private static func check(
        _ format: ZimgFormat, _ planes: [(memory: UnsafeRawBufferPointer, stride: Int)]
    ) throws(ZimgError) {
        let areFit =
            planes.count == format.planeCount
            && planes.indices.allSatisfy { index in
                let size = format.size(ofPlane: index)
                return ZimgPlane.isFit(
                    address: planes[index].memory.baseAddress, count: planes[index].memory.count,
                    stride: planes[index].stride, rowBytes: size.width * format.depth.bytes,
                    height: size.height)
            }
        guard areFit else {
            throw ZimgError(kind: .internal, text: "planes do not fit the graph")
        }
    }
}

/// What a C callback can carry in place of a closure, for the time of one call.
struct ZimgCancellation {
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ isCancelled: () -> Bool, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(isCancelled) { isCancelled in
            var cancellation = ZimgCancellation(isCancelled: isCancelled)
            return withUnsafeMutablePointer(to: &cancellation) { body(UnsafeMutableRawPointer($0)) }
        }
    }
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until zimg has returned.
    let cancellation = context.assumingMemoryBound(to: ZimgCancellation.self)
    return cancellation.pointee.isCancelled() ? 1 : 0
}

/// The graphs that were used last, for one thread.
///
/// Holds at most `capacity` graphs, and of those so many as have `scratchBytesMax` bytes of scratch
/// memory together, but always the one used last.
public final class ZimgGraphCache {
    /// How often a graph was there, and how often it had to be built.
    public private(set) var counts: (hits: Int, misses: Int) = (0, 0)
    private let codePath: ZimgCodePath
    private let capacity: Int
    private let scratchBytesMax: Int
    /// The one used last comes first.
    private var kept: [Kept] = []

    /// An empty cache; its graphs are of one code path.
    public init(
        capacity: Int = 16, scratchBytesMax: Int = 32 << 20, codePath: ZimgCodePath = .automatic
    ) {
        precondition(capacity > 0, "a cache holds at least the graph in use")
        self.codePath = codePath
        self.capacity = capacity
        self.scratchBytesMax = scratchBytesMax
    }

    /// How many graphs are held.
    public var count: Int { kept.count }

    /// Runs `body` with the graph of `conversion`, which is built where it is not held.
    ///
    /// - Throws: what `ZimgGraph.init` and `body` throw.
    public func withGraph<Result>(
        _ conversion: ZimgConversion,
        _ body: (borrowing ZimgGraph) throws(ZimgError) -> Result
    ) throws(ZimgError) -> Result {
        try body(try take(conversion).graph)
    }

    private func take(_ conversion: ZimgConversion) throws(ZimgError) -> Kept {
        if let place = kept.firstIndex(where: { $0.graph.conversion == conversion }) {
            counts.hits += 1
            let found = kept.remove(at: place)
            kept.insert(found, at: 0)
            return found
        }
        counts.misses += 1
        let built = Kept(try ZimgGraph(conversion, codePath: codePath))
        kept.insert(built, at: 0)
        trim()
        return built
    }

    private func trim() {
        var bytes = 0
        let fitting = kept.prefix(capacity).prefix { kept in
            bytes += kept.graph.scratchBytes
            return bytes <= scratchBytesMax
        }
        kept.removeSubrange(max(fitting.count, 1)...)
    }

    private final class Kept {
        let graph: ZimgGraph

        init(_ graph: consuming ZimgGraph) {
            self.graph = graph
        }
    }
}

/// The instructions that resample. zimg has a version of its loops for each; the results are meant
/// to be the same.
public enum ZimgCodePath: CaseIterable, Hashable, Sendable {
    /// The best that this processor has, AVX2 at most: zimg 3.0.4 takes wrong columns with AVX-512.
    case automatic
    /// Plain C, which every processor has: what the others are measured against.
    case portable
    case sse, sse2, avx, f16c, avx2
    /// AVX-512 as of Skylake-X; with VNNI; with VBMI and IFMA; with both and more.
    case avx512SKX, avx512CLX, avx512PMC, avx512SNC

    /// Whether this processor, and the system on it, have these instructions.
    public var isAvailable: Bool { czimg_has_code(shim) != 0 }

    /// Whether it uses registers of 512 bits.
    public var isAVX512: Bool {
        switch self {
        case .avx512SKX, .avx512CLX, .avx512PMC, .avx512SNC: true
        default: false
        }
    }

    var shim: czimg_code {
        switch self {
        case .automatic: CZIMG_AUTOMATIC
        case .portable: CZIMG_PORTABLE
        case .sse: CZIMG_SSE
        case .sse2: CZIMG_SSE2
        case .avx: CZIMG_AVX
        case .f16c: CZIMG_F16C
        case .avx2: CZIMG_AVX2
        case .avx512SKX: CZIMG_AVX512_SKX
        case .avx512CLX: CZIMG_AVX512_CLX
        case .avx512PMC: CZIMG_AVX512_PMC
        case .avx512SNC: CZIMG_AVX512_SNC
        }
    }
}

/// Why zimg did not do what was asked.
public struct ZimgError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// zimg has no such conversion, or not for such sizes.
        case unsupported
        /// The cancellation closure answered true.
        case cancelled
        /// There is no memory for the graph or its scratch.
        case outOfMemory
        /// A fault of ours: planes that do not fit the graph, or are not aligned.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What zimg said; for the log, not for a client.
    public let text: String

    /// `unsupported: subsampling greater than 4x is not supported`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ failure: czimg_failure) {
        kind = Kind(failure.status)
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension ZimgError.Kind {
    fileprivate init(_ status: czimg_status) {
        self =
            switch status {
            case CZIMG_STOPPED: .cancelled
            case CZIMG_UNSUPPORTED: .unsupported
            case CZIMG_NO_MEMORY: .outOfMemory
            default: .internal
            }
    }
}

internal import CZimg
public import CodecSupport

/// The format of a planar image that a graph reads or writes.
public struct ZimgFormat: Hashable, Sendable {
    /// The color model of the planes, in plane order.
    public enum Planes: Hashable, Sendable {
        /// One gray plane.
        case gray
        /// R, G, B.
        case rgb
        /// Y, Cb, Cr.
        case yCbCr(PlaneSubsampling, siting: ChromaSiting = .center)
    }

    /// The conversion between RGB and Y, Cb and Cr.
    public enum Matrix: Hashable, Sendable {
        /// BT.601, as in JFIF.
        case bt601
        /// BT.709, as in HDTV.
        case bt709
    }

    /// The sample values of black and white.
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
        /// 0 to 65,535, in native byte order.
        case sixteen = 2

        /// The number of bytes per sample.
        public var bytes: Int { rawValue }
    }

    /// The number of columns of the first plane.
    public var width: Int
    /// The number of rows of the first plane.
    public var height: Int
    /// The color model of the planes.
    public var planes: Planes
    /// The matrix for Y, Cb and Cr; no effect for other planes.
    public var matrix: Matrix
    /// The range of all planes.
    public var range: Range
    /// The depth of all samples.
    public var depth: Depth
    /// The part of the first plane that's the image; `nil` means all of it. For source formats
    /// only.
    public var region: ZimgRegion?

    /// Creates a format. A graph rejects formats that zimg doesn't support.
    ///
    /// Width and height must be divisible by the subsampling. For an image that isn't, use a format
    /// that's one column or row larger. Example: 5 columns with 4:2:0.
    ///
    /// - Source: pad the planes to 6 columns, and pass the width 6 and a `region` of width 5.
    /// - Target: pass the width 6, and ignore the sixth column of the result. The source must then
    ///   cover 6 columns as well: make its `region` 6/5 as wide. It may extend beyond the source.
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

    /// The number of planes, 1 or 3.
    public var planeCount: Int { planes == .gray ? 1 : 3 }

    /// Returns the columns and rows of a plane.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard case .yCbCr(let subsampling, _) = planes else { return (width, height) }
        return subsampling.size(ofPlane: index, width, height)
    }
}

/// A rectangle in sample coordinates of the first plane, which may be fractional. It may extend
/// beyond the plane, whose edge is then repeated.
public struct ZimgRegion: Hashable, Sendable {
    /// The distance from the left edge of the first column.
    public let left: Double
    /// The distance from the upper edge of the first row.
    public let top: Double
    /// The width, more than 0.
    public let width: Double
    /// The height, more than 0.
    public let height: Double

    /// Creates a region.
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

/// Everything that determines a graph: its cache key.
public struct ZimgConversion: Hashable, Sendable {
    /// The input format.
    public var source: ZimgFormat
    /// The output format; its `region` must be `nil`.
    public var target: ZimgFormat
    /// The filter for all planes.
    public var filter: ZimgFilter

    /// Creates a conversion. If both sizes are equal, nothing is resampled.
    public init(from source: ZimgFormat, to target: ZimgFormat, filter: ZimgFilter = .lanczos3) {
        self.source = source
        self.target = target
        self.filter = filter
    }
}

/// Resampling filters. When reducing, the kernel is widened so that no sample is skipped.
public enum ZimgFilter: Hashable, Sendable {
    /// Triangle.
    case bilinear
    /// The Mitchell–Netravali family: (0, 0.5) is Catmull-Rom, (1/3, 1/3) Mitchell.
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
        if case .yCbCr(let subsampling, let siting) = planes {
            format.horizontal_log2 = UInt32(clamping: subsampling.horizontalLog2)
            format.vertical_log2 = UInt32(clamping: subsampling.verticalLog2)
            format.siting = czimg_siting(rawValue: siting.rawValue)
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
        case .gray: CZIMG_GRAY
        case .rgb: CZIMG_RGB
        case .yCbCr: CZIMG_YCBCR
        }
    }
}

extension ZimgFilter {
    var shim: czimg_resampling {
        switch self {
        case .bilinear: czimg_resampling(filter: CZIMG_BILINEAR, a: 0, b: 0)
        case .bicubic(let b, let c): czimg_resampling(filter: CZIMG_BICUBIC, a: b, b: c)
        case .lanczos3: czimg_resampling(filter: CZIMG_LANCZOS, a: 3, b: 0)
        }
    }
}

/// A prepared conversion with its filter coefficients and scratch memory.
///
/// Building it takes 0.5 to 3 ms, often longer than using it, so keep it or use `ZimgGraphCache`.
/// Usable by one thread at a time.
public struct ZimgGraph: ~Copyable {
    private let pointer: OpaquePointer
    /// The conversion.
    public let conversion: ZimgConversion

    /// Builds the graph.
    ///
    /// - Parameter codePath: an available code path; only tests choose one.
    /// - Throws: `unsupported` if zimg doesn't support the conversion, or if sizes aren't divisible
    ///   by the subsampling; `outOfMemory`.
    public init(
        _ conversion: ZimgConversion, codePath: ZimgCodePath = .automatic
    ) throws(CodecError) {
        precondition(codePath.isAvailable, "this processor does not support these instructions")
        guard conversion.target.region == nil else {
            throw CodecError(kind: .unsupported, text: "regions of the target are not supported")
        }
        if let region = conversion.source.region, !region.isFinite {
            // zimg interprets NaN as "everything".
            throw CodecError(kind: .unsupported, text: "the region has no finite position or size")
        }
        var failure = czimg_failure()
        guard
            let pointer = czimg_build(
                conversion.source.shim, conversion.target.shim, conversion.filter.shim,
                conversion.filter.shim, codePath.shim, &failure)
        else { throw CodecError(failure) }
        self.pointer = pointer
        self.conversion = conversion
    }

    deinit {
        czimg_free(pointer)
    }

    /// The size of its scratch memory in bytes.
    public var scratchBytes: Int { czimg_scratch_bytes(pointer) }

    /// Converts one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of the source format.
    ///   - targets: one for each plane of the target format.
    ///   - isCancelled: called on this thread before each source row is read.
    /// - Throws: `cancelled`; `internal` if planes are too small or unaligned (`ZimgPlane`).
    public borrowing func process(
        from sources: [SampleSource], to targets: [SampleTarget], isCancelled: () -> Bool
    ) throws(CodecError) {
        var from = try Self.source(sources, format: conversion.source)
        var to = try Self.target(targets, format: conversion.target)
        var failure = czimg_failure()
        let pointer = pointer
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            czimg_process(pointer, &from, &to, isCancelledCallback, context, &failure)
        }
        guard status == CZIMG_OK else { throw CodecError(failure) }
    }

    private static func source(
        _ planes: [SampleSource], format: ZimgFormat
    ) throws(CodecError) -> czimg_source {
        try check(format, planes)
        let bases = (0..<3).map { $0 < planes.count ? planes[$0].base(UInt8.self) : nil }
        let strides = (0..<3).map { $0 < planes.count ? planes[$0].stride : 0 }
        return czimg_source(
            base: (bases[0], bases[1], bases[2]), stride: (strides[0], strides[1], strides[2]))
    }

    private static func target(
        _ planes: [SampleTarget], format: ZimgFormat
    ) throws(CodecError) -> czimg_target {
        try check(format, planes.map(\.source))
        let bases = (0..<3).map { $0 < planes.count ? planes[$0].base(UInt8.self) : nil }
        let strides = (0..<3).map { $0 < planes.count ? planes[$0].stride : 0 }
        return czimg_target(
            base: (bases[0], bases[1], bases[2]), stride: (strides[0], strides[1], strides[2]))
    }

    private static func check(_ format: ZimgFormat, _ planes: [SampleSource]) throws(CodecError) {
        let areValid =
            planes.count == format.planeCount
            && planes.indices.allSatisfy { index in
                let size = format.size(ofPlane: index)
                return ZimgPlane.isValid(
                    planes[index], rowBytes: size.width * format.depth.bytes, height: size.height)
            }
        guard areValid else {
            throw CodecError(kind: .internal, text: "planes do not match the graph")
        }
    }
}

/// An LRU cache of graphs for one thread.
///
/// Holds at most `capacity` graphs with at most `scratchBytesMax` bytes of scratch memory in total,
/// but always the most recently used one.
public final class ZimgGraphCache {
    /// The number of cache hits and misses.
    public private(set) var counts: (hits: Int, misses: Int) = (0, 0)
    private let codePath: ZimgCodePath
    private let capacity: Int
    private let scratchBytesMax: Int
    /// The cached graphs, most recently used first.
    private var kept: [Kept] = []

    /// Creates an empty cache whose graphs use one code path.
    public init(
        capacity: Int = 16, scratchBytesMax: Int = 32 << 20, codePath: ZimgCodePath = .automatic
    ) {
        precondition(capacity > 0, "a cache must hold at least the graph in use")
        self.codePath = codePath
        self.capacity = capacity
        self.scratchBytesMax = scratchBytesMax
    }

    /// The number of cached graphs.
    public var count: Int { kept.count }

    /// Calls `body` with the graph for `conversion`, which is built on a miss.
    ///
    /// - Throws: the errors of `ZimgGraph.init` and `body`.
    public func withGraph<Result>(
        _ conversion: ZimgConversion,
        _ body: (borrowing ZimgGraph) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        try body(try obtain(conversion).graph)
    }

    private func obtain(_ conversion: ZimgConversion) throws(CodecError) -> Kept {
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

/// The instruction sets used for resampling. zimg has separate loops for each; their results should
/// be identical. The raw values are those of `czimg_code`.
public enum ZimgCodePath: UInt32, CaseIterable, Sendable {
    /// The best available, at most AVX2: with AVX-512, zimg 3.0.4 reads wrong columns.
    case automatic
    /// Plain C, available on every processor; the reference for the others.
    case portable
    case sse, sse2, avx, f16c, avx2
    /// AVX-512 of Skylake-X.
    case avx512SKX
    /// AVX-512 of Cascade Lake: also VNNI.
    case avx512CLX
    /// AVX-512 of Cannon Lake (Palm Cove): also VBMI and IFMA.
    case avx512PMC
    /// AVX-512 of Ice Lake (Sunny Cove): VNNI, VBMI, IFMA and more.
    case avx512SNC

    /// Whether the processor and operating system support the instruction set.
    public var isAvailable: Bool { czimg_has_code(shim) != 0 }

    var shim: czimg_code { czimg_code(rawValue: rawValue) }
}

extension CodecError {
    init(_ failure: czimg_failure) {
        self.init(status: failure.status.rawValue, message: failure.text)
    }
}

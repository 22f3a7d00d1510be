import CodecSupport
import Model
import Zimg

/// One sample per pixel in rows from top to bottom, in its own memory or as a view of other memory.
///
/// Rows in its own memory begin at multiples of 64 bytes, for vector code.
final class Plane {
    let size: PixelSize
    /// The size of a sample in bytes: 1, or 2 in native byte order.
    let depth: Int
    /// The row stride in bytes.
    let stride: Int
    let base: UnsafeRawPointer
    /// The number of readable bytes from the first sample.
    private let count: Int
    /// Writable memory; nil if the samples belong to another owner.
    private let memory: UnsafeMutableRawBufferPointer?
    private let owner: AnyObject?

    static let alignment = 64

    /// Creates an uninitialized plane.
    init(_ size: PixelSize, depth: Int = 1) {
        self.size = size
        self.depth = depth
        stride = (size.width * depth + Self.alignment - 1) / Self.alignment * Self.alignment
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, stride * size.height), alignment: Self.alignment)
        self.memory = memory
        owner = nil
        count = memory.count
        guard let address = memory.baseAddress else {
            preconditionFailure("an allocation of at least one byte must have an address")
        }
        base = UnsafeRawPointer(address)
    }

    /// Creates a view of samples with `stride` bytes per row; the last row has at least its
    /// columns. They must outlive the plane, which `owner` can ensure.
    init(
        _ samples: UnsafeRawBufferPointer, _ size: PixelSize, stride: Int, depth: Int = 1,
        owner: AnyObject? = nil
    ) {
        guard let address = samples.baseAddress else {
            preconditionFailure("a plane must have samples")
        }
        (base, count, self.size, self.stride) = (address, samples.count, size, stride)
        (self.depth, self.owner, memory) = (depth, owner, nil)
    }

    /// Creates a plane with one value.
    convenience init(_ size: PixelSize, filledWith value: UInt8) {
        self.init(size)
        memory?.initializeMemory(as: UInt8.self, repeating: value)
    }

    deinit {
        memory?.deallocate()
    }

    /// The plane's own memory, for writing rows.
    var mutableBase: UnsafeMutableRawPointer {
        guard let address = memory?.baseAddress else {
            preconditionFailure("only memory owned by the plane can be written")
        }
        return address
    }

    /// The bytes from the first sample; valid while the plane exists.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// The same samples in rows that are aligned for vector code.
    var aligned: Plane { isAligned ? self : copy() }

    /// Whether rows are aligned, and full vectors can be read even in the last one.
    private var isAligned: Bool {
        let row = (size.width * depth + Self.alignment - 1) / Self.alignment * Self.alignment
        return UInt(bitPattern: base) % UInt(Self.alignment) == 0 && stride % Self.alignment == 0
            && count >= stride * (size.height - 1) + row
    }

    /// Returns an area of the plane, which must lie within it: a view if that is aligned, else a
    /// copy.
    func part(_ rect: PixelRect) -> Plane {
        let start = rect.y * stride + rect.x * depth
        let part = Plane(
            UnsafeRawBufferPointer(rebasing: bytes[start...]), rect.size, stride: stride,
            depth: depth, owner: self)
        return part.aligned
    }

    private func copy() -> Plane {
        let copy = Plane(size, depth: depth)
        for row in 0..<size.height {
            (copy.mutableBase + row * copy.stride).copyMemory(
                from: base + row * stride, byteCount: size.width * depth)
        }
        return copy
    }
}

extension Plane {
    /// Returns the samples in the displayed orientation.
    func displayed(_ orientation: Orientation) -> Plane {
        guard !orientation.isUpright else { return self }
        let turned = Plane(orientation.displayed(size), depth: depth)
        // The offsets in the stored plane from one displayed column and row to the next, and that
        // of the first displayed pixel.
        var (column, row) = orientation.transposes ? (stride, depth) : (depth, stride)
        var start = 0
        if orientation.mirrorsHorizontally {
            start += (turned.size.width - 1) * column
            column.negate()
        }
        if orientation.mirrorsVertically {
            start += (turned.size.height - 1) * row
            row.negate()
        }
        switch depth {
        case 1: copy(UInt8.self, to: turned, from: start, column: column, row: row)
        default: copy(UInt16.self, to: turned, from: start, column: column, row: row)
        }
        return turned
    }

    private func copy<Sample: BitwiseCopyable>(
        _ type: Sample.Type, to target: Plane, from start: Int, column: Int, row: Int
    ) {
        for y in 0..<target.size.height {
            var source = base + start + y * row
            let out = (target.mutableBase + y * target.stride).assumingMemoryBound(to: type)
            for x in 0..<target.size.width {
                out[x] = source.load(as: type)
                source += column
            }
        }
    }
}

/// Resamples an area of a plane, in fractions of a sample, to a given size: Lanczos 3 for
/// reduction, Catmull-Rom for enlargement. If one direction is reduced and the other enlarged,
/// Lanczos is used for both.
struct PlaneSampler {
    let graphs: ZimgGraphCache
    let cancellation: CancellationFlag

    /// - Parameters:
    ///   - plane: The source; samples beyond its edges repeat those of the edge.
    ///   - region: The area in samples of the plane.
    func sample(_ plane: Plane, _ region: ActiveRegion, to size: PixelSize) throws -> Plane {
        let isReduced = region.width > Double(size.width) || region.height > Double(size.height)
        let filter: ZimgFilter = isReduced ? .lanczos3 : .bicubic(b: 0, c: 0.5)
        guard Self.isSplit(region, of: plane.size, to: size) else {
            return try pass(plane, region, to: size, filter)
        }
        var (first, before, after) = (size, region, region)
        if Self.isFew(region.height, of: plane.size.height) {
            first.width = plane.size.width
            (before.left, before.width) = (0, Double(first.width))
            (after.top, after.height) = (0, Double(first.height))
        } else {
            first.height = plane.size.height
            (before.top, before.height) = (0, Double(first.height))
            (after.left, after.width) = (0, Double(first.width))
        }
        return try pass(try pass(plane, before, to: first, filter), after, to: size, filter)
    }

    /// Returns whether columns and rows are sampled in separate passes.
    ///
    /// If few of many columns or rows are sampled in both directions at once, zimg 3.0.4 uses rows
    /// 8 or more further down, or omits samples: observed below 10 columns and below 5 rows, with
    /// SSE2 and AVX2, but never with portable code.
    static func isSplit(_ region: ActiveRegion, of plane: PixelSize, to size: PixelSize) -> Bool {
        let keepsColumns = region.left == 0 && region.width == Double(size.width)
        let keepsRows = region.top == 0 && region.height == Double(size.height)
        return !keepsColumns && !keepsRows
            && (isFew(region.width, of: plane.width) || isFew(region.height, of: plane.height))
    }

    private static func isFew(_ extent: Double, of count: Int) -> Bool {
        extent < 32 && extent < Double(count)
    }

    /// Without filtering, returns an area of the plane.
    private func pass(
        _ plane: Plane, _ region: ActiveRegion, to size: PixelSize, _ filter: ZimgFilter
    ) throws -> Plane {
        if let rect = region.rect, rect.size == size,
            rect.intersection(with: plane.size) == rect
        {
            return plane.part(rect)
        }
        let source = plane.aligned
        var from = Self.format(source.size, source.depth)
        from.region = ZimgRegion(
            left: region.left, top: region.top, width: region.width, height: region.height)
        let conversion = ZimgConversion(
            from: from, to: Self.format(size, source.depth), filter: filter)
        let target = Plane(size, depth: source.depth)
        try convert(conversion, [source], [target])
        return target
    }

    private static func format(_ size: PixelSize, _ depth: Int) -> ZimgFormat {
        ZimgFormat(
            width: size.width, height: size.height, planes: .gray,
            depth: depth == 2 ? .sixteen : .eight)
    }

    /// Converts Y, Cb and Cr of one size to red, green and blue.
    func rgb(_ planes: [Plane]) throws -> [Plane] {
        let size = planes[0].size
        let aligned = planes.map(\.aligned)
        let conversion = ZimgConversion(
            from: ZimgFormat(width: size.width, height: size.height, planes: .yCbCr(.yuv444)),
            to: ZimgFormat(width: size.width, height: size.height, planes: .rgb))
        let colors = aligned.map { _ in Plane(size) }
        try convert(conversion, aligned, colors)
        return colors
    }

    /// Converts full range to limited range: luma if there is one plane, else the two chroma
    /// planes.
    func limited(_ planes: [Plane]) throws -> [Plane] {
        let size = planes[0].size
        // Chroma has another range than luma, and zimg only accepts it along with luma: the first
        // chroma plane serves as luma, whose result is discarded.
        let isLuma = planes.count == 1
        let sources = (isLuma ? planes : [planes[0]] + planes).map(\.aligned)
        var from = ZimgFormat(
            width: size.width, height: size.height, planes: isLuma ? .gray : .yCbCr(.yuv444))
        var to = from
        (from.range, to.range) = (.full, .limited)
        let targets = sources.map { _ in Plane(size) }
        try convert(ZimgConversion(from: from, to: to), sources, targets)
        return isLuma ? targets : Array(targets.dropFirst())
    }

    private func convert(
        _ conversion: ZimgConversion, _ sources: [Plane], _ targets: [Plane]
    ) throws {
        defer { withExtendedLifetime((sources, targets)) {} }
        try ImageError.mapping("resize") {
            try graphs.withGraph(conversion) { graph throws(CodecError) in
                try graph.process(
                    from: sources.map(\.source), to: targets.map(\.target),
                    isCancelled: { cancellation.isCancelled })
            }
        }
    }
}

extension ActiveRegion {
    /// The rectangle, if all values are integers.
    fileprivate var rect: PixelRect? {
        let numbers = [left, top, width, height].map { Int(exactly: $0) }
        guard let x = numbers[0], let y = numbers[1], let width = numbers[2],
            let height = numbers[3]
        else { return nil }
        return PixelRect(x: x, y: y, size: PixelSize(width: width, height: height))
    }
}

extension Plane {
    /// The plane as input of zimg.
    var source: SampleSource { SampleSource(memory: bytes, stride: stride) }

    /// The plane as output of zimg; only for its own memory.
    var target: SampleTarget {
        SampleTarget(
            memory: UnsafeMutableRawBufferPointer(start: mutableBase, count: bytes.count),
            stride: stride)
    }
}

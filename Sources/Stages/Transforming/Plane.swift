import ImageModel
import StageContract
import Zimg

/// One sample of each pixel, in rows from top to bottom: memory of its own, or a part of what
/// somebody else keeps.
///
/// Memory of its own begins each row at a multiple of 64 bytes, which is what vector code wants.
final class Plane {
    let size: PixelSize
    /// Bytes of a sample: 1, or 2 in the machine's order.
    let depth: Int
    /// Bytes from one row to the next.
    let stride: Int
    let base: UnsafeRawPointer
    /// Bytes from the first sample on that may be read.
    private let count: Int
    /// Where the samples may be written; nil where they belong to somebody else.
    private let memory: UnsafeMutableRawBufferPointer?
    private let owner: AnyObject?

    static let alignment = 64

    /// Uninitialised.
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
            preconditionFailure("an allocation of at least a byte has an address")
        }
        base = UnsafeRawPointer(address)
    }

    /// Samples where they lie, `stride` bytes for each row, of the last one at least its columns;
    /// they must stay while the plane lives: `owner` can see to that.
    init(
        _ samples: UnsafeRawBufferPointer, _ size: PixelSize, stride: Int, depth: Int = 1,
        owner: AnyObject? = nil
    ) {
        guard let address = samples.baseAddress else { preconditionFailure("a plane has samples") }
        (base, count, self.size, self.stride) = (address, samples.count, size, stride)
        (self.depth, self.owner, memory) = (depth, owner, nil)
    }

    /// All samples alike.
    convenience init(_ size: PixelSize, filledWith value: UInt8) {
        self.init(size)
        memory?.initializeMemory(as: UInt8.self, repeating: value)
    }

    deinit {
        memory?.deallocate()
    }

    /// To write rows of a plane's own memory.
    var mutableBase: UnsafeMutableRawPointer {
        guard let address = memory?.baseAddress else {
            preconditionFailure("only a plane's own memory is written")
        }
        return address
    }

    /// From the first sample on; only as long as somebody holds the plane.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// The same samples, rows where vector code wants them.
    var aligned: Plane { isAligned ? self : copy() }

    /// Of the last row as well, all the vectors it takes are there to be read.
    private var isAligned: Bool {
        let row = (size.width * depth + Self.alignment - 1) / Self.alignment * Self.alignment
        return UInt(bitPattern: base) % UInt(Self.alignment) == 0 && stride % Self.alignment == 0
            && count >= stride * (size.height - 1) + row
    }

    /// A part that lies in the plane: where it lies if that is aligned, else a copy.
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
    /// The samples as they are displayed.
    func displayed(_ orientation: Orientation) -> Plane {
        guard !orientation.isUpright else { return self }
        let turned = Plane(orientation.displayed(size), depth: depth)
        // Of the displayed image: how far from one column, and from one row, to the next in what
        // is stored, and where its first pixel lies.
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

/// Maps a part of a plane, given in fractions of a sample, to exactly so many samples: Lanczos 3
/// where it becomes smaller, Catmull-Rom where it becomes larger. Where columns become fewer and
/// rows more, or the other way round, Lanczos makes both.
struct PlaneSampler {
    let graphs: ZimgGraphCache
    let cancellation: CancellationFlag

    /// - Parameters:
    ///   - plane: samples beyond its edges are those of the edge.
    ///   - region: in samples of the plane.
    func sample(
        _ plane: Plane, _ region: ActiveRegion, to size: PixelSize
    ) throws(ImageError) -> Plane {
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

    /// Whether columns and rows are sampled one after the other.
    ///
    /// Where it looks at few of many columns or rows and samples both, zimg 3.0.4 takes rows 8 or
    /// more further down, or leaves samples out: seen below 10 columns and below 5 rows, with SSE2
    /// as with AVX2, never with portable code.
    static func isSplit(
        _ region: ActiveRegion, of plane: PixelSize, to size: PixelSize
    ) -> Bool {
        let keepsColumns = region.left == 0 && region.width == Double(size.width)
        let keepsRows = region.top == 0 && region.height == Double(size.height)
        return !keepsColumns && !keepsRows
            && (isFew(region.width, of: plane.width) || isFew(region.height, of: plane.height))
    }

    private static func isFew(_ extent: Double, of count: Int) -> Bool {
        extent < 32 && extent < Double(count)
    }

    /// What needs no filter is a part of the plane.
    private func pass(
        _ plane: Plane, _ region: ActiveRegion, to size: PixelSize, _ filter: ZimgFilter
    ) throws(ImageError) -> Plane {
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
            width: size.width, height: size.height, planes: .grey,
            depth: depth == 2 ? .sixteen : .eight)
    }

    /// Red, green and blue of Y, Cb and Cr of one size.
    func rgb(_ planes: [Plane]) throws(ImageError) -> [Plane] {
        let size = planes[0].size
        let aligned = planes.map(\.aligned)
        let conversion = ZimgConversion(
            from: ZimgFormat(width: size.width, height: size.height, planes: .yCbCr(.yuv444)),
            to: ZimgFormat(width: size.width, height: size.height, planes: .rgb))
        let colours = aligned.map { _ in Plane(size) }
        try convert(conversion, aligned, colours)
        return colours
    }

    /// Full range to limited: of brightness where it is one plane, of the two colours else.
    func limited(_ planes: [Plane]) throws(ImageError) -> [Plane] {
        let size = planes[0].size
        // Colours have another range than brightness, and zimg knows them only beside it: the
        // first of them stands for it, and what becomes of that is thrown away.
        let isLuma = planes.count == 1
        let sources = (isLuma ? planes : [planes[0]] + planes).map(\.aligned)
        var from = ZimgFormat(
            width: size.width, height: size.height, planes: isLuma ? .grey : .yCbCr(.yuv444))
        var to = from
        (from.range, to.range) = (.full, .limited)
        let targets = sources.map { _ in Plane(size) }
        try convert(ZimgConversion(from: from, to: to), sources, targets)
        return isLuma ? targets : Array(targets.dropFirst())
    }

    private func convert(
        _ conversion: ZimgConversion, _ sources: [Plane], _ targets: [Plane]
    ) throws(ImageError) {
        do {
            try withExtendedLifetime((sources, targets)) { () throws(ZimgError) in
                try graphs.withGraph(conversion) { graph throws(ZimgError) in
                    try graph.process(
                        from: sources.map(\.source), to: targets.map(\.target),
                        isCancelled: { cancellation.isCancelled })
                }
            }
        } catch {
            throw ImageError(transforming: error, step: "resize")
        }
    }
}

extension ActiveRegion {
    /// The rectangle where all its numbers are whole.
    fileprivate var rect: PixelRect? {
        let numbers = [left, top, width, height].map { Int(exactly: $0) }
        guard let x = numbers[0], let y = numbers[1], let width = numbers[2],
            let height = numbers[3]
        else { return nil }
        return PixelRect(x: x, y: y, size: PixelSize(width: width, height: height))
    }
}

extension Plane {
    /// As zimg reads it.
    var source: ZimgPlaneSource { ZimgPlaneSource(memory: bytes, stride: stride) }

    /// As zimg writes it; memory of its own.
    var target: ZimgPlaneTarget {
        ZimgPlaneTarget(
            memory: UnsafeMutableRawBufferPointer(start: mutableBase, count: bytes.count),
            stride: stride)
    }
}

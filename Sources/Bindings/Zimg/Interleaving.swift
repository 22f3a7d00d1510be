internal import CZimg

/// The way between pixels of 1 to 4 interleaved bands and planes: as they are, or with their
/// colours multiplied by alpha, which must be done before pixels are mixed, lest the colours of
/// transparent ones show.
///
/// Taking apart and putting together have loops of AVX2 and portable ones. `codePath` chooses: all
/// but `portable` take AVX2 where the processor has it.
public enum Interleaving {
    /// Takes bands apart.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `width` × `targets.count` bytes, `stride` bytes apart.
    ///   - targets: 1 to 4 planes, one for each band; no alignment is asked for, and nothing behind
    ///     `width` is written.
    /// - Throws: `internal` where something is too small.
    public static func separate(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [ZimgPlaneTarget], codePath: ZimgCodePath = .automatic
    ) throws(ZimgError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count)
        try rows.check(targets.map(\.rows), depth: 1, bands: 1...4)
        czimg_deinterleave(
            rows.base, stride, targets.map { $0.samples(UInt8.self) }, targets.map(\.stride),
            width, height, CInt(targets.count), codePath.shim)
    }

    /// Puts bands together; the other way round, and with the same rules.
    public static func join(
        _ sources: [ZimgPlaneSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int, codePath: ZimgCodePath = .automatic
    ) throws(ZimgError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count)
        try rows.check(sources.map(\.rows), depth: 1, bands: 1...4)
        czimg_interleave(
            sources.map { $0.samples(UInt8.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count), codePath.shim)
    }

    /// Takes bands apart of which the last is alpha, into planes of 16 bits, colours times alpha.
    ///
    /// - Parameters:
    ///   - pixels: as of `separate`; 2 or 4 bands.
    ///   - targets: rows of `width` samples of 2 bytes.
    /// - Throws: `internal` where something is too small.
    public static func premultiply(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [ZimgPlaneTarget]
    ) throws(ZimgError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count)
        try rows.check(targets.map(\.rows), depth: 2, bands: [2, 4])
        czimg_premultiply(
            rows.base, stride, targets.map { $0.samples(UInt16.self) }, targets.map(\.stride),
            width, height, CInt(targets.count))
    }

    /// Undoes `premultiply`; where alpha is 0, colours become 0.
    public static func unpremultiply(
        _ sources: [ZimgPlaneSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int
    ) throws(ZimgError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count)
        try rows.check(sources.map(\.rows), depth: 2, bands: [2, 4])
        czimg_unpremultiply(
            sources.map { $0.samples(UInt16.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count))
    }

    /// Takes bands of 16 bits apart, into planes of such.
    ///
    /// - Parameters:
    ///   - pixels: as of `separate`, with samples of 2 bytes at even addresses.
    ///   - targets: 1 to 4 planes, rows of `width` samples of 2 bytes.
    ///   - premultiplied: the last band is alpha, by which colours are multiplied.
    /// - Throws: `internal` where something is too small.
    public static func separateDeep(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [ZimgPlaneTarget], premultiplied: Bool
    ) throws(ZimgError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count, bytes: 2)
        try rows.check(
            targets.map(\.rows), depth: 2, bands: premultiplied ? [2, 4] : [1, 2, 3, 4])
        czimg_deinterleave_deep(
            rows.deepBase, stride, targets.map { $0.samples(UInt16.self) }, targets.map(\.stride),
            width, height, CInt(targets.count), premultiplied ? 1 : 0)
    }

    /// The other way round, and with the same rules; where alpha is 0, colours become 0.
    public static func joinDeep(
        _ sources: [ZimgPlaneSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int, premultiplied: Bool
    ) throws(ZimgError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count, bytes: 2)
        try rows.check(
            sources.map(\.rows), depth: 2, bands: premultiplied ? [2, 4] : [1, 2, 3, 4])
        czimg_interleave_deep(
            sources.map { $0.samples(UInt16.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt16.self), stride, width, height,
            CInt(sources.count), premultiplied ? 1 : 0)
    }
}

/// Rows of interleaved pixels, and whether planes go with them.
private struct Rows {
    private let pixels: UnsafeRawBufferPointer
    private let stride: Int
    private let width: Int
    private let height: Int
    private let bands: Int
    private let bytes: Int

    init(
        _ pixels: UnsafeRawBufferPointer, _ stride: Int, _ width: Int, _ height: Int, bands: Int,
        bytes: Int = 1
    ) {
        (self.pixels, self.bytes) = (pixels, bytes)
        (self.stride, self.width, self.height, self.bands) = (stride, width, height, bands)
    }

    var deepBase: UnsafePointer<UInt16>? {
        pixels.baseAddress?.assumingMemoryBound(to: UInt16.self)
    }

    var base: UnsafePointer<UInt8>? { pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) }

    /// Throws where the pixels, or planes of `depth` bytes a sample, are too small.
    func check(
        _ planes: [(memory: UnsafeRawBufferPointer, stride: Int)], depth: Int,
        bands permitted: some Sequence<Int>
    ) throws(ZimgError) {
        guard permitted.contains(bands), isFit(pixels, stride, width * bands * bytes),
            planes.allSatisfy({ isFit($0.memory, $0.stride, width * depth) })
        else { throw ZimgError(kind: .internal, text: "planes do not fit the pixels") }
    }

    private func isFit(_ memory: UnsafeRawBufferPointer, _ stride: Int, _ rowBytes: Int) -> Bool {
        rowBytes > 0 && height > 0 && stride >= rowBytes
            && memory.count >= stride * (height - 1) + rowBytes
    }
}

extension ZimgPlaneTarget {
    fileprivate var rows: (memory: UnsafeRawBufferPointer, stride: Int) {
        (UnsafeRawBufferPointer(memory), stride)
    }

    fileprivate func samples<Sample>(_ type: Sample.Type) -> UnsafeMutablePointer<Sample>? {
        memory.baseAddress?.assumingMemoryBound(to: type)
    }
}

extension ZimgPlaneSource {
    fileprivate var rows: (memory: UnsafeRawBufferPointer, stride: Int) { (memory, stride) }

    fileprivate func samples<Sample>(_ type: Sample.Type) -> UnsafePointer<Sample>? {
        memory.baseAddress?.assumingMemoryBound(to: type)
    }
}

/// The rule for all planes that a graph reads or writes: they begin at a multiple of 64 bytes, and
/// so does each of their rows.
///
/// zimg reads a row up to the next multiple of 64 bytes behind its width, whatever lies there, and
/// writes at most as far; nothing that it gives depends on those bytes.
public enum ZimgPlane {
    /// Of addresses and strides, in bytes.
    public static let alignment = Int(CZIMG_ALIGNMENT)

    /// The smallest stride for rows of so many bytes.
    public static func stride(rowBytes: Int) -> Int {
        (rowBytes + alignment - 1) / alignment * alignment
    }

    static func isFit(
        address: UnsafeRawPointer?, count: Int, stride: Int, rowBytes: Int, height: Int
    ) -> Bool {
        guard let address, stride > 0, stride % alignment == 0, stride >= rowBytes else {
            return false
        }
        return Int(bitPattern: address) % alignment == 0
            && count >= stride * (height - 1) + Self.stride(rowBytes: rowBytes)
    }
}

/// Where a graph reads a plane.
public struct ZimgPlaneSource {
    /// From the first sample on, at least a stride for each row but the last, and that one rounded
    /// up to 64 bytes.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, a multiple of 64.
    public let stride: Int

    /// Memory that stays valid and unchanged while `ZimgGraph.process` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}

/// Where a graph writes a plane.
public struct ZimgPlaneTarget {
    /// As of `ZimgPlaneSource`.
    public let memory: UnsafeMutableRawBufferPointer
    /// Bytes from one row to the next, a multiple of 64.
    public let stride: Int

    /// Memory that stays valid while `ZimgGraph.process` runs, and overlaps no source.
    public init(memory: UnsafeMutableRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}

internal import CZimg
public import CodecSupport

/// Converts between pixels of 1 to 4 interleaved bands and planes, optionally with premultiplied
/// alpha. Premultiplication is required before pixels are blended, otherwise the colors of
/// transparent pixels bleed in.
///
/// Separating and joining have AVX2 and portable loops. `codePath` selects: all values but
/// `portable` use AVX2 if the processor supports it.
public enum Interleaving {
    /// Separates bands into planes.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `width` × `targets.count` bytes, `stride` bytes apart.
    ///   - targets: 1 to 4 planes, one for each band. No alignment is required, and nothing beyond
    ///     `width` is written.
    /// - Throws: `internal` if a buffer is too small.
    public static func separate(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [SampleTarget], codePath: ZimgCodePath = .automatic
    ) throws(CodecError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count)
        try rows.check(targets.map(\.source), depth: 1, bands: 1...4)
        czimg_deinterleave(
            rows.base, stride, targets.map { $0.base(UInt8.self) }, targets.map(\.stride),
            width, height, CInt(targets.count), codePath.shim)
    }

    /// Joins planes into interleaved bands; the inverse of `separate` with the same rules.
    public static func join(
        _ sources: [SampleSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int, codePath: ZimgCodePath = .automatic
    ) throws(CodecError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count)
        try rows.check(sources, depth: 1, bands: 1...4)
        czimg_interleave(
            sources.map { $0.base(UInt8.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count), codePath.shim)
    }

    /// Separates bands, the last of which is alpha, into 16-bit planes with premultiplied colors.
    ///
    /// - Parameters:
    ///   - pixels: as for `separate`, with 2 or 4 bands.
    ///   - targets: rows of `width` 2-byte samples.
    /// - Throws: `internal` if a buffer is too small.
    public static func premultiply(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [SampleTarget]
    ) throws(CodecError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count)
        try rows.check(targets.map(\.source), depth: 2, bands: [2, 4])
        czimg_premultiply(
            rows.base, stride, targets.map { $0.base(UInt16.self) }, targets.map(\.stride),
            width, height, CInt(targets.count))
    }

    /// The inverse of `premultiply`. Colors become 0 if alpha is 0.
    public static func unpremultiply(
        _ sources: [SampleSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int
    ) throws(CodecError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count)
        try rows.check(sources, depth: 2, bands: [2, 4])
        czimg_unpremultiply(
            sources.map { $0.base(UInt16.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count))
    }

    /// Separates 16-bit bands into 16-bit planes.
    ///
    /// - Parameters:
    ///   - pixels: as for `separate`, with 2-byte samples at even addresses.
    ///   - targets: 1 to 4 planes, rows of `width` 2-byte samples.
    ///   - premultiplied: whether to multiply colors by the last band, which is alpha.
    /// - Throws: `internal` if a buffer is too small.
    public static func separateDeep(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [SampleTarget], premultiplied: Bool
    ) throws(CodecError) {
        let rows = Rows(pixels, stride, width, height, bands: targets.count, bytes: 2)
        try rows.check(
            targets.map(\.source), depth: 2, bands: premultiplied ? [2, 4] : [1, 2, 3, 4])
        czimg_deinterleave_deep(
            rows.deepBase, stride, targets.map { $0.base(UInt16.self) }, targets.map(\.stride),
            width, height, CInt(targets.count), premultiplied ? 1 : 0)
    }

    /// The inverse of `separateDeep` with the same rules. Colors become 0 if alpha is 0.
    public static func joinDeep(
        _ sources: [SampleSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int, premultiplied: Bool
    ) throws(CodecError) {
        let rows = Rows(
            UnsafeRawBufferPointer(pixels), stride, width, height, bands: sources.count, bytes: 2)
        try rows.check(
            sources, depth: 2, bands: premultiplied ? [2, 4] : [1, 2, 3, 4])
        czimg_interleave_deep(
            sources.map { $0.base(UInt16.self) }, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt16.self), stride, width, height,
            CInt(sources.count), premultiplied ? 1 : 0)
    }
}

/// The layout of interleaved pixels, with checks for matching planes.
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

    /// Throws if the pixels, or planes with `depth` bytes per sample, are too small.
    func check(
        _ planes: [SampleSource], depth: Int,
        bands permitted: some Sequence<Int>
    ) throws(CodecError) {
        guard permitted.contains(bands), isValid(pixels, stride, width * bands * bytes),
            planes.allSatisfy({ isValid($0.memory, $0.stride, width * depth) })
        else { throw CodecError(kind: .internal, text: "planes do not match the pixels") }
    }

    private func isValid(_ memory: UnsafeRawBufferPointer, _ stride: Int, _ rowBytes: Int) -> Bool {
        rowBytes > 0 && height > 0 && stride >= rowBytes
            && memory.count >= stride * (height - 1) + rowBytes
    }
}

/// The alignment of all planes that a graph reads or writes: they and each of their rows start at a
/// multiple of 64 bytes.
///
/// zimg reads each row up to the next multiple of 64 bytes beyond its width and writes at most as
/// far. Its output doesn't depend on those bytes.
public enum ZimgPlane {
    /// The alignment of addresses and strides in bytes.
    public static let alignment = Int(CZIMG_ALIGNMENT)

    /// Returns the smallest stride for rows of `rowBytes` bytes.
    public static func stride(rowBytes: Int) -> Int {
        (rowBytes + alignment - 1) / alignment * alignment
    }

    static func isValid(_ plane: SampleSource, rowBytes: Int, height: Int) -> Bool {
        plane.stride % alignment == 0
            && Int(bitPattern: plane.memory.baseAddress) % alignment == 0
            && plane.holds(rowBytes: Self.stride(rowBytes: rowBytes), height: height)
    }
}

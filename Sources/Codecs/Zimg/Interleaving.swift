internal import CZimg
public import CodecSupport

/// Converts between pixels of 1 to 4 interleaved bands and planes, optionally with premultiplied
/// alpha. Premultiplication is required before pixels are blended, otherwise the colors of
/// transparent pixels bleed in.
///
/// 8-bit samples have AVX2 and portable loops. `codePath` selects: all values but `portable` use
/// AVX2 if the processor supports it.
public enum Interleaving {
    /// Separates bands into planes.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `width` pixels with a sample for each target, `stride` bytes
    ///     apart.
    ///   - targets: 1 to 4 planes, one for each band. No alignment is required, and nothing beyond
    ///     `width` is written. Their samples have 16 bits if `isDeep` or `premultiplied`.
    ///   - isDeep: whether the samples of `pixels` have 16 bits; they are at even addresses.
    ///   - premultiplied: whether to multiply colors by the last of 2 or 4 bands, which is alpha.
    /// - Throws: `internal` if a buffer is too small.
    public static func separate(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        into targets: [SampleTarget], isDeep: Bool = false, premultiplied: Bool = false,
        codePath: ZimgCodePath = .automatic
    ) throws(CodecError) {
        let source = SampleSource(memory: pixels, stride: stride)
        try check(
            source, targets.map(\.source), width, height, isDeep: isDeep,
            premultiplied: premultiplied)
        let (strides, bands) = (targets.map(\.stride), CInt(targets.count))
        switch (isDeep, premultiplied) {
        case (true, _):
            czimg_deinterleave_deep(
                source.base(UInt16.self), stride, targets.map { $0.base(UInt16.self) }, strides,
                width, height, bands, premultiplied ? 1 : 0)
        case (false, true):
            czimg_premultiply(
                source.base(UInt8.self), stride, targets.map { $0.base(UInt16.self) }, strides,
                width, height, bands)
        case (false, false):
            czimg_deinterleave(
                source.base(UInt8.self), stride, targets.map { $0.base(UInt8.self) }, strides,
                width, height, bands, codePath.shim)
        }
    }

    /// Joins planes into interleaved bands; the inverse of `separate` with the same rules. Colors
    /// become 0 if alpha is 0.
    public static func join(
        _ sources: [SampleSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int, isDeep: Bool = false, premultiplied: Bool = false,
        codePath: ZimgCodePath = .automatic
    ) throws(CodecError) {
        let target = SampleTarget(memory: pixels, stride: stride)
        try check(
            target.source, sources, width, height, isDeep: isDeep, premultiplied: premultiplied)
        let (strides, bands) = (sources.map(\.stride), CInt(sources.count))
        switch (isDeep, premultiplied) {
        case (true, _):
            czimg_interleave_deep(
                sources.map { $0.base(UInt16.self) }, strides, target.base(UInt16.self), stride,
                width, height, bands, premultiplied ? 1 : 0)
        case (false, true):
            czimg_unpremultiply(
                sources.map { $0.base(UInt16.self) }, strides, target.base(UInt8.self), stride,
                width, height, bands)
        case (false, false):
            czimg_interleave(
                sources.map { $0.base(UInt8.self) }, strides, target.base(UInt8.self), stride,
                width, height, bands, codePath.shim)
        }
    }

    private static func check(
        _ pixels: SampleSource, _ planes: [SampleSource], _ width: Int, _ height: Int,
        isDeep: Bool, premultiplied: Bool
    ) throws(CodecError) {
        let bands = planes.count
        let isPossible = premultiplied ? bands == 2 || bands == 4 : (1...4).contains(bands)
        let depth = isDeep || premultiplied ? 2 : 1
        guard isPossible, pixels.holds(rowBytes: width * bands * (isDeep ? 2 : 1), height: height),
            planes.allSatisfy({ $0.holds(rowBytes: width * depth, height: height) })
        else { throw CodecError(kind: .internal, text: "planes do not match the pixels") }
    }
}

/// The alignment of all planes that a graph reads or writes: they and each of their rows start at a
/// multiple of 64 bytes, and the memory of the last row extends to one, too.
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

internal import CZimg

/// The way between pixels of 1 to 4 interleaved 8-bit bands and planes: as they are, or with their
/// colours multiplied by alpha, which must be done before pixels are mixed, lest the colours of
/// transparent ones show.
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
        into targets: [ZimgPlaneTarget]
    ) throws(ZimgError) {
        let areFit =
            isFit(pixels, stride, width * targets.count, height)
            && targets.allSatisfy {
                isFit(UnsafeRawBufferPointer($0.memory), $0.stride, width, height)
            }
        guard areFit, (1...4).contains(targets.count) else { throw unfit }
        let bases = targets.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        czimg_deinterleave(
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, bases,
            targets.map(\.stride), width, height, CInt(targets.count))
    }

    /// Puts bands together; the other way round, and with the same rules.
    public static func join(
        _ sources: [ZimgPlaneSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int
    ) throws(ZimgError) {
        let areFit =
            isFit(UnsafeRawBufferPointer(pixels), stride, width * sources.count, height)
            && sources.allSatisfy { isFit($0.memory, $0.stride, width, height) }
        guard areFit, (1...4).contains(sources.count) else { throw unfit }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        czimg_interleave(
            bases, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count))
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
        let areFit =
            isFit(pixels, stride, width * targets.count, height)
            && targets.allSatisfy {
                isFit(UnsafeRawBufferPointer($0.memory), $0.stride, 2 * width, height)
            }
        guard areFit, targets.count == 2 || targets.count == 4 else { throw unfit }
        let bases = targets.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt16.self) }
        czimg_premultiply(
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, bases,
            targets.map(\.stride), width, height, CInt(targets.count))
    }

    /// Undoes `premultiply`; where alpha is 0, colours become 0.
    public static func unpremultiply(
        _ sources: [ZimgPlaneSource], into pixels: UnsafeMutableRawBufferPointer, stride: Int,
        width: Int, height: Int
    ) throws(ZimgError) {
        let areFit =
            isFit(UnsafeRawBufferPointer(pixels), stride, width * sources.count, height)
            && sources.allSatisfy { isFit($0.memory, $0.stride, 2 * width, height) }
        guard areFit, sources.count == 2 || sources.count == 4 else { throw unfit }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt16.self) }
        czimg_unpremultiply(
            bases, sources.map(\.stride),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride, width, height,
            CInt(sources.count))
    }

    private static func isFit(
        _ memory: UnsafeRawBufferPointer, _ stride: Int, _ rowBytes: Int, _ height: Int
    ) -> Bool {
        rowBytes > 0 && height > 0 && stride >= rowBytes
            && memory.count >= stride * (height - 1) + rowBytes
    }

    private static var unfit: ZimgError {
        ZimgError(kind: .internal, text: "planes do not fit the pixels")
    }
}

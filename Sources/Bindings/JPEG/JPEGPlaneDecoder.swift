internal import CJPEG

/// Decodes one JPEG into planes: grey, or Y, Cb and Cr as the file has them, full range (JFIF),
/// chroma centred, neither enlarged to the size of luma nor converted to RGB.
///
/// As strict as libvips 8.14 with `fail_on=error`: a file that is cut off is corrupt, up to 99
/// warnings are passed over, and what stands behind the last sample is not looked at.
public struct JPEGPlaneDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// Grey: one. YCbCr: three.
    public let planes: [JPEGPlane]
    /// How many samples of luma each of chroma has in `planes`; nil of a grey file, and of one
    /// where Cb and Cr differ or the numbers are not 1, 2 or 4.
    public let chroma: JPEGChroma?

    /// Reads the header and chooses the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives.
    ///   - reduction: 1, 2, 4 or 8: so many times fewer samples in each direction. libjpeg scales
    ///     subsampled chroma up where that costs nothing: reduced by 2, a 4:2:0 file gives chroma
    ///     of luma's size. `planes` says what comes.
    /// - Throws: `corrupt`, `unsupported` (not grey or YCbCr, lossless, 12 bits, fractional
    ///   sampling), `outOfMemory`.
    public init(
        _ bytes: UnsafeRawBufferPointer, reduction: Int = 1, limits: JPEGLimits = .standard
    ) throws(JPEGError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw JPEGError(kind: .internal, text: "reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits)
        var failure = cjpeg_failure()
        let status = cjpeg_select_planes(handle.pointer, CInt(8 / reduction), &failure)
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        let pointer = handle.pointer
        planes = handle.header.sampling.indices.map { index in
            JPEGPlane(cjpeg_plane_of(pointer, CInt(index)))
        }
        var (horizontal, vertical): (CInt, CInt) = (0, 0)
        let hasChroma = cjpeg_chroma_log2(pointer, &horizontal, &vertical) == 0
        chroma =
            hasChroma
            ? JPEGChroma(horizontalLog2: Int(horizontal), verticalLog2: Int(vertical)) : nil
        self.handle = handle
    }

    /// What the file says of itself.
    public var header: JPEGHeader { handle.header }

    /// Decodes straight into the caller's memory.
    ///
    /// All `paddedWidth` × `paddedHeight` bytes of each plane are written, and none beside them.
    /// After an error they hold anything.
    ///
    /// - Parameters:
    ///   - targets: one for each of `planes`.
    ///   - isCancelled: asked on this thread on every row of MCUs, and of a file with many scans on
    ///     every row of every scan.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   where a target is too small.
    public consuming func decode(
        into targets: [JPEGPlaneTarget], isCancelled: () -> Bool
    ) throws(JPEGError) {
        guard targets.count == planes.count, zip(planes, targets).allSatisfy({ $0.fits($1) })
        else { throw JPEGError(kind: .internal, text: "targets do not fit the planes") }
        let bases = targets.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = targets.map(\.stride)
        let pointer = handle.pointer
        var failure = cjpeg_failure()
        let status = JPEGCancellation.withContext(isCancelled) { context in
            cjpeg_decode(pointer, bases, strides, askWhetherCancelled, context, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
    }
}

internal import CJPEG

/// Decodes the first bytes of a JPEG into rows of pixels, as libvips makes them: grey, RGB, or CMYK
/// that is not inverted.
///
/// Of a file whose pixels lie in one scan these are the rows that have arrived, of one with several
/// scans all rows of the scans that have. What is missing is grey. Warnings are passed over.
public struct JPEGRowDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// Columns that can be decoded, the last one of which may be a part of one.
    public let width: Int
    /// Rows likewise.
    public let height: Int
    /// Samples of a pixel, of 8 bits.
    public let bands: Int

    /// Reads the header and chooses the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives. They end behind a whole
    ///     segment or within a scan (`JPEGBeginning`): half a table is corrupt.
    ///   - reduction: 1, 2, 4 or 8: so many times fewer pixels in each direction.
    /// - Throws: `corrupt` for a header that is not there as a whole, `unsupported`, `outOfMemory`.
    public init(
        beginning bytes: UnsafeRawBufferPointer, reduction: Int = 1,
        limits: JPEGLimits = .standard
    ) throws(JPEGError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw JPEGError(kind: .internal, text: "reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits, isBeginning: true)
        var (failure, size) = (cjpeg_failure(), cjpeg_size())
        let status = cjpeg_select_rows(handle.pointer, CInt(8 / reduction), &size, &failure)
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        (width, height, bands) = (Int(size.width), Int(size.height), Int(size.bands))
        self.handle = handle
    }

    /// Decodes the first columns and rows straight into the caller's memory, which they fill.
    ///
    /// - Parameter isCancelled: asked on this thread, on every row, and of a file with many scans
    ///   on every row of MCUs in every scan.
    /// - Returns: how much of the image was there; if nothing, all is grey.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   where the memory is of another size.
    public consuming func decode(
        into memory: UnsafeMutableRawBufferPointer, columns: Int, rows: Int,
        isCancelled: () -> Bool
    ) throws(JPEGError) -> JPEGArrival {
        guard (1...width).contains(columns), (1...height).contains(rows),
            memory.count == columns * rows * bands
        else { throw JPEGError(kind: .internal, text: "the memory does not fit the rows") }
        let (pointer, base) = (handle.pointer, memory.baseAddress)
        var (failure, arrival) = (cjpeg_failure(), CJPEG_NOT_ARRIVED)
        let status = JPEGCancellation.withContext(isCancelled) { context in
            cjpeg_decode_rows(
                pointer, base?.assumingMemoryBound(to: UInt8.self), CInt(columns), CInt(rows),
                askWhetherCancelled, context, &arrival, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        return JPEGArrival(arrival)
    }
}

/// How much of an image its bytes had.
public enum JPEGArrival: Sendable {
    /// Nothing that could be shown.
    case nothing
    /// Some of it, or all of it where the file does not end too early.
    case part
    /// All of it, though the file has no end of image.
    case whole

    fileprivate init(_ arrival: cjpeg_arrival) {
        switch arrival {
        case CJPEG_ARRIVED: self = .whole
        case CJPEG_ARRIVED_IN_PART: self = .part
        default: self = .nothing
        }
    }
}

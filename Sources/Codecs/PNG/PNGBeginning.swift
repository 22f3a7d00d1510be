internal import CPNG
public import CodecSupport

/// Decodes the beginning of a PNG.
public struct PNGBeginning {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA; palettes and transparent colors are expanded.
    public let bands: Int
    /// 1, or 2 in native byte order.
    public let bytesPerBand: Int

    /// Describes the pixels of a file according to its header.
    public init(width: Int, height: Int, bands: Int, bytesPerBand: Int) {
        (self.width, self.height, self.bands) = (width, height, bands)
        self.bytesPerBand = bytesPerBand
    }

    /// Writes the rows that have arrived and leaves the others unchanged. In an interlaced file
    /// each pass fills blocks that later passes refine. Decoding ends at damaged data after a row.
    ///
    /// - Parameters:
    ///   - bytes: the beginning of the file.
    ///   - pixels: exactly the size of the image, in rows without padding.
    ///   - isCancelled: called on this thread for every row.
    /// - Returns: the last row written, counted from 1, or 0 if there is none; and whether all rows
    ///   were written and no available checksum of their chunks is wrong.
    /// - Throws: `corrupt`, `cancelled`, `outOfMemory`, `internal` if the file has other pixels.
    public func read(
        _ bytes: UnsafeRawBufferPointer, into pixels: UnsafeMutableRawBufferPointer,
        isCancelled: () -> Bool
    ) throws(CodecError) -> (rows: Int, isWhole: Bool) {
        guard width > 0, height > 0, pixels.count == width * height * bands * bytesPerBand else {
            throw CodecError(kind: .internal, text: "the memory does not match the image")
        }
        let form = cpng_form(
            width: CInt(clamping: width), height: CInt(clamping: height), bands: CInt(bands),
            bytes_per_band: CInt(bytesPerBand))
        let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var (rows, isWhole): (CInt, CInt) = (0, 0)
        var failure = cpng_failure()
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cpng_read_beginning(
                bytes.baseAddress, bytes.count, form, base, isCancelledCallback, context, &rows,
                &isWhole, &failure)
        }
        guard status == CPNG_OK else {
            throw CodecError(status: status.rawValue, message: failure.text)
        }
        return (Int(rows), isWhole != 0)
    }
}

/// Limits the number of bytes that libraries in this process may inflate, since libpng doesn't
/// limit texts and data after the pixels. Unlimited by default. Usable from any thread.
public enum InflateLimit {
    /// Removes the limit.
    public static func lift() { cpng_lift_inflate_limit() }

    /// Sets the limit to 0 until bytes are permitted; each permission adds another `each` bytes.
    public static func begin(each: Int) { cpng_limit_inflate(UInt64(clamping: min(each, most))) }

    /// Permits inflating `bytes` more bytes.
    public static func permit(_ bytes: Int) {
        cpng_permit_inflate(UInt64(clamping: min(bytes, most)))
    }

    /// More than any process inflates, and small enough not to overflow when added.
    private static let most = 1 << 48

    /// Whether inflating was cut off by the limit. The data read then is incomplete.
    public static var isExceeded: Bool { cpng_is_inflate_exceeded() != 0 }
}

internal import CPNG

/// Reads the first bytes of a PNG into pixels.
public struct PNGBeginning {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha: palettes and transparent colours resolved.
    public let bands: Int
    /// 1, or 2 in the machine's order.
    public let bytesPerBand: Int

    /// The pixels that a file has, as its header says.
    public init(width: Int, height: Int, bands: Int, bytesPerBand: Int) {
        (self.width, self.height, self.bands) = (width, height, bands)
        self.bytesPerBand = bytesPerBand
    }

    /// Writes the rows that have arrived and leaves the others as they are. Of an interlaced file
    /// each pass fills the blocks that later ones refine. Damage behind a row ends the reading.
    ///
    /// - Parameters:
    ///   - bytes: the file from its start on.
    ///   - pixels: rows without padding, exactly as large as the image.
    ///   - isCancelled: asked on this thread on every row.
    /// - Returns: the last row that was written, counted from 1, 0: there is none yet; and whether
    ///   all rows were, and no sum of their chunks that is there is wrong.
    /// - Throws: `corrupt`, `cancelled`, `outOfMemory`, `internal` where the file has other pixels.
    public func read(
        _ bytes: UnsafeRawBufferPointer, into pixels: UnsafeMutableRawBufferPointer,
        isCancelled: () -> Bool
    ) throws(PNGError) -> (rows: Int, isWhole: Bool) {
        guard width > 0, height > 0, pixels.count == width * height * bands * bytesPerBand else {
            throw PNGError(kind: .internal, text: "the memory does not fit the image")
        }
        let form = cpng_form(
            width: CInt(clamping: width), height: CInt(clamping: height), bands: CInt(bands),
            bytes_per_band: CInt(bytesPerBand))
        let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var (rows, isWhole): (CInt, CInt) = (0, 0)
        var failure = cpng_failure()
        let status = PNGCancellation.withContext(isCancelled) { context in
            cpng_read_beginning(
                bytes.baseAddress, bytes.count, form, base, askWhetherCancelled, context, &rows,
                &isWhole, &failure)
        }
        guard status == CPNG_FINE else { throw PNGError(status, failure) }
        return (Int(rows), isWhole != 0)
    }
}

/// What a C callback can carry in place of a closure, for the time of one call.
private struct PNGCancellation {
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ isCancelled: () -> Bool, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(isCancelled) { isCancelled in
            var cancellation = PNGCancellation(isCancelled: isCancelled)
            return withUnsafeMutablePointer(to: &cancellation) { body(UnsafeMutableRawPointer($0)) }
        }
    }
}

private func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libpng has returned.
    return context.assumingMemoryBound(to: PNGCancellation.self).pointee.isCancelled() ? 1 : 0
}

/// How many bytes the libraries of this process may inflate: libpng has no limit that counts what
/// lies behind the pixels or in texts. There is none until one is set. Any thread.
public enum InflateLimit {
    /// Lifts the limit.
    public static func lift() { cpng_lift_inflate_limit() }

    /// Nothing may be inflated until it is permitted; `each` bytes come with every permission.
    public static func begin(each: Int) { cpng_limit_inflate(UInt64(clamping: min(each, most))) }

    /// So many bytes more may be inflated.
    public static func permit(_ bytes: Int) {
        cpng_permit_inflate(UInt64(clamping: min(bytes, most)))
    }

    /// More than any process inflates, and little enough to be added up.
    private static let most = 1 << 48

    /// Whether more was to be inflated than was permitted. What was read then is incomplete.
    public static var isExceeded: Bool { cpng_is_inflate_exceeded() != 0 }
}

/// Why libpng read nothing.
public struct PNGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The bytes are damaged or no PNG.
        case corrupt
        /// The cancellation closure answered true.
        case cancelled
        /// There is no memory.
        case outOfMemory
        /// A fault of ours: another form than that of the file.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What libpng said; for the log, not for a client.
    public let text: String

    /// `corrupt: bad adaptive filter value`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) { (self.kind, self.text) = (kind, text) }

    init(_ status: cpng_status, _ failure: cpng_failure) {
        kind =
            switch status {
            case CPNG_CORRUPT: .corrupt
            case CPNG_STOPPED: .cancelled
            case CPNG_NO_MEMORY: .outOfMemory
            default: .internal
            }
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

internal import CWebP

/// Reads the first bytes of a WebP into pixels.
public struct WebPBeginning {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Whether some pixels may be transparent.
    public let hasAlpha: Bool
    /// Whether it has frames: then no pixels are made of it.
    public let isAnimated: Bool
    private let bytes: UnsafeRawBufferPointer

    /// Reads the header.
    ///
    /// - Parameter bytes: the file from its start on; must stay valid and unchanged.
    /// - Throws: `corrupt`, also for a header that is not there as a whole; `tooLarge` where more
    ///   than 256 chunks stand in front of the pixels.
    public init(_ bytes: UnsafeRawBufferPointer) throws(WebPError) {
        var header = cwebp_header()
        let status = cwebp_read_header(Self.shim(bytes), &header)
        guard status != CWEBP_TOO_LARGE else {
            throw WebPError(kind: .tooLarge, text: "too many chunks in front of the pixels")
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
        (width, height) = (Int(header.width), Int(header.height))
        (hasAlpha, isAnimated) = (header.has_alpha != 0, header.is_animated != 0)
        self.bytes = bytes
    }

    /// 3 RGB, or 4 RGB and alpha, not premultiplied.
    public var bands: Int { hasAlpha ? 4 : 3 }

    /// Writes the rows that have arrived and leaves the others as they are.
    ///
    /// - Parameters:
    ///   - pixels: of the scaled image, without padding, exactly as large as it is.
    ///   - width: columns of the scaled image, at most those of the file.
    ///   - height: rows of it.
    ///   - isCancelled: asked on this thread every few rows, and seldom in front of the first one.
    /// - Returns: how many rows were written. Damage behind them ends the reading.
    /// - Throws: `corrupt`, also for an animation; `cancelled`, `outOfMemory`, `internal`.
    public func read(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int,
        isCancelled: () -> Bool
    ) throws(WebPError) -> Int {
        guard (1...self.width).contains(width), (1...self.height).contains(height),
            pixels.count == width * height * bands
        else { throw WebPError(kind: .internal, text: "the memory does not fit the image") }
        guard !isAnimated else { throw WebPError(kind: .corrupt, text: "an animation") }
        let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let shim = Self.shim(bytes)
        var rows: CInt = 0
        let status = WebPCallbacks.withContext({ _ in true }, isCancelled) { context in
            cwebp_read_beginning(
                shim, CInt(width), CInt(height), CInt(bands), base, askWhetherCancelled, context,
                &rows)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
        return Int(rows)
    }

    private static func shim(_ bytes: UnsafeRawBufferPointer) -> cwebp_bytes {
        cwebp_bytes(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

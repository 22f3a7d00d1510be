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

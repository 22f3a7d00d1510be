internal import CVipsShims

extension VipsImage {
    /// Pixels that are there already: bands interleaved, rows without padding.
    ///
    /// - Parameters:
    ///   - pixels: exactly `width` × `height` × `bands` × `bytesPerBand` bytes; must stay valid and
    ///     unchanged while the image or anything derived from it lives; `owner` can see to that.
    ///   - bands: 1 grey, 2 grey and alpha, 3 sRGB, 4 sRGB and alpha.
    ///   - bytesPerBand: 1, or 2 in the machine's order.
    ///   - isCMYK: what 4 bands are.
    public static func pixels(
        _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int,
        bytesPerBand: Int = 1, isCMYK: Bool = false, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try make("new_from_memory", owner: owner) { out in
            cvips_wrap(
                pixels.baseAddress, pixels.count, CInt(width), CInt(height), CInt(bands),
                CInt(bytesPerBand), isCMYK ? 1 : 0, out)
        }
    }

    /// Columns or rows of an image at most.
    public static let sideMax = 10_000_000

    /// Zeros that take no memory: what is known of pixels that something else makes.
    ///
    /// - Parameters:
    ///   - bands: as for `pixels`.
    ///   - bytesPerBand: as for `pixels`.
    /// - Throws: `tooLarge` for a side above `sideMax`, `corrupt` for one below 1.
    public static func blank(
        width: Int, height: Int, bands: Int, bytesPerBand: Int = 1
    ) throws(VipsError) -> VipsImage {
        guard min(width, height) >= 1, max(width, height) <= sideMax else {
            throw VipsError(
                kind: min(width, height) < 1 ? .corrupt : .tooLarge, operation: "blank",
                text: "an image of \(width) × \(height)")
        }
        return try make("black", owner: nil) { out in
            cvips_blank(
                CInt(width), CInt(height), CInt(bands), CInt(bytesPerBand), out)
        }
    }

    /// Computes all pixels, into memory that the new image owns: for operations that ask for rows
    /// in another order than a decoder makes them.
    public func copiedToMemory() throws(VipsError) -> VipsImage {
        try withExtendedLifetime(self) { () throws(VipsError) -> VipsImage in
            try Self.make("copy_memory", owner: owner, otherwise: .corrupt) { out in
                cvips_copy_memory(pointer, out)
            }
        }
    }

    /// Lends all pixels, `width` × `height` × `bands` samples without padding: where they lie if
    /// they are in memory already, else computed first. The image must be of 8 or 16 bits.
    ///
    /// - Throws: as `write`; what `body` throws.
    public func withPixels<Result>(
        _ body: (UnsafeRawBufferPointer) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        try withExtendedLifetime(self) { () throws(VipsError) -> Result in
            var count = 0
            guard let pixels = cvips_pixels(pointer, &count) else {
                throw VipsError.take("pixels", otherwise: .corrupt)
            }
            return try body(UnsafeRawBufferPointer(start: pixels, count: count))
        }
    }

    /// Computes all pixels straight into `pixels`, which must hold exactly `width` × `height` ×
    /// `bands` samples; the image must be of 8 or 16 bits.
    ///
    /// - Throws: `corrupt` where the pixels come from damaged bytes, `killed`, `internal`.
    public func write(to pixels: UnsafeMutableRawBufferPointer) throws(VipsError) {
        let result = withExtendedLifetime(self) {
            cvips_write(pointer, pixels.baseAddress, pixels.count)
        }
        guard result == 0 else { throw VipsError.take("write", otherwise: .corrupt) }
    }
}

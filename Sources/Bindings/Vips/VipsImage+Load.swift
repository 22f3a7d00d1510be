internal import CVipsShims

extension VipsImage {
    /// A JPEG, its header read.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the image or anything derived from it lives;
    ///     `owner` can see to that.
    ///   - shrink: 1, 2, 4 or 8: the decoder makes pixels that many times fewer in each direction.
    ///     The result has `floor(size / shrink)` columns and rows: of 2725 columns shrunk by 4
    ///     stay 681, though the picture is 681.25 wide.
    /// - Throws: `corrupt` or `unsupported`; what is wrong behind the header shows when pixels are
    ///   computed.
    public static func jpeg(
        _ bytes: UnsafeRawBufferPointer, shrink: Int = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try make("jpegload", owner: owner, otherwise: .corrupt) { out in
            cvips_load_jpeg(bytes.baseAddress, bytes.count, CInt(shrink), out)
        }
    }

    /// A PNG, its header read; of an animated one the default image. Bytes and errors as `jpeg`.
    public static func png(
        _ bytes: UnsafeRawBufferPointer, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try make("pngload", owner: owner, otherwise: .corrupt) { out in
            cvips_load_png(bytes.baseAddress, bytes.count, out)
        }
    }

    /// The first frame of a WebP, its header read. Bytes and errors as `jpeg`.
    ///
    /// - Parameter scale: at most 1: the decoder makes an image of so much of each side, rounded.
    public static func webp(
        _ bytes: UnsafeRawBufferPointer, scale: Double = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try make("webpload", owner: owner, otherwise: .corrupt) { out in
            cvips_load_webp(bytes.baseAddress, bytes.count, scale, out)
        }
    }

    /// The first frame of a GIF, its header read. Bytes and errors as `jpeg`.
    public static func gif(
        _ bytes: UnsafeRawBufferPointer, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try make("gifload", owner: owner, otherwise: .corrupt) { out in
            cvips_load_gif(bytes.baseAddress, bytes.count, out)
        }
    }
}

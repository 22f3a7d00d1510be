internal import CVipsShims

extension VipsImage {
    /// An image, its header read.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the image or anything derived from it lives;
    ///     `owner` can see to that.
    ///   - loader: one that a `VipsLibrary` was made with.
    ///   - mayEnd: whether of a file that ends early the pixels are made that are there, where the
    ///     loader can do so.
    ///   - options: numbers of the loader, by libvips' names; others than it has are ignored.
    /// - Throws: `corrupt`, or `unsupported`, as for a loader that was not permitted; what is wrong
    ///   behind the header shows when pixels are computed.
    public static func load(
        _ bytes: UnsafeRawBufferPointer, by loader: VipsLoader, mayEnd: Bool = false,
        options: KeyValuePairs<StaticString, Double> = [:], owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        let numbers = options.map { name, value in
            cvips_option(
                name: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
                value: value)
        }
        return try make(loader.name, owner: owner, otherwise: .corrupt) { out in
            cvips_load(
                loader.name, bytes.baseAddress, bytes.count, mayEnd ? 1 : 0, numbers,
                numbers.count, out)
        }
    }

    /// A JPEG, its header read.
    ///
    /// - Parameter shrink: 1, 2, 4 or 8: the decoder makes pixels that many times fewer in each
    ///   direction. The result has `floor(size / shrink)` columns and rows: of 2725 columns shrunk
    ///   by 4 stay 681, though the image is 681.25 wide.
    public static func jpeg(
        _ bytes: UnsafeRawBufferPointer, shrink: Int = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .jpeg, options: ["shrink": Double(shrink)], owner: owner)
    }

    /// A PNG, its header read; of an animated one the default image.
    public static func png(
        _ bytes: UnsafeRawBufferPointer, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .png, owner: owner)
    }

    /// The first frame of a WebP, its header read.
    ///
    /// - Parameter scale: at most 1: the decoder makes an image of so much of each side, rounded.
    public static func webp(
        _ bytes: UnsafeRawBufferPointer, scale: Double = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .webp, options: ["scale": scale, "page": 0, "n": 1], owner: owner)
    }

    /// The first frame of a GIF, its header read.
    public static func gif(
        _ bytes: UnsafeRawBufferPointer, mayEnd: Bool = false, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .gif, mayEnd: mayEnd, options: ["page": 0, "n": 1], owner: owner)
    }

    /// The first page of a PDF on white, its header read; a point is a pixel at scale 1.
    ///
    /// - Parameter scale: libvips makes those from a thousandth to a hundred thousand: of others it
    ///   is the nearest of these.
    public static func pdf(
        _ bytes: UnsafeRawBufferPointer, scale: Double = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        let scale = min(max(scale, 0.001), 100_000)
        return try load(
            bytes, by: .pdf, options: ["scale": scale, "page": 0, "n": 1], owner: owner)
    }
}

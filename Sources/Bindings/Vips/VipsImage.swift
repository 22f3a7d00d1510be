internal import CVipsShims

/// An image as libvips sees it: a description of how to make pixels, which are computed when
/// something asks for them (`write`, `copiedToMemory`, `save`).
///
/// Errors of the pixels therefore come from those three. An image made from bytes in memory holds
/// `owner` as long as it or anything derived from it lives. Not `Sendable`: libvips has one error
/// buffer for the process, so one thread works with images at a time.
public final class VipsImage {
    typealias Handle = cvips_image

    let pointer: Handle
    let owner: AnyObject?

    /// Takes over one reference.
    init(adopting pointer: Handle, owner: AnyObject?) {
        self.pointer = pointer
        self.owner = owner
    }

    deinit {
        cvips_unref(pointer)
    }

    /// Runs a shim that makes an image and adopts what it made.
    static func make(
        _ operation: String, owner: AnyObject?, otherwise kind: VipsError.Kind = .internal,
        _ body: (UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        var out: Handle?
        guard body(&out) == 0, let out else {
            throw VipsError.take(operation, otherwise: kind)
        }
        return VipsImage(adopting: out, owner: owner)
    }

    /// The same, for an operation on this image.
    func derive(
        _ operation: String,
        _ body: (Handle, UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        try withExtendedLifetime(self) { () throws(VipsError) -> VipsImage in
            try Self.make(operation, owner: owner) { out in body(pointer, out) }
        }
    }
}

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

/// A copy of bytes, for as long as images refer to them: their owner in `VipsImage.load` and
/// `VipsImage.pixels`. Read-only.
public final class HeldBytes: Sendable {
    // Unsafe: nobody writes them, and they go with this object.
    /// The bytes, valid as long as this object.
    public nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// A copy of these.
    public init(_ array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 64)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}

extension VipsImage {
    /// From now on, `shouldStop` is asked every few rows whenever pixels of this image, or of one
    /// derived from it after this call, are computed; when it answers true, the computation fails
    /// with `killed`.
    ///
    /// It is called on the thread that computes, or on one of libvips; it must be quick. Encoders
    /// that take the whole image at once (WebP) do not ask while they run.
    public func watch(_ shouldStop: @escaping @Sendable () -> Bool) {
        let box = Unmanaged.passRetained(VipsWatcher(shouldStop))
        withExtendedLifetime(self) {
            cvips_watch(pointer, askWatcher, box.toOpaque(), releaseWatcher)
        }
    }
}

/// What a C callback can carry in place of a closure.
private final class VipsWatcher: Sendable {
    let shouldStop: @Sendable () -> Bool

    init(_ shouldStop: @escaping @Sendable () -> Bool) {
        self.shouldStop = shouldStop
    }
}

private func askWatcher(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // Retained by `watch`, released when the image goes.
    let watcher = Unmanaged<VipsWatcher>.fromOpaque(context).takeUnretainedValue()
    return watcher.shouldStop() ? 1 : 0
}

private func releaseWatcher(context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<VipsWatcher>.fromOpaque(context).release()
}

/// What is known of an image before its pixels.
public struct VipsHeader: Equatable, Sendable {
    /// The colour spaces that are told apart.
    public enum Colour: Sendable {
        case grey, grey16, rgb, rgb16, cmyk, other
    }

    /// The kinds of samples that are told apart.
    public enum Samples: Sendable {
        /// Whole numbers from 0 on, of 8 or 16 bits, all of which are used.
        case whole
        /// Numbers with a fraction.
        case real
        case other
    }

    /// Columns of one page, as stored: `orientation` not applied.
    public let width: Int
    /// Rows of one page, as stored.
    public let height: Int
    /// Samples of a pixel, alpha included.
    public let bands: Int
    /// 1 for 8 bits, 2 for 16.
    public let bytesPerBand: Int
    /// What a sample is.
    public let samples: Samples
    /// How the bands are to be read.
    public let colour: Colour
    /// Whether the last band is alpha.
    public let hasAlpha: Bool
    /// Number of pages or frames in the bytes; 1 where the format has none.
    public let pages: Int
    /// EXIF orientation, 1 to 8; nil where EXIF says nothing.
    public let orientation: Int?
    /// Whether the decoder must keep the whole image in memory (progressive JPEG, Adam7 PNG).
    public let isInterlaced: Bool
}

extension VipsHeader.Colour {
    init(_ colour: cvips_colour) {
        self =
            switch colour {
            case CVIPS_COLOUR_GREY: .grey
            case CVIPS_COLOUR_GREY16: .grey16
            case CVIPS_COLOUR_RGB: .rgb
            case CVIPS_COLOUR_RGB16: .rgb16
            case CVIPS_COLOUR_CMYK: .cmyk
            default: .other
            }
    }
}

extension VipsHeader.Colour {
    /// The signature of the color space that an ICC profile of these samples has
    /// (ICC.1:2022, table 19); `nil` for colors that mean the same on every device.
    public var profileSpace: String? {
        switch self {
        case .grey, .grey16: "GRAY"
        case .rgb, .rgb16: "RGB "
        case .cmyk: "CMYK"
        case .other: nil
        }
    }
}

extension VipsHeader.Samples {
    init(_ samples: cvips_samples) {
        self =
            switch samples {
            case CVIPS_SAMPLES_WHOLE: .whole
            case CVIPS_SAMPLES_REAL: .real
            default: .other
            }
    }
}

extension VipsImage {
    /// Width in pixels.
    public var width: Int { header.width }

    /// Height in pixels.
    public var height: Int { header.height }

    /// What is known without computing pixels.
    public var header: VipsHeader {
        var raw = cvips_header()
        withExtendedLifetime(self) { cvips_read_header(pointer, &raw) }
        return VipsHeader(
            width: Int(raw.width), height: Int(raw.height), bands: Int(raw.bands),
            bytesPerBand: Int(raw.bytes_per_band),
            samples: VipsHeader.Samples(raw.samples), colour: VipsHeader.Colour(raw.colour),
            hasAlpha: raw.has_alpha != 0, pages: Int(raw.pages),
            orientation: raw.orientation == 0 ? nil : Int(raw.orientation),
            isInterlaced: raw.interlaced != 0)
    }

    /// Hands the embedded ICC profile to `body`, for that call only; nil without a profile.
    public func withProfile<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_profile, body)
    }

    /// The same with the XMP packet, which anyone may have written.
    public func withXMP<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_xmp, body)
    }

    /// The same with EXIF, which anyone may have written; `Exif` and two zeros may be in front.
    public func withEXIF<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_exif, body)
    }

    /// The same with IPTC: records of IIM, or the resources of Photoshop that have them.
    public func withIPTC<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_iptc, body)
    }

    /// The bytes of a text of the header, by libvips' name for it, such as `exif-ifd0-Make`; nil
    /// without one. Anyone may have written it.
    public func text(_ name: String) -> [UInt8]? {
        withExtendedLifetime(self) {
            guard let text = cvips_text(pointer, name) else { return nil }
            var bytes: [UInt8] = []
            var place = text
            while place.pointee != 0 {
                bytes.append(UInt8(bitPattern: place.pointee))
                place += 1
            }
            return bytes
        }
    }

    /// A whole number of the header, by libvips' name for it; nil without one.
    public func number(_ name: String) -> Int? {
        withExtendedLifetime(self) {
            let number = cvips_number(pointer, name, .min)
            return number == .min ? nil : Int(number)
        }
    }

    /// Bytes of profile, EXIF, XMP and all other texts that came with the pixels.
    public var metadataBytes: Int {
        withExtendedLifetime(self) { cvips_metadata_bytes(pointer) }
    }

    private func withBlob<Result>(
        _ find: (Handle?, UnsafeMutablePointer<Int>?) -> UnsafeRawPointer?,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        withExtendedLifetime(self) {
            var count = 0
            guard let bytes = find(pointer, &count) else { return nil }
            return body(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }
}

internal import CVipsShims
private import Glibc

/// An image as libvips represents it: a pipeline whose pixels are computed on demand (`write`,
/// `copiedToMemory`, `save`).
///
/// Pixel errors are therefore thrown by those three. An image created from bytes in memory retains
/// `owner` as long as it or any derived image lives. Not `Sendable`: libvips has one error buffer
/// per process, so only one thread may work with images at a time.
public final class VipsImage {
    typealias Handle = cvips_image

    let pointer: Handle
    let owner: AnyObject?

    /// Takes ownership of one reference.
    init(adopting pointer: Handle, owner: AnyObject?) {
        self.pointer = pointer
        self.owner = owner
    }

    deinit {
        cvips_unref(pointer)
    }

    /// Runs a shim that creates an image and adopts the result.
    static func make(
        _ operation: String, owner: AnyObject?, otherwise kind: VipsError.Kind = .internal,
        _ body: (UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        var out: Handle?
        guard body(&out) == 0, let out else {
            throw VipsError.fromLibrary(operation, otherwise: kind)
        }
        return VipsImage(adopting: out, owner: owner)
    }

    /// Does the same for an operation on this image; without another owner, the result has this
    /// image's.
    func derive(
        _ operation: String, owner: AnyObject? = nil, otherwise kind: VipsError.Kind = .internal,
        _ body: (Handle, UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        defer { withExtendedLifetime(self) {} }
        return try Self.make(operation, owner: owner ?? self.owner, otherwise: kind) { out in
            body(pointer, out)
        }
    }
}

extension VipsImage {
    /// Opens an image and reads its header.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the image or any derived image lives; `owner`
    ///     can ensure that.
    ///   - loader: a loader that a `VipsLibrary` was created with.
    ///   - mayEnd: whether to decode the available pixels of a truncated file, if the loader
    ///     supports it.
    ///   - options: numeric loader options, named as in libvips; unknown ones are ignored.
    /// - Throws: `corrupt`, or `unsupported`, also for a loader that isn't permitted. Errors after
    ///   the header are thrown when pixels are computed.
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

    /// Opens a JPEG and reads its header.
    ///
    /// - Parameter shrink: 1, 2, 4 or 8: the factor by which the decoder reduces each dimension.
    ///   The result has `floor(size / shrink)` columns and rows: 2725 columns shrunk by 4 become
    ///   681, though the image is 681.25 wide.
    public static func jpeg(
        _ bytes: UnsafeRawBufferPointer, shrink: Int = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .jpeg, options: ["shrink": Double(shrink)], owner: owner)
    }

    /// Opens a PNG and reads its header. For an animated PNG this is the default image.
    public static func png(
        _ bytes: UnsafeRawBufferPointer, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .png, owner: owner)
    }

    /// Opens the first frame of a WebP and reads its header.
    ///
    /// - Parameter scale: at most 1; the decoder scales each dimension by it, rounded.
    public static func webp(
        _ bytes: UnsafeRawBufferPointer, scale: Double = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .webp, options: ["scale": scale, "page": 0, "n": 1], owner: owner)
    }

    /// Opens the first frame of a GIF and reads its header.
    public static func gif(
        _ bytes: UnsafeRawBufferPointer, mayEnd: Bool = false, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        try load(bytes, by: .gif, mayEnd: mayEnd, options: ["page": 0, "n": 1], owner: owner)
    }

    /// Opens the first page of a PDF on white and reads its header. At scale 1 a point is one
    /// pixel.
    ///
    /// - Parameter scale: clamped to libvips' range, 0.001 to 100,000.
    public static func pdf(
        _ bytes: UnsafeRawBufferPointer, scale: Double = 1, owner: AnyObject? = nil
    ) throws(VipsError) -> VipsImage {
        let scale = min(max(scale, 0.001), 100_000)
        return try load(
            bytes, by: .pdf, options: ["scale": scale, "page": 0, "n": 1], owner: owner)
    }
}

extension VipsImage {
    /// Creates an image of existing pixels with interleaved bands and rows without padding.
    ///
    /// - Parameters:
    ///   - pixels: exactly `width` × `height` × `bands` × `bytesPerBand` bytes. Must stay valid and
    ///     unchanged while the image or any derived image lives; `owner` can ensure that.
    ///   - bands: 1 gray, 2 gray and alpha, 3 sRGB, 4 sRGB and alpha.
    ///   - bytesPerBand: 1, or 2 in native byte order.
    ///   - isCMYK: whether 4 bands are CMYK.
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

    /// The largest number of columns or rows of an image.
    public static let sideMax = 10_000_000

    /// Creates an image of zeros that uses no memory, with the properties of pixels that are
    /// produced elsewhere.
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

    /// Computes all pixels into memory owned by the new image, for operations that request rows in
    /// an order other than the decoder's.
    public func copiedToMemory() throws(VipsError) -> VipsImage {
        try derive("copy_memory", otherwise: .corrupt) { cvips_copy_memory($0, $1) }
    }

    /// Calls `body` with all pixels, `width` × `height` × `bands` samples without padding. They are
    /// used in place if they are in memory, otherwise computed first. The image must have 8 or 16
    /// bits per sample.
    ///
    /// - Throws: the errors of `write` and of `body`.
    public func withPixels<Result>(
        _ body: (UnsafeRawBufferPointer) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        try withExtendedLifetime(self) { () throws(VipsError) -> Result in
            var count = 0
            guard let pixels = cvips_pixels(pointer, &count) else {
                throw VipsError.fromLibrary("pixels", otherwise: .corrupt)
            }
            return try body(UnsafeRawBufferPointer(start: pixels, count: count))
        }
    }

    /// Computes all pixels directly into `pixels`, which must hold exactly `width` × `height` ×
    /// `bands` samples. The image must have 8 or 16 bits per sample.
    ///
    /// - Throws: `corrupt` if the pixels come from damaged bytes, `killed`, `internal`.
    public func write(to pixels: UnsafeMutableRawBufferPointer) throws(VipsError) {
        let result = withExtendedLifetime(self) {
            cvips_write(pointer, pixels.baseAddress, pixels.count)
        }
        guard result == 0 else { throw VipsError.fromLibrary("write", otherwise: .corrupt) }
    }

    /// Computes all samples like `write`, and returns them.
    public func samples() throws(VipsError) -> [UInt8] {
        let header = header
        let count = header.width * header.height * header.bands * header.bytesPerBand
        var samples = [UInt8](repeating: 0, count: count)
        let result = samples.withUnsafeMutableBytes { samples in
            Result { () throws(VipsError) in try write(to: samples) }
        }
        try result.get()
        return samples
    }
}

/// A read-only copy of bytes that lives as long as images refer to it: the owner for
/// `VipsImage.load` and `VipsImage.pixels`.
public final class HeldBytes: Sendable {
    // Safe: the bytes are never written and are freed with this object.
    /// The bytes, valid as long as this object.
    public nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// Copies an array.
    public init(_ array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 64)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}

extension VipsImage {
    /// Installs a cancellation check. `shouldStop` is called every few rows whenever pixels of this
    /// image, or of an image derived from it after this call, are computed; if it returns `true`,
    /// the computation fails with `killed`.
    ///
    /// It's called on the computing thread or on a thread of libvips and must be quick. Encoders
    /// that process the whole image at once (WebP) don't call it while they run.
    public func watch(_ shouldStop: @escaping @Sendable () -> Bool) {
        let box = Unmanaged.passRetained(VipsWatcher(shouldStop))
        withExtendedLifetime(self) {
            cvips_watch(pointer, askWatcher, box.toOpaque(), releaseWatcher)
        }
    }
}

/// Carries a closure through a C callback.
private final class VipsWatcher: Sendable {
    let shouldStop: @Sendable () -> Bool

    init(_ shouldStop: @escaping @Sendable () -> Bool) {
        self.shouldStop = shouldStop
    }
}

private func askWatcher(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // Retained by `watch`, released together with the image.
    let watcher = Unmanaged<VipsWatcher>.fromOpaque(context).takeUnretainedValue()
    return watcher.shouldStop() ? 1 : 0
}

private func releaseWatcher(context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<VipsWatcher>.fromOpaque(context).release()
}

/// The properties of an image that are known before its pixels are decoded.
public struct VipsHeader: Equatable, Sendable {
    /// The color spaces that are distinguished; the values are those of `cvips_color`.
    public enum Color: UInt32, Sendable {
        case other, gray, gray16, rgb, rgb16, cmyk
    }

    /// The sample types that are distinguished; the values are those of `cvips_samples`.
    public enum Samples: UInt32, Sendable {
        case other
        /// Unsigned integers of 8 or 16 bits that use the full range.
        case whole
        /// Floating-point numbers.
        case real
    }

    /// The stored width of one page in pixels, before `orientation` is applied.
    public let width: Int
    /// The stored height of one page in pixels.
    public let height: Int
    /// The number of samples per pixel, including alpha.
    public let bands: Int
    /// 1 for 8 bits, 2 for 16 bits.
    public let bytesPerBand: Int
    /// The sample type.
    public let samples: Samples
    /// The color space.
    public let color: Color
    /// Whether the last band is alpha.
    public let hasAlpha: Bool
    /// The number of pages or frames; 1 if the format has none.
    public let pages: Int
    /// The EXIF orientation, 1 to 8; `nil` if EXIF has none.
    public let orientation: Int?
    /// Whether the decoder must keep the whole image in memory (progressive JPEG, Adam7 PNG).
    public let isInterlaced: Bool
}

extension VipsHeader.Color {
    /// The signature of the color space that a matching ICC profile has (ICC.1:2022, table 19);
    /// `nil` for device-independent colors.
    public var profileSpace: String? {
        switch self {
        case .gray, .gray16: "GRAY"
        case .rgb, .rgb16: "RGB "
        case .cmyk: "CMYK"
        case .other: nil
        }
    }
}

extension VipsImage {
    /// Width in pixels.
    public var width: Int { header.width }

    /// Height in pixels.
    public var height: Int { header.height }

    /// The properties that are known without computing pixels.
    public var header: VipsHeader {
        var raw = cvips_header()
        withExtendedLifetime(self) { cvips_read_header(pointer, &raw) }
        return VipsHeader(
            width: Int(raw.width), height: Int(raw.height), bands: Int(raw.bands),
            bytesPerBand: Int(raw.bytes_per_band),
            samples: VipsHeader.Samples(rawValue: raw.samples.rawValue) ?? .other,
            color: VipsHeader.Color(rawValue: raw.color.rawValue) ?? .other,
            hasAlpha: raw.has_alpha != 0, pages: Int(raw.pages),
            orientation: raw.orientation == 0 ? nil : Int(raw.orientation),
            isInterlaced: raw.interlaced != 0)
    }

    /// Calls `body` with the embedded ICC profile, which is only valid during the call. Returns
    /// `nil` without a profile.
    public func withProfile<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_profile, body)
    }

    /// Calls `body` with the XMP packet, which is untrusted.
    public func withXMP<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_xmp, body)
    }

    /// Calls `body` with EXIF, which is untrusted and may be preceded by `Exif` and two zeros.
    public func withEXIF<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_exif, body)
    }

    /// Calls `body` with IPTC: IIM records, or the Photoshop resources that contain them.
    public func withIPTC<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_iptc, body)
    }

    /// Returns the bytes of a text header field, named as in libvips, such as `exif-ifd0-Make`, or
    /// `nil` if it's absent. The text is untrusted.
    public func text(_ name: String) -> [UInt8]? {
        withExtendedLifetime(self) {
            cvips_text(pointer, name).map {
                Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))
            }
        }
    }

    /// Returns an integer header field, named as in libvips, or `nil` if it's absent.
    public func number(_ name: String) -> Int? {
        withExtendedLifetime(self) {
            let number = cvips_number(pointer, name, .min)
            return number == .min ? nil : Int(number)
        }
    }

    /// The total size in bytes of profile, EXIF, XMP and all other texts that came with the pixels.
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

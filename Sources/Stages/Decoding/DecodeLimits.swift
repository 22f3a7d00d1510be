import Model
import PNG
import Vips

extension ImageLimits {
    /// Rejects a file with too many pages before a decoder reads them: libwebp takes seconds for a
    /// hundred thousand frames and can't be canceled.
    func checkPages(of bytes: UnsafeRawBufferPointer, _ format: ImageFormat) throws(ImageError) {
        let (most, overflows) = pagesMax.addingReportingOverflow(1)
        guard !overflows, let pages = Self.pages(of: bytes, format, upTo: most) else { return }
        try check(pages, within: \.pagesMax, "pagesMax", .pages, "pages or more", format)
    }

    /// Counts pages without a decoder; nil if that isn't possible.
    private static func pages(
        of bytes: UnsafeRawBufferPointer, _ format: ImageFormat, upTo most: Int
    ) -> Int? {
        let file = bytes.bindMemory(to: UInt8.self).span
        guard format.traits.input?.pages == .frames else {
            return format.pages(of: file, upTo: most)
        }
        return AnimationMap(file, framesMax: most)?.frames.count
    }

    /// Rejects an image by its header, before any pixel is computed (SEMANTICS §9.8). The limits
    /// apply to what is decoded at once: one frame, and the full size if the format can't be
    /// reduced or no pixels are needed.
    func check(_ source: SourceImage, at scale: DecodeScale) throws(ImageError) {
        let size = source.codedSize ?? scale.size(source.storedSize)
        guard source.storedSize.isPositive else { throw .notAnImage }
        let format = source.decoder.format
        try check(
            max(size.width, size.height), within: \.sideMax, "sideMax", .side,
            "pixels per side", format)
        try check(source.pages, within: \.pagesMax, "pagesMax", .pages, "pages", format)
        try check(
            source.metadataBytes, within: \.metadataBytesMax, "metadataBytesMax", .metadata,
            "bytes of metadata", format)
        try check(
            size.area ?? .max, within: \.pixelsMax, "pixelsMax", .pixels, "pixels (\(size))",
            format)
    }

    /// Rejects an image that takes too much memory after reduction, for pixels or for what its
    /// decoder keeps of the whole image, or during decoding.
    func checkPixelBytes(_ source: SourceImage, at scale: DecodeScale) throws(ImageError) {
        let pixelBytes = source.header.bands * source.header.bytesPerBand
        let bytes = Self.product(source.decodedSize(at: scale).area, pixelBytes)
        try ImageError.require(
            bytes <= pixelBytesMax, "pixelBytesMax",
            "the pixels of the image (\(source.storedSize)) need \(bytes) bytes, but only "
                + "\(pixelBytesMax) are permitted")
        let kept = source.decoder.keptBytes(of: source, at: scale)
        try ImageError.require(
            kept <= max(pixelBytesMax, Self.product(pixelsMax, Self.keptBytesPerPixel)),
            "pixelBytesMax",
            "reducing the image (\(source.storedSize)) needs \(kept) bytes of memory, more than any "
                + "image within pixel-limit")
        try checkMemory(source, at: scale)
    }

    /// Rejects an image whose decoder needs too much memory, according to a table
    /// (`DecoderMemoryRows`): libjxl aborts the process if an allocation fails.
    ///
    /// - Parameter composing: Whether a frame is drawn on a canvas.
    func checkMemory(
        _ source: SourceImage, at scale: DecodeScale, composing: Bool = false
    ) throws(ImageError) {
        let bytes = source.memoryBytes(at: scale, composing: composing)
        let most = Self.decoderBytesMax
        guard bytes > most else { return }
        let format = source.decoder.format
        let how = source.coding.coding.wording.map { ", \($0)" } ?? ""
        var error = ImageError.over(
            "decoderMemory",
            "decoding this \(format.name) (\(source.storedSize)\(how)) needs \(bytes >> 20) MiB of "
                + "memory, but a decoder may use only \(most >> 20) MiB: use a smaller source, or "
                + "one that is decoded row by row, such as a baseline JPEG")
        error.typedDetails.value = bytes
        error.typedDetails.permitted = most
        throw error
    }

    /// Rejects animations whose pixels take too much memory, or whose durations exceed the limit of
    /// messages.
    ///
    /// - Parameter size: The stored size of each frame.
    func check(frames: Int, of size: PixelSize) throws(ImageError) {
        let most = AnimationProperties.framesMax
        try ImageError.require(
            frames <= most, "framesMax",
            "the animation has \(frames) frames, but at most \(most) are decoded together: request "
                + "one of them by its number")
        let bytes = Self.product(size.area, 4 * frames)
        let remedy = frames == 1 ? "" : ": request a smaller size or a single frame"
        try ImageError.require(
            bytes <= pixelBytesMax, "pixelBytesMax",
            "the pixels of \(frames) frames (\(size)) need \(bytes) bytes, but only "
                + "\(pixelBytesMax) are permitted\(remedy)")
    }

    /// The fixed maximum of pixels in all frames, which take seconds to compose.
    private static let framePixelsMax = 2 << 30

    /// Rejects a number of pixels that takes too long to compose, however few are kept.
    func check(composedPixels pixels: Int) throws(ImageError) {
        try ImageError.require(
            pixels <= Self.framePixelsMax, "framePixelsMax",
            "the frames to decode have a total of \(pixels) pixels, but at most "
                + "\(Self.framePixelsMax) are decoded together: request a single, earlier frame")
    }

    /// The fixed maximum for all frames together.
    private static let sharedBytesMax = 256 << 20

    /// Rejects frames that share too much data, because the still decoder reads it again for each
    /// frame.
    func check(shared bytes: Int, frames: Int) throws(ImageError) {
        let all = Self.product(bytes, frames)
        try ImageError.require(
            all <= Self.sharedBytesMax, "sharedBytesMax",
            "each of \(frames) frames needs the shared profile and palette of \(bytes) bytes, a "
                + "total of \(all), but at most \(Self.sharedBytesMax) are decoded together: request "
                + "one of the frames by its number, or send the file without its profile")
    }

    /// Rejects frames with too many coded pixels, which may exceed the displayed ones.
    func check(coded size: PixelSize) throws(ImageError) {
        try ImageError.require(
            size.area.map { $0 <= pixelsMax } ?? false, "pixelsMax",
            "each frame is coded with \(size) pixels, more than the \(pixelsMax) permitted")
    }

    /// Four coefficients of two bytes.
    private static let keptBytesPerPixel = 8

    private func check(
        _ value: Int, within path: KeyPath<ImageLimits, Int>, _ name: String,
        _ setting: LimitSetting, _ unit: String, _ format: ImageFormat
    ) throws(ImageError) {
        let limit = self[keyPath: path]
        guard value > limit else { return }
        let family = format.traits.input?.family ?? .raster
        // Decoders can't exceed that limit, regardless of configuration.
        let isLast = limit >= ImageLimits.of(family)[keyPath: path]
        let last = "at most \(limit) are \(family == .vector ? "rendered" : "decoded")"
        var error = ImageError.over(
            name,
            "the image has \(value) \(unit), but "
                + (isLast ? last : "\(setting.rawValue) permits \(limit)"))
        error.typedDetails.value = value
        error.typedDetails.permitted = limit
        if !isLast { error.typedDetails.setting = setting.rawValue }
        throw error
    }

    /// Returns the product; saturates on overflow.
    static func product(_ left: Int?, _ right: Int) -> Int {
        guard let left else { return .max }
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : value
    }
}

/// The number of bytes that a job may inflate (SEMANTICS §9.8): each time a PNG is opened, its rows
/// according to the header and the permitted metadata. A file of 2 MB can contain 2 GB after its
/// pixels.
enum InflatedBytes {
    /// libvips reads a header to find the loader, to open the file, and to decode its pixels.
    private static let headersRead = 3

    /// Sets the limit for a job whose input has that format.
    static func limit(_ format: ImageFormat, _ limits: ImageLimits) {
        switch format {
        case .png, .ico:
            let (each, overflows) = limits.metadataBytesMax.multipliedReportingOverflow(
                by: headersRead)
            InflateLimit.begin(each: overflows ? .max : each)
        // Their decoders inflate into memory of the required size.
        default: InflateLimit.lift()
        }
    }

    /// Removes the limit, which is one for the process, at the end of a job.
    static func lift() { InflateLimit.lift() }

    /// Adds the rows of a PNG that is being opened to the limit.
    static func permit(_ png: UnsafeRawBufferPointer) { InflateLimit.permit(rowBytes(png)) }

    /// Throws `limitExceeded` if the limit was reached.
    static func check() throws(ImageError) {
        try ImageError.require(
            !InflateLimit.isExceeded, "inflatedBytesMax",
            "the compressed parts of the file exceed the size of its pixels and metadata-limit: "
                + "save the image again without them")
    }

    /// Returns the size of all rows with their filter bytes; for an interlaced image at least that
    /// of all passes.
    private static func rowBytes(_ png: UnsafeRawBufferPointer) -> Int {
        guard png.count >= headerEnd else { return 0 }
        let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][png[colorType]] ?? 4
        let bits = samples * Int(png[depth])
        let rows = number(png, width).multipliedReportingOverflow(by: bits)
        let bytes = (rows.partialValue / 8 + 2).multipliedReportingOverflow(by: number(png, height))
        guard !rows.overflow, !bytes.overflow, bytes.partialValue < .max / 4 else { return .max }
        // A margin for the call that finds the end of the stream.
        return (png[interlace] == 0 ? 1 : 2) * bytes.partialValue + 64
    }

    private static func number(_ png: UnsafeRawBufferPointer, _ place: Int) -> Int {
        png[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    private static let (width, height, depth, colorType) = (16, 20, 24, 25)
    private static let (interlace, headerEnd) = (28, 33)
}

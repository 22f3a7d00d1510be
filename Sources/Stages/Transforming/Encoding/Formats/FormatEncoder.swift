import ImageModel
import StageContract
import Vips

/// How images are written in one format: a file for each. What the format is, and what it costs,
/// its row says (`FormatTraits`).
protocol FormatEncoder: Sendable {
    var format: ImageFormat { get }

    /// Bytes that usually suffice.
    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int

    /// Whether planes need not be joined for these options, where the row says that the format
    /// takes planes at all.
    func takesPlanes(_ options: OutputOptions) -> Bool

    /// Writes planes; only where the row says that the format takes such.
    func encode(
        _ lane: PlanarLane, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws

    /// Writes pixels, sRGB or grey (or what the samples of the order are) of as many bytes as those
    /// have, without alpha where the format has none; answers whether what is written has alpha.
    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool

    /// Writes frames; only where the row says that the format holds such. Answers whether what is
    /// written has alpha.
    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool

    /// Puts these into what was written, unless `encode` has done so.
    func enclose(_ parts: EnclosedParts, in writer: BlockWriter<some OutputSpace>) throws
}

extension FormatEncoder {
    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        let pixels = size.width * size.height
        return order.options.isWithoutLoss ? pixels * 2 : pixels / 4
    }

    func takesPlanes(_ options: OutputOptions) -> Bool { true }

    func enclose(_ parts: EnclosedParts, in writer: BlockWriter<some OutputSpace>) throws {}

    func encode(
        _ lane: PlanarLane, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws {
        throw ImageError(.internalError, "\(format.name) is not made of planes")
    }

    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        throw ImageError(.internalError, "\(format.name) holds no frames")
    }
}

/// How an image is to be written.
struct EncodingOrder {
    private(set) var options: OutputOptions
    /// Filtered rows save bytes of a photograph; drawings become larger by them (measured on the
    /// test images).
    let isPhotograph: Bool
    let cancellation: CancellationFlag
    /// What samples are written.
    private(set) var samples = SampleForm.usual
    /// What is written beside the pixels.
    private(set) var enclosed = EnclosedParts()

    /// Quality 0 to 100 of the request, else `OutputOptions.defaultQuality`.
    var quality: Int {
        min(100, max(0, options.quality ?? OutputOptions.defaultQuality))
    }

    /// The same of samples of 8 bits in sRGB.
    var withUsualSamples: EncodingOrder {
        var order = self
        order.samples = .usual
        return order
    }

    /// The same at another quality.
    func with(quality: Int) -> EncodingOrder {
        var order = self
        order.options.quality = quality
        return order
    }

    /// The same for pixels of that sort.
    func beside(isGrey: Bool) -> EncodingOrder {
        var order = self
        order.enclosed = enclosed.beside(isGrey: isGrey)
        return order
    }

    /// The same with a small JPEG in EXIF.
    func with(thumbnail: [UInt8]) throws(ImageError) -> EncodingOrder {
        var order = self
        order.enclosed = try enclosed.with(thumbnail: thumbnail)
        return order
    }

    /// The effort of the request, else the usual one of the format; 0 where it has none.
    func effort(_ format: ImageFormat) -> Int {
        format.traits.output?.efforts?.taken(options.effort) ?? 0
    }
}

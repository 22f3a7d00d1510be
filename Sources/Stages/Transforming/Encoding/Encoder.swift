import ImageModel
import Messages
import StageContract
import Vips

/// Encodes the finished picture, the last thing a job does.
struct Encoder {
    let format: ImageFormat
    let options: OutputOptions
    let cancellation: CancellationFlag
    private let source: ImageFormat

    /// In the format that the work says.
    init(_ work: TransformWork, hasAlpha: Bool, cancellation: CancellationFlag) {
        source = work.sourceInfo.format
        format = work.resultFormat(hasAlpha: hasAlpha)
        options = work.output
        self.cancellation = cancellation
    }

    /// Of what is painted.
    init(_ work: PaintWork, cancellation: CancellationFlag) {
        source = .png
        format = work.resultFormat
        options = work.output
        self.cancellation = cancellation
    }

    /// Whether planes become this format without being joined.
    var takesPlanes: Bool { format == .jpeg || format == .webp && !options.lossless }

    /// The planes of the lane, `takesPlanes`.
    func encode(
        _ lane: PlanarLane, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let size = lane.plan.size
        try check(size)
        let writer = try BlockWriter(output, estimate: size.width * size.height / 4)
        let info = ImageInfo(format: format, size: size)
        do {
            switch format {
            case .webp: try encodeWebP(lane, to: writer)
            default: try encodeJPEG(lane, to: writer)
            }
            return EncodedImage(reference: writer.finish(), info: info)
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Any picture.
    func encode(
        _ picture: Picture, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        try check(picture.size)
        let writer = try BlockWriter(output, estimate: estimate(picture))
        do {
            let image = try flattened(picture.image)
            switch format {
            case .png: try encodePNG(image, to: writer)
            case .webp: try encodeWebP(image, to: writer)
            default: try image.save(.jpeg(quality: max(1, quality))) { writer.append($0) }
            }
            let info = ImageInfo(
                format: format, size: picture.size,
                hasAlpha: try writtenAlpha(image, writer.bytes))
            return EncodedImage(reference: writer.finish(), info: info)
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Refuses what the format has no numbers for.
    private func check(_ size: PixelSize) throws(ImageError) {
        guard max(size.width, size.height) <= sideMax else {
            throw .over(
                "sideMax", "encode", "\(format.name) has at most \(sideMax) pixels on a side")
        }
    }

    /// The encoder of WebP leaves alpha out where every pixel is opaque.
    private func writtenAlpha(
        _ image: VipsImage, _ bytes: UnsafeRawBufferPointer
    ) throws(VipsError) -> Bool {
        let hasAlpha = image.header.hasAlpha
        guard hasAlpha, format == .webp else { return hasAlpha }
        return try VipsImage.webp(bytes).header.hasAlpha
    }

    /// Filtered rows save bytes of a photograph; drawings become larger by them (measured on the
    /// test images).
    var isPhotograph: Bool { source == .jpeg || source == .webp }

    /// Quality 0 to 100 of the request, else `OutputOptions.defaultQuality`.
    var quality: Int {
        min(100, max(0, options.quality ?? OutputOptions.defaultQuality))
    }

    /// White shows where a format without alpha meets transparent pixels (SEMANTICS §11.11).
    private func flattened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        guard !format.carriesAlpha, image.header.hasAlpha else { return image }
        return try image.flattened(red: 255, green: 255, blue: 255)
    }

    /// Pixels on a side, by the format.
    private var sideMax: Int {
        switch format {
        case .webp: 16_383
        case .jpeg: 65_500
        default: Int(Int32.max)
        }
    }

    /// Bytes that usually suffice.
    private func estimate(_ picture: Picture) -> Int {
        let pixels = picture.size.width * picture.size.height
        switch format {
        case .png: return pixels * picture.image.header.bands / 2
        default: return options.lossless ? pixels * 2 : pixels / 4
        }
    }
}

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

/// All formats that are encoded.
enum FormatEncoders {
    static let all: [any FormatEncoder] = [
        JPEGFormatEncoder(), PNGFormatEncoder(), GIFFormatEncoder(), TIFFFormatEncoder(),
        WebPFormatEncoder(), AVIFFormatEncoder(), JXLFormatEncoder(), PAMFormatEncoder(),
    ]

    /// What libvips may open: what was written as WebP is read again.
    static let loaders = [VipsLoader.webp]

    /// What it may write besides, of what it does not trust itself.
    static let savers = [VipsSaver.jxl]

    static func encoder(of format: ImageFormat) throws(ImageError) -> any FormatEncoder {
        guard let encoder = all.first(where: { $0.format == format }) else {
            throw .notEncoded(format)
        }
        return encoder
    }
}

/// GIF, by libvips: frames of at most 256 colours each, in which a pixel is transparent or not.
struct GIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.gif
    /// What libvips takes for opaque.
    private let leastOfOpaque: UInt8 = 128
    /// Once, and as many repetitions as 16 bits hold.
    private static let playsMax = 1 + Int(UInt16.max)

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        // With alpha libvips writes a transparent colour, whether a pixel is of it or not.
        try save(image.withoutAlpha(whereAllIsAtLeast: leastOfOpaque), order, to: writer)
        return GIFBlocks.haveTransparency(writer.bytes)
    }

    /// libvips takes frames as one image: they are in memory together.
    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let rows = frames.size.height * frames.count
        guard rows <= VipsImage.sideMax else {
            throw ImageError.over(
                "sideMax", "encode",
                "\(frames.count) frames of \(frames.size) are too many rows for gif: ask for fewer")
        }
        let stack = InterleavedPixels(
            size: PixelSize(width: frames.size.width, height: rows), bands: StepFrames.bands)
        for index in 0..<frames.count {
            try frames.withPixels(of: index) { pixels in
                UnsafeMutableRawBufferPointer(
                    rebasing: stack.mutableBytes[(index * frames.byteCount)...]
                ).copyMemory(from: pixels)
            }
        }
        let image = try stack.image(order.cancellation)
            .withoutAlpha(whereAllIsAtLeast: leastOfOpaque)
        // Less than 20 ms many readers take for nothing.
        let hundredths = frames.times.durations(in: 10_000, within: 2...65_535)
        let plays = frames.times.plays(atMost: Self.playsMax)
        try save(
            image.animated(
                pageHeight: frames.size.height, delays: hundredths.map { 10 * $0 },
                plays: plays), order, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws(VipsError) {
        try image.save(
            .gif(
                bits: bits(order.options.colours ?? 256),
                dither: Double(order.options.dither) / 100, effort: order.effort(format),
                interlaced: order.options.isProgressive)
        ) { writer.append($0) }
    }

    /// Of the largest power of two that is no more colours.
    private func bits(_ colours: Int) -> Int {
        (1...8).last { 1 << $0 <= colours } ?? 1
    }
}

/// What the blocks of a GIF say that was just written (GIF89a).
enum GIFBlocks {
    /// Whether one of its colours is none: its graphic control extension says so (GIF89a, 23).
    static func haveTransparency(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 13 else { return false }
        var offset = 13 + paletteBytes(bytes[10])
        while offset + 4 < bytes.count, bytes[offset] == extensionMark {
            if bytes[offset + 1] == graphicControl { return bytes[offset + 3] & 1 == 1 }
            offset += 2
            while offset < bytes.count, bytes[offset] != 0 { offset += 1 + Int(bytes[offset]) }
            offset += 1
        }
        return false
    }

    private static let extensionMark: UInt8 = 0x21
    private static let graphicControl: UInt8 = 0xF9

    /// Of the table of colours that the flags of the screen announce.
    private static func paletteBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }
}

/// JPEG XL, by libvips, which writes a profile and no metadata.
struct JXLFormatEncoder: FormatEncoder {
    let format = ImageFormat.jxl

    /// Below, libjxl has no distance for what libvips makes of a quality.
    private static let qualityMin = 5

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let profile = order.enclosed.profile
        let enclosing = try image.enclosing(profile: profile, xmp: [])
        do throws(VipsError) {
            try save(enclosing, order, encloses: !profile.isEmpty, to: writer)
            return image.header.hasAlpha
        } catch {
            guard error.kind == .internal, !profile.isEmpty else { throw error }
        }
        // libjxl has no words for some profiles: the colours are converted as usual.
        writer.restart()
        let isPerceptual = profile.withUnsafeBytes {
            SampleProfile($0, for: order.enclosed.space)?.isPerceptualOnly ?? false
        }
        let converted = try enclosing.convertedToSRGBByProfile(isPerceptual: isPerceptual)
        try save(converted, order, encloses: false, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ order: EncodingOrder, encloses: Bool,
        to writer: BlockWriter<some OutputSpace>
    ) throws(VipsError) {
        try image.save(
            .jxl(
                quality: max(Self.qualityMin, order.quality),
                lossless: order.options.isWithoutLoss, effort: order.effort(format),
                encloses: encloses)
        ) { writer.append($0) }
    }
}

/// TIFF, by libvips: one page, deflated, every sample as it is. libvips writes no EXIF, and of
/// IPTC a quarter, so none is handed to it.
struct TIFFFormatEncoder: FormatEncoder {
    let format = ImageFormat.tiff

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let parts = order.enclosed
        try image.enclosing(profile: parts.profile, xmp: parts.xmp).save(
            .tiff(predicts: order.isPhotograph, encloses: !parts.isEmpty)
        ) { writer.append($0) }
        return image.header.hasAlpha
    }
}

/// Pixels as they are, behind a header of text: computed straight to where clients map them.
struct PAMFormatEncoder: FormatEncoder {
    let format = ImageFormat.pam

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        PixelMapHeader.byteCount + size.width * size.height * bands
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let header = PixelMapHeader(
            size: PixelSize(width: image.header.width, height: image.header.height),
            bands: image.header.bands)
        guard let samples = header.sampleCount else {
            throw ImageError.over("pixelsMax", "encode", "\(header.size) is too large for pam")
        }
        let count = PixelMapHeader.byteCount + samples
        guard let bytes = writer.next(count) else {
            throw ImageError(.internalError, "there is no space for the pixels")
        }
        bytes.copyBytes(from: header.bytes)
        let pixels = UnsafeMutableRawBufferPointer(
            rebasing: bytes[PixelMapHeader.byteCount..<count])
        try image.write(to: pixels)
        writer.written(count)
        return image.header.hasAlpha
    }
}

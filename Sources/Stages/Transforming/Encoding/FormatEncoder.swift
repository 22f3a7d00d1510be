import Model
import Vips

/// The encoder of one format, listed in `FormatEncoders.all`. The properties and costs of the
/// format are in its row (`FormatTraits`).
protocol FormatEncoder: Sendable {
    var format: ImageFormat { get }

    /// Returns a number of bytes that is usually sufficient.
    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int

    /// Returns whether planes need not be joined for these options. Only called if the row states
    /// that the format supports planes.
    func takesPlanes(_ options: OutputOptions) -> Bool

    /// Writes planes; only called if the row states that the format supports them.
    func encode(_ lane: PlanarLane, _ spec: EncodingSpecification, to writer: BlockWriter) throws

    /// Writes pixels, sRGB or gray (or in the sample format of the spec, with its number of
    /// bytes), without alpha if the format has none; returns whether the output has alpha.
    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool

    /// Writes frames; only called if the row states that the format supports them. Returns whether
    /// the output has alpha.
    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool

    /// Embeds these parts in the output, unless `encode` has done so.
    func embed(_ parts: EmbeddedParts, in writer: BlockWriter) throws
}

extension FormatEncoder {
    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int {
        let pixels = size.width * size.height
        return spec.options.isWithoutLoss ? pixels * 2 : pixels / 4
    }

    func takesPlanes(_ options: OutputOptions) -> Bool { true }

    func embed(_ parts: EmbeddedParts, in writer: BlockWriter) throws {}

    func encode(_ lane: PlanarLane, _ spec: EncodingSpecification, to writer: BlockWriter) throws {
        throw ImageError(.internalError, "\(format.name) cannot be encoded from planes")
    }

    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        throw ImageError(.internalError, "\(format.name) does not support frames")
    }
}

/// How an image is to be encoded.
struct EncodingSpecification {
    var options: OutputOptions
    /// Row filters make photographs smaller but drawings larger (measured with the test images).
    let isPhotograph: Bool
    let cancellation: CancellationFlag
    /// The sample format to write.
    var samples = SampleForm.standard
    /// The metadata to embed.
    var embedded = EmbeddedParts()

    /// The requested quality from 0 to 100, else `OutputOptions.defaultQuality`.
    var quality: Int {
        min(100, max(0, options.quality ?? OutputOptions.defaultQuality))
    }

    /// Whether chroma is subsampled: by default below quality 90, as in libvips and other encoders.
    var subsamplesChroma: Bool {
        switch options.subsampling {
        case .auto: quality < 90
        case .yuv420: true
        case .yuv444: false
        }
    }

    /// Returns the requested effort, else the format's default; 0 if it has none.
    func effort(_ format: ImageFormat) -> Int {
        format.traits.output?.efforts?.effective(options.effort) ?? 0
    }
}

extension VipsImage {
    /// Encodes to a writer; fails with `refused` if it has no space.
    func save(_ encoding: VipsEncoding, to writer: BlockWriter) throws(VipsError) {
        try save(encoding) { writer.append($0) }
    }
}

/// All output formats.
enum FormatEncoders {
    static let all: [any FormatEncoder] = [
        JPEGFormatEncoder(), PNGFormatEncoder(), GIFFormatEncoder(), TIFFFormatEncoder(),
        WebPFormatEncoder(), AVIFFormatEncoder(), JXLFormatEncoder(), PAMFormatEncoder(),
    ]

    /// The permitted libvips loaders: WebP output is read back.
    static let loaders = [VipsLoader.webp]

    /// The permitted libvips savers besides those that libvips itself considers trusted.
    static let savers = [VipsSaver.jxl]

    static func encoder(of format: ImageFormat) throws -> any FormatEncoder {
        guard let encoder = all.first(where: { $0.format == format }) else {
            throw ImageError.notEncoded(format)
        }
        return encoder
    }
}

/// GIF with libvips: frames of at most 256 colors each, with binary transparency.
struct GIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.gif
    /// The minimum alpha that libvips treats as opaque.
    private let leastOfOpaque: UInt8 = 128
    /// One play and as many repetitions as 16 bits allow.
    private static let playsMax = 1 + Int(UInt16.max)

    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int {
        size.width * size.height
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        // For pixels with alpha, libvips always writes a transparent color, whether it is used or
        // not.
        try save(image.withoutAlpha(whereAllIsAtLeast: leastOfOpaque), spec, to: writer)
        // The transparent color that the extension before the frame declares.
        let map = AnimationMap(writer.bytes.bindMemory(to: UInt8.self).span, framesMax: 1)
        return map?.frames.first?.mayBeTransparent == true
    }

    /// libvips takes all frames as one image in memory.
    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let rows = frames.size.height * frames.count
        guard rows <= VipsImage.sideMax else {
            throw ImageError.over(
                "sideMax", "encode",
                "\(frames.count) frames of \(frames.size) have too many rows for gif: request fewer"
            )
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
        let image = try stack.image(spec.cancellation)
            .withoutAlpha(whereAllIsAtLeast: leastOfOpaque)
        // Many viewers ignore durations below 20 ms.
        let hundredths = frames.times.durations(in: 10_000, within: 2...65_535)
        let plays = frames.times.plays(atMost: Self.playsMax)
        try save(
            image.animated(
                pageHeight: frames.size.height, delays: hundredths.map { 10 * $0 },
                plays: plays), spec, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws(VipsError) {
        try image.save(
            .gif(
                bits: bits(spec.options.colors ?? 256),
                dither: Double(spec.options.dither) / 100, effort: spec.effort(format),
                interlaced: spec.options.isProgressive), to: writer)
    }

    /// Returns the largest bit depth with at most this many colors.
    private func bits(_ colors: Int) -> Int {
        (1...8).last { 1 << $0 <= colors } ?? 1
    }
}

/// JPEG XL with libvips, which writes a profile but no other metadata.
struct JXLFormatEncoder: FormatEncoder {
    let format = ImageFormat.jxl

    /// For lower qualities, libjxl has no distance that corresponds to libvips' mapping.
    private static let qualityMin = 5

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let profile = spec.embedded.profile
        let embedding = try image.embedding(profile: profile, xmp: [])
        do throws(VipsError) {
            try save(embedding, spec, embedsMetadata: !profile.isEmpty, to: writer)
            return image.header.hasAlpha
        } catch {
            guard error.kind == .internal, !profile.isEmpty else { throw error }
        }
        // libjxl doesn't support some profiles: the colors are then converted as usual.
        writer.restart()
        let isPerceptual = profile.withUnsafeBytes {
            SampleProfile($0, for: spec.embedded.space)?.isPerceptualOnly ?? false
        }
        let converted = try embedding.convertedToSRGBByProfile(isPerceptual: isPerceptual)
        try save(converted, spec, embedsMetadata: false, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ spec: EncodingSpecification, embedsMetadata: Bool,
        to writer: BlockWriter
    ) throws(VipsError) {
        try image.save(
            .jxl(
                quality: max(Self.qualityMin, spec.quality),
                lossless: spec.options.isWithoutLoss, effort: spec.effort(format),
                embedsMetadata: embedsMetadata), to: writer)
    }
}

/// TIFF with libvips: one page, deflate, unchanged samples. No metadata is passed, since libvips
/// writes no EXIF and only a quarter of IPTC.
struct TIFFFormatEncoder: FormatEncoder {
    let format = ImageFormat.tiff

    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let parts = spec.embedded
        try image.embedding(profile: parts.profile, xmp: parts.xmp).save(
            .tiff(predicts: spec.isPhotograph, embedsMetadata: !parts.isEmpty), to: writer)
        return image.header.hasAlpha
    }
}

/// Raw pixels after a text header, computed directly into memory that clients map.
struct PAMFormatEncoder: FormatEncoder {
    let format = ImageFormat.pam

    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int {
        PixelMapHeader.byteCount + size.width * size.height * bands
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let header = PixelMapHeader(size: image.header.size, bands: image.header.bands)
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

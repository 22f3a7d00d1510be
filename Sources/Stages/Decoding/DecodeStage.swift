import Deflate
package import Model
import Vips

/// Decodes bytes to pixels or image properties: the work of a decode worker.
///
/// JPEG and AVIF are returned as their planes if these represent sRGB; everything else as 8-bit
/// sRGB or gray (16 bits and high dynamic range if the work preserves them), with straight alpha,
/// in the displayed orientation (SEMANTICS §11.3). Images are reduced as far as the need allows
/// (SEMANTICS §11.4). If the work keeps the source's profile, colors are not converted
/// (SEMANTICS §11.21). A file that need not change is passed through instead (SEMANTICS §11.37).
/// Processes one job at a time; a second one waits.
package struct DecodeStage: Sendable {
    private let library: VipsLibrary
    private let decoders: FormatDecoders
    private let animationCache = AnimationCache()

    /// Starts libvips, once per process.
    ///
    /// - Parameters:
    ///   - family: The formats to decode; others are rejected by name.
    ///   - concurrency: The number of libvips threads; 1 if processes provide the parallelism.
    ///   - onWarning: Receives warnings of libvips, on any thread.
    /// - Throws: `internalError` if libvips can't start. A missing component that only one format
    ///   needs is a warning.
    package init(
        _ family: FormatFamily = .raster, concurrency: Int = 1,
        onWarning: (@Sendable (_ domain: String, _ message: String) -> Void)? = nil
    ) throws(ImageError) {
        decoders = .of(family)
        do {
            library = try VipsLibrary(
                concurrency: concurrency, loaders: decoders.loaders, onWarning: onWarning)
        } catch {
            throw ImageError(.internalError, "libvips cannot be initialized: \(error.text)")
        }
        for decoder in decoders.all where !decoder.prepare() {
            onWarning?("decode", "this machine lacks a dependency of \(decoder.format.name)")
        }
    }

    /// Decodes `input`.
    ///
    /// - Parameters:
    ///   - work: The need and the limits; its reference is ignored.
    ///   - input: The encoded bytes; must not change until this returns.
    ///   - output: Allocates the pixels. On success the outcome owns the block, on an error nothing
    ///     stays allocated.
    ///   - cancellation: Checked every few rows.
    /// - Throws: `badImageData` for invalid, damaged or truncated images; `unsupportedFormat` for a
    ///   known format that isn't decoded; `limitExceeded` before any pixel is computed, or when
    ///   memory or the bytes that a PNG may inflate are exhausted; `cancelled`; the errors of
    ///   `output`; `internalError`.
    package func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage {
        try library.exclusively { () throws(ImageError) -> DecodedImage in
            defer { InflatedBytes.lift() }
            return try decode(work, input: input, output: output, cancellation: cancellation)
        }
    }

    private func decode(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage {
        let limits = work.limits.clamped(to: .of(decoders.family))
        // Decoders of drawings need this only for files that are passed through or compressed.
        if decoders.family == .raster || work.passThrough != nil || GzipDecompressor.isGzip(input),
            let image = try unrenderedSVG(work, input, limits, to: output)
        {
            return image
        }
        let decoder = try decoders.decoder(of: input)
        InflatedBytes.limit(decoder.format, limits)
        try limits.checkPages(of: input, decoder.format)
        if work.isPartial {
            return try PartialImage(work, of: input, by: decoder, limits, cancellation)
                .decode(to: output)
        }
        do throws(ImageError) {
            return try decode(
                SourceImage(input, by: decoder), work, limits, to: output, cancellation)
        } catch {
            try InflatedBytes.check()
            guard error.code == .badImageData else { throw error }
            return try decodeDamaged(
                input, by: decoder, refusal: error, work, limits, to: output, cancellation)
        }
    }

    /// Decodes an image that `decoder` rejected, with its partial decoder. Succeeds if all pixels
    /// are present, for example in a file without an end mark, or if the work accepts missing ones
    /// (SEMANTICS §11.38). Throws `refusal`, the decoder's error, if there is nothing to show; if
    /// the header could be read, the error says that only pixels are damaged, so that it refuses
    /// this operation alone (SEMANTICS §7.2).
    private func decodeDamaged(
        _ input: UnsafeRawBufferPointer, by decoder: any FormatDecoder, refusal: ImageError,
        _ work: DecodeWork, _ limits: ImageLimits, to output: some OutputSpace,
        _ cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage {
        let missing = MissingPixels(arePermitted: work.showsDamaged)
        do throws(ImageError) {
            let source = try SourceImage(input, by: decoder.partialDecoder(cancellation, missing))
            var image = try decode(
                source, work, limits, noting: missing, to: output, cancellation)
            image.isDamaged = missing.wereFound
            return image
        } catch {
            guard [.badImageData, .unsupportedFormat].contains(error.code) else { throw error }
            throw error.damagesPixelsOnly ? error : refusal
        }
    }

    /// Decodes an image whose header has been read: checks the limits, then returns the file
    /// itself, only properties, all frames, one frame or a still image, as the work says.
    ///
    /// `missing` notes missing pixels; `nil` unless the source has a partial decoder.
    private func decode(
        _ source: SourceImage, _ work: DecodeWork, _ limits: ImageLimits,
        noting missing: MissingPixels? = nil, to output: some OutputSpace,
        _ cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage {
        let scale = source.scale(for: work.need)
        try limits.check(source, at: scale)
        try InflatedBytes.check()
        if let image = try passThrough(work, source, limits, to: output) { return image }
        let properties = try properties(of: source, work, limits, cancellation)
        try InflatedBytes.check()
        guard work.need != .header else {
            return DecodedImage(info: source.info, frames: [], properties: properties)
        }
        try limits.checkPixelBytes(source, at: scale)
        guard !cancellation.isCancelled else { throw .cancelled }
        do throws(ImageError) {
            if work.wantsAllFrames,
                var frames = try AllFrames(of: source, for: work.need, limits, missing)
            {
                let frame = try frames.write(
                    to: output, keeping: work.keeps, cancellation: cancellation)
                return DecodedImage(info: source.info, frames: [frame], properties: properties)
            }
            let metadata = try RetainedMetadata(of: source, work.keeps)
            if let index = work.frame ?? (missing == nil ? nil : source.frameOfStill) {
                // A canvas with missing pixels must not be used by the next job.
                let cache = missing == nil ? animationCache : AnimationCache()
                let frame = try cache.frame(
                    index, of: source, limits, metadata, to: output, cancellation: cancellation)
                return DecodedImage(info: source.info, frames: [frame], properties: properties)
            }
            let frame = try still(
                of: metadata.hasProfile ? source.withoutColorConversion : source, at: scale,
                work.keeps, limits, metadata, to: output, cancellation: cancellation)
            return DecodedImage(info: source.info, frames: [frame], properties: properties)
        } catch {
            throw error.asDamagedPixels
        }
    }

    /// Returns the additional properties that the work asks for; `nil` if there are none.
    private func properties(
        of source: SourceImage, _ work: DecodeWork, _ limits: ImageLimits,
        _ cancellation: CancellationFlag
    ) throws(ImageError) -> ImageProperties? {
        guard !work.properties.kinds.isEmpty else { return nil }
        return try PropertyReader(
            wanted: work.properties, limits: limits, cancellation: cancellation
        )
        .properties(of: source)
    }

    /// Decodes a still image, as planes if possible.
    private func still(
        of source: SourceImage, at scale: DecodeScale, _ keeps: KeptParts,
        _ limits: ImageLimits, _ metadata: RetainedMetadata, to output: some OutputSpace,
        cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        if let planes = source.decoder.planes(of: source, at: scale, limits: limits) {
            return try planes.write(to: output, with: metadata, cancellation: cancellation)
        }
        return try source.pixels(
            at: scale, as: source.samples(keeps), cancellation: cancellation
        ).write(to: output, with: metadata)
    }
}

// Files that are passed through: delivered unchanged, or without their metadata (SEMANTICS §11.37).
extension DecodeStage {
    /// Returns the result for an SVG from its root element alone, or the file itself; `nil` if the
    /// SVG must be rendered, and for other inputs.
    func unrenderedSVG(
        _ work: DecodeWork, _ input: UnsafeRawBufferPointer, _ limits: ImageLimits,
        to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage? {
        guard work.canSkipRendering, let drawing = UnrenderedSVG(input, limits) else { return nil }
        guard work.passThrough != nil else { return DecodedImage(info: drawing.info, frames: []) }
        var file = StrippedFile(of: input)
        if let inflated = drawing.inflated {
            file.append(inflated)
        } else {
            file.keep(0..<input.count)
        }
        return try write(file, drawing.info, to: output)
    }

    /// Returns the source as a file; `nil` if it must be decoded, for example because its metadata
    /// can't be removed.
    func passThrough(
        _ work: DecodeWork, _ source: SourceImage, _ limits: ImageLimits,
        to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage? {
        let info = source.info
        guard let rule = work.passThrough,
            rule.applies(to: info, for: work.need, keepsFrames: work.wantsAllFrames),
            limits.permit(info, for: .header),
            let file = try stripped(source, rule.metadata), file.length <= work.passThroughBytesMax
        else { return nil }
        return try write(file, info, to: output)
    }

    /// Returns the source with only the metadata of that choice; `nil` if the format, or this file,
    /// doesn't permit its removal.
    private func stripped(
        _ source: SourceImage, _ metadata: MetadataChoice
    ) throws(ImageError) -> StrippedFile? {
        let bytes = source.bytes
        guard metadata != .all else {
            var file = StrippedFile(of: bytes)
            file.keep(0..<bytes.count)
            return file
        }
        switch source.decoder.format {
        case .jpeg:
            return JPEGFile.stripped(bytes, keeping: try PassThroughMetadata(of: source, metadata))
        case .png:
            return PNGFile.stripped(bytes, keeping: try PassThroughMetadata(of: source, metadata))
        case .webp:
            return WebPFile.stripped(bytes, keeping: try PassThroughMetadata(of: source, metadata))
        case .gif: return GIFFile.stripped(bytes)
        default: return nil
        }
    }

    private func write(
        _ file: StrippedFile, _ info: ImageInfo, to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage {
        let block = try output.reserve(file.length)
        file.write(to: block.bytes)
        var image = DecodedImage(info: info, frames: [])
        image.file = block.reference(length: file.length)
        return image
    }
}

extension OutputBlock {
    /// Returns a frame whose pixels are the first `count` bytes of the block, and writes the
    /// metadata behind them. The block must have space for it.
    func frame(
        _ layout: PixelLayout, pixelBytes count: Int, with metadata: RetainedMetadata
    ) -> DecodedImage.Frame {
        var layout = layout
        layout.embeddedMetadata = metadata.write(to: bytes, from: count)
        return DecodedImage.Frame(
            reference: reference(length: count + metadata.byteCount), layout: layout)
    }
}

extension OutputSpace {
    /// Writes a displayed frame of an animation, RGBA of the whole canvas, to a block of its own.
    /// `orientation` is what remains to be applied.
    func frame(
        _ pixels: [UInt8], of canvas: PixelSize, turned orientation: Orientation = .upright,
        with metadata: RetainedMetadata
    ) throws(ImageError) -> DecodedImage.Frame {
        let block = try reserve(pixels.count + metadata.byteCount)
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<pixels.count])
            .copyBytes(from: pixels)
        var layout = PixelLayout(bands: .rgba, size: canvas, stride: 4 * canvas.width)
        layout.orientation = orientation
        return block.frame(layout, pixelBytes: pixels.count, with: metadata)
    }
}

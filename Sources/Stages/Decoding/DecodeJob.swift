import Deflate
import Model

/// One job of the stage.
struct DecodeJob {
    let work: DecodeWork
    let input: UnsafeRawBufferPointer
    let limits: ImageLimits
    let output: any OutputSpace
    let cancellation: CancellationFlag
    let animationCache: AnimationCache

    func run(among decoders: FormatDecoders) throws -> DecodedImage {
        // Decoders of drawings need this only for files that are passed through or compressed.
        if decoders.family == .raster || work.passThrough != nil || GzipDecompressor.isGzip(input),
            let image = try unrenderedSVG()
        {
            return image
        }
        let decoder = try decoders.decoder(of: input)
        InflatedBytes.limit(decoder.format, limits)
        try limits.checkPages(of: input, decoder.format)
        if work.isPartial { return try decodePartial(by: decoder) }
        do {
            return try decode(SourceImage(input, by: decoder))
        } catch {
            let refusal = ImageError(decoding: error)
            try InflatedBytes.check()
            guard refusal.code == .badImageData else { throw refusal }
            return try decodeDamaged(by: decoder, refusal: refusal)
        }
    }

    /// Decodes an image that `decoder` rejected, as one whose pixels may be missing. Succeeds if
    /// all are present, for example in a file without an end mark, or if the work accepts missing
    /// ones (SEMANTICS §11.38). Throws `refusal`, the decoder's error, if there is nothing to show;
    /// if the header could be read, the error says that only pixels are damaged, so that it refuses
    /// this operation alone (SEMANTICS §7.2).
    private func decodeDamaged(
        by decoder: any FormatDecoder, refusal: ImageError
    ) throws -> DecodedImage {
        let missing = MissingPixels(arePermitted: work.showsDamaged, cancellation)
        do {
            var image = try decode(SourceImage(input, by: decoder, noting: missing))
            image.isDamaged = missing.wereFound
            return image
        } catch {
            let error = ImageError(decoding: error)
            guard [.badImageData, .unsupportedFormat].contains(error.code) else { throw error }
            throw error.damagesPixelsOnly ? error : refusal
        }
    }

    /// Decodes an image whose header has been read: checks the limits, then returns the file
    /// itself, only properties, all frames, one frame or a still image, as the work says.
    private func decode(_ source: SourceImage) throws -> DecodedImage {
        let scale = source.scale(for: work.need)
        try limits.check(source, at: scale)
        try InflatedBytes.check()
        if let image = try passThrough(source) { return image }
        var image = DecodedImage(info: source.info, frames: [])
        if !work.properties.kinds.isEmpty {
            image.properties = try PropertyReader(
                wanted: work.properties, limits: limits, cancellation: cancellation
            ).properties(of: source)
        }
        try InflatedBytes.check()
        guard work.need != .header else { return image }
        try limits.checkPixelBytes(source, at: scale)
        guard !cancellation.isCancelled else { throw ImageError.cancelled }
        do {
            image.frames = [try frame(of: source, at: scale)]
        } catch {
            throw ImageError(decoding: error).asDamagedPixels
        }
        return image
    }

    private func frame(of source: SourceImage, at scale: DecodeScale) throws -> DecodedImage.Frame {
        if work.wantsAllFrames, let frames = try allFrames(of: source) { return frames }
        let kept = try RetainedMetadata(of: source, work.keeps)
        guard let index = work.frame ?? (source.missing == nil ? nil : source.frameOfStill) else {
            return try still(of: source, at: scale, kept)
        }
        // A canvas with missing pixels must not be used by the next job.
        let cache = source.missing == nil ? animationCache : AnimationCache()
        return try cache.frame(
            index, of: source, limits, kept, to: output, cancellation: cancellation)
    }

    /// Decodes a still image, as planes if possible.
    private func still(
        of source: SourceImage, at scale: DecodeScale, _ kept: RetainedMetadata
    ) throws -> DecodedImage.Frame {
        let source = kept.hasProfile ? source.withoutColorConversion : source
        if source.missing == nil,
            let frame = try source.decoder.writePlanes(
                of: source, at: scale, limits: limits, to: output, with: kept, cancellation)
        {
            return frame
        }
        return try source.pixels(
            at: scale, as: source.samples(work.keeps), cancellation: cancellation
        ).write(to: output, with: kept)
    }
}

// The displayable part of a file of which only the beginning exists (SEMANTICS §11.33). It is
// processed like a whole file, but no state is kept for the next job.
extension DecodeJob {
    /// Returns the header, and a frame if anything can be shown.
    ///
    /// - Throws: `badImageData` if the header is incomplete; `limitExceeded`; `internalError` for
    ///   invalid work; `cancelled`; the errors of `output`. Pixels that can't be decoded yet aren't
    ///   an error.
    private func decodePartial(by decoder: any FormatDecoder) throws -> DecodedImage {
        guard work.isPossible else {
            throw ImageError(.internalError, "partial images have no further properties")
        }
        // Missing data may still arrive.
        let missing = MissingPixels(arePermitted: true, cancellation)
        let stated = try SourceImage(input, by: decoder, noting: missing)
        let map = AnimationMap(
            input.bindMemory(to: UInt8.self).span,
            framesMax: limits.pagesMax == .max ? .max : limits.pagesMax + 1)
        let isOfFrames = decoder.format.traits.input?.pages == .frames
        let source = isOfFrames ? stated.with(pages: max(1, map?.wholeFrames ?? 1)) : stated
        // The limits apply to the declared frames, even if they have not arrived yet.
        for source in [stated, source] {
            try limits.check(source, at: source.scale(for: work.need))
        }
        var image = DecodedImage(info: source.info, frames: [])
        guard work.need != .header else { return image }
        guard !cancellation.isCancelled else { throw ImageError.cancelled }
        do {
            image.frames = try partialFrame(of: source, map).map { [$0] } ?? []
        } catch {
            let error = ImageError(decoding: error)
            guard error.code == .badImageData else { throw error }
        }
        return image
    }

    private func partialFrame(
        of source: SourceImage, _ map: AnimationMap?
    ) throws -> DecodedImage.Frame? {
        if let map, let index = work.frame ?? source.frameOfStill {
            return (0..<map.wholeFrames).contains(index) ? try composed(index, of: source) : nil
        }
        guard work.frame ?? 0 == 0 else { return nil }
        let scale = source.scale(for: work.need)
        try limits.checkPixelBytes(source, at: scale)
        return try still(of: source, at: scale, RetainedMetadata(of: source, work.keeps))
    }

    /// Returns a complete frame as displayed; nil if it exceeds the limits, since the image itself
    /// may be reduced.
    private func composed(_ index: Int, of source: SourceImage) throws -> DecodedImage.Frame? {
        let found: FrameReader?
        do {
            found = try FrameReader(of: source, noting: nil, limits, framesMax: index + 1)
        } catch let error as ImageError where error.code == .limitExceeded {
            return nil
        }
        guard var reader = found else { return nil }
        // Without the profile, which has been applied.
        let kept = try RetainedMetadata(of: source, work.keeps.intersection([.rights, .metadata]))
        let pixels = try reader.pixels(
            of: index, in: input, limits: limits, cancellation: cancellation)
        return try output.frame(
            pixels, of: reader.map.canvas, turned: source.orientation, with: kept)
    }
}

// Files that are passed through: delivered unchanged, or without their metadata (SEMANTICS §11.37).
extension DecodeJob {
    /// Returns the result for an SVG from its root element alone, or the file itself; `nil` if the
    /// SVG must be rendered, and for other inputs.
    private func unrenderedSVG() throws -> DecodedImage? {
        guard work.canSkipRendering, let drawing = UnrenderedSVG(input, limits) else { return nil }
        guard work.passThrough != nil else { return DecodedImage(info: drawing.info, frames: []) }
        var file = StrippedFile(of: input, isWhole: drawing.inflated == nil)
        file.append(drawing.inflated ?? [])
        return try write(file, drawing.info)
    }

    /// Returns the source as a file; `nil` if it must be decoded, for example because its metadata
    /// can't be removed.
    private func passThrough(_ source: SourceImage) throws -> DecodedImage? {
        let info = source.info
        guard let rule = work.passThrough,
            rule.applies(to: info, for: work.need, keepsFrames: work.wantsAllFrames),
            limits.permit(info, for: .header),
            let file = try stripped(source, rule.metadata), file.length <= work.passThroughBytesMax
        else { return nil }
        return try write(file, info)
    }

    /// Returns the source with only the metadata of that choice; `nil` if the format, or this file,
    /// doesn't permit its removal.
    private func stripped(
        _ source: SourceImage, _ metadata: MetadataChoice
    ) throws -> StrippedFile? {
        guard metadata != .all else { return StrippedFile(of: input, isWhole: true) }
        let kept = { try PassThroughMetadata(of: source, metadata) }
        return switch source.decoder.format {
        case .jpeg: JPEGFile.stripped(input, keeping: try kept())
        case .png: PNGFile.stripped(input, keeping: try kept())
        case .webp: WebPFile.stripped(input, keeping: try kept())
        case .gif: GIFFile.stripped(input)
        default: nil
        }
    }

    private func write(_ file: StrippedFile, _ info: ImageInfo) throws -> DecodedImage {
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
        _ layout: PixelLayout, bytes count: Int, with kept: RetainedMetadata
    ) -> DecodedImage.Frame {
        var layout = layout
        layout.embeddedMetadata = kept.write(to: bytes, from: count)
        return DecodedImage.Frame(
            reference: reference(length: count + kept.byteCount), layout: layout)
    }
}

extension OutputSpace {
    /// Writes pixels of `count` bytes to a block, followed by kept metadata.
    func frame(
        _ layout: PixelLayout, bytes count: Int, with kept: RetainedMetadata,
        _ write: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws -> DecodedImage.Frame {
        let block = try reserve(count + kept.byteCount)
        do {
            try write(UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<count]))
        } catch {
            discard(block)
            throw error
        }
        return block.frame(layout, bytes: count, with: kept)
    }

    /// Writes a displayed frame of an animation, RGBA of the whole canvas, to a block of its own.
    /// `orientation` is what remains to be applied.
    func frame(
        _ pixels: [UInt8], of canvas: PixelSize, turned orientation: Orientation = .upright,
        with kept: RetainedMetadata
    ) throws -> DecodedImage.Frame {
        var layout = PixelLayout(bands: .rgba, size: canvas, stride: 4 * canvas.width)
        layout.orientation = orientation
        return try frame(layout, bytes: pixels.count, with: kept) { $0.copyBytes(from: pixels) }
    }
}

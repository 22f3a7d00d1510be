import ImageModel
import Messages
import StageContract

// Sources that are results as they are, or without their metadata (SEMANTICS §11.37).
extension DecodeStage {
    /// An SVG for which nothing has to be drawn; `nil` for other bytes, and where it has.
    func undrawn(
        _ work: DecodeWork, _ input: UnsafeRawBufferPointer, _ limits: ImageLimits,
        to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage? {
        guard work.takesDrawingsUndrawn, let drawing = UndrawnSVG(input, limits) else { return nil }
        guard work.passing != nil else { return DecodedImage(info: drawing.info, frames: []) }
        var file = StrippedFile(of: input)
        if let inflated = drawing.inflated {
            file.append(inflated)
        } else {
            file.keep(0..<input.count)
        }
        return try handOver(file, drawing.info, to: output)
    }

    /// The source as a file; `nil` where it has to be decoded, also since its metadata cannot be
    /// taken out of it.
    func passed(
        _ work: DecodeWork, _ source: SourceImage, _ limits: ImageLimits,
        to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage? {
        let info = source.info
        guard let passing = work.passing,
            passing.passes(info, for: work.need, keepsFrames: work.wantsAllFrames),
            limits.permit(info, for: .header),
            let file = try stripped(source, passing.metadata), file.length <= work.passedBytesMax
        else { return nil }
        return try handOver(file, info, to: output)
    }

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
            return JPEGFile.stripped(bytes, keeping: try PassedMetadata(of: source, metadata))
        case .png:
            return PNGFile.stripped(bytes, keeping: try PassedMetadata(of: source, metadata))
        case .webp:
            return WebPFile.stripped(bytes, keeping: try PassedMetadata(of: source, metadata))
        case .gif: return GIFFile.stripped(bytes)
        default: return nil
        }
    }

    private func handOver(
        _ file: StrippedFile, _ info: ImageInfo, to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage {
        let block = try output.reserve(file.length)
        file.write(to: block.bytes)
        var image = DecodedImage(info: info, frames: [])
        image.file = block.reference(length: file.length)
        return image
    }
}

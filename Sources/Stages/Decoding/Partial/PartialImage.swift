import Animation
import ImageModel
import Messages
import StageContract

/// What can be shown of a file of which the first bytes are there (SEMANTICS §11.33).
///
/// It goes the way of a whole file with another decoder of the format, the one of beginnings.
/// Nothing is kept for the next one.
struct PartialImage {
    private let work: DecodeWork
    private let limits: ImageLimits
    private let cancellation: CancellationFlag
    /// Of whole files: a frame that is there is one.
    private let decoder: any FormatDecoder
    private let source: SourceImage
    private let map: AnimationMap?

    /// Reads the header and checks its limits.
    ///
    /// - Throws: `badImageData` where the header is not there as a whole; `limitExceeded`;
    ///   `internalError` for work that cannot be.
    init(
        _ work: DecodeWork, of bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder,
        _ limits: ImageLimits, _ cancellation: CancellationFlag
    ) throws(ImageError) {
        guard work.isPossible else {
            throw ImageError(.internalError, "of a partial image there are no further facts")
        }
        (self.work, self.limits, self.cancellation) = (work, limits, cancellation)
        self.decoder = decoder
        // What is missing may still arrive.
        let missing = MissingPixels(arePermitted: true)
        let stated = try SourceImage(bytes, by: decoder.ofBeginnings(cancellation, missing))
        map = AnimationMap(
            bytes.bindMemory(to: UInt8.self).span,
            framesMax: limits.pagesMax == .max ? .max : limits.pagesMax + 1)
        let isOfFrames = decoder.format.traits.input?.pages == .frames
        source = isOfFrames ? stated.with(pages: max(1, map?.wholeFrames ?? 1)) : stated
        // What the file says of its frames counts, though they are not there yet.
        for source in [stated, source] {
            try limits.check(source, at: source.scale(for: work.need))
        }
    }

    /// The header, and a frame where something can be shown.
    ///
    /// - Throws: `limitExceeded`, `cancelled`, what `output` throws. Pixels that cannot be made yet
    ///   are no error.
    func decode(to output: some OutputSpace) throws(ImageError) -> DecodedImage {
        let headerAlone = DecodedImage(info: source.info, frames: [])
        guard work.need != .header else { return headerAlone }
        guard !cancellation.isCancelled else { throw .cancelled }
        do throws(ImageError) {
            guard let frame = try frame(to: output) else { return headerAlone }
            return DecodedImage(info: source.info, frames: [frame])
        } catch {
            guard error.code == .badImageData else { throw error }
            return headerAlone
        }
    }

    private func frame(to output: some OutputSpace) throws(ImageError) -> DecodedImage.Frame? {
        if let map, let index = work.frame ?? source.frameOfStill {
            return (0..<map.wholeFrames).contains(index) ? try composed(index, to: output) : nil
        }
        guard work.frame ?? 0 == 0 else { return nil }
        let scale = source.scale(for: work.need)
        try limits.checkPixelBytes(source, at: scale)
        let kept = try KeptBytes(of: source, work.keeps)
        let source = kept.hasProfile ? source.withOwnColours : source
        return try source.pixels(
            at: scale, as: source.samples(work.keeps), cancellation: cancellation
        ).write(to: output, with: kept)
    }

    /// A frame that is there as a whole, as it is shown; none where that takes more than it may:
    /// the image itself may be reduced.
    private func composed(
        _ index: Int, to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage.Frame? {
        guard var reader = try reader(framesMax: index + 1) else { return nil }
        // Their profile has been applied.
        let kept = try KeptBytes(of: source, work.keeps.intersection([.rights, .metadata]))
        let pixels = try reader.pixels(
            of: index, in: source.bytes, limits: limits, cancellation: cancellation)
        return try output.frame(
            pixels, of: reader.map.canvas, turned: source.orientation, with: kept)
    }

    private func reader(framesMax: Int) throws(ImageError) -> FrameReader? {
        do throws(ImageError) {
            return try FrameReader(of: source, by: decoder, limits, framesMax: framesMax)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            return nil
        }
    }
}

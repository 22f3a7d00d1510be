import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// All frames of an animation as they are shown, one behind the other in one block: 8-bit RGBA in
/// sRGB, alpha straight, each as large as the canvas.
struct AllFrames {
    private let source: SourceImage
    private let limits: ImageLimits
    private var reader: FrameReader

    /// - Returns: nil for what has no frames, or but one.
    /// - Throws: `limitExceeded` for too many frames, or too many pixels of all of them, or too
    ///   much that each of them needs; `badImageData` where frames are missing.
    init?(of source: SourceImage, _ limits: ImageLimits) throws(ImageError) {
        guard source.pages > 1, source.decoder.format.traits.input?.pages == .frames else {
            return nil
        }
        try limits.check(frames: source.pages, of: source)
        let found = try FrameReader(
            of: source, by: source.decoder, limits, framesMax: source.pages)
        guard let found else { return nil }
        guard found.map.end == .whole || found.map.frames.count == source.pages else {
            throw ImageError(
                .badImageData,
                "of \(source.pages) frames \(found.map.frames.count) are there: "
                    + "ask for one of these by its number")
        }
        guard found.map.frames.count > 1 else { return nil }
        try limits.check(frames: found.map.frames.count, of: source)
        // A PNG has it packed.
        let profile = try source.openHeader().withProfile { $0.count } ?? 0
        try limits.check(
            shared: max(found.map.sharedBytes, profile), frames: found.map.frames.count)
        (self.source, self.limits, reader) = (source, limits, found)
    }

    /// Composes one frame after the other.
    ///
    /// - Parameters:
    ///   - keeps: what is wanted beside the pixels. Their profile has been applied, and they have
    ///     8 bits.
    ///   - cancellation: looked at between frames.
    /// - Throws: `badImageData`, `limitExceeded`, `cancelled`, what `output` throws.
    mutating func write(
        to output: some OutputSpace, keeping keeps: KeptParts, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        let kept = try KeptBytes(of: source, keeps.intersection([.rights, .metadata]))
        let layout = layout
        guard let count = layout.pixelByteCount, let one = layout.bytes(ofFrame: 0)?.count else {
            throw ImageError(.internalError, "the frames have no size")
        }
        let block = try output.reserve(count + kept.byteCount)
        do throws(ImageError) {
            for index in reader.map.frames.indices {
                guard !cancellation.isCancelled else { throw .cancelled }
                let pixels = try reader.pixels(
                    of: index, in: source.bytes, limits: limits, cancellation: cancellation)
                UnsafeMutableRawBufferPointer(rebasing: block.bytes[(index * one)...])
                    .copyBytes(from: pixels)
            }
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: count, with: kept)
    }

    private var layout: PixelLayout {
        let canvas = reader.map.canvas
        var layout = PixelLayout(bands: .rgba, size: canvas, stride: 4 * canvas.width)
        layout.orientation = source.orientation
        layout.animation = AnimationFacts(
            durations: reader.map.frames.map { UInt32(clamping: $0.duration) },
            loops: reader.map.loops)
        return layout
    }
}

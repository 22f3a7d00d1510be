import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// All frames of an animation as they are shown, one behind the other in one block: 8-bit RGBA in
/// sRGB, alpha straight, each as large as the canvas, or reduced where that takes too much memory.
struct AllFrames {
    private let source: SourceImage
    private let limits: ImageLimits
    private let reduction: FrameReduction
    private var reader: FrameReader

    /// - Parameters:
    ///   - need: what is needed of each frame.
    ///   - missing: of a source whose decoder is one of beginnings; is told where frames are
    ///     missing.
    /// - Returns: nil for what has no frames, or but one.
    /// - Throws: `limitExceeded` for too many frames, or too many bytes of their pixels, or too
    ///   much that each of them needs; `badImageData` where frames are missing.
    init?(
        of source: SourceImage, for need: DecodeNeed, _ limits: ImageLimits,
        _ missing: MissingPixels? = nil
    ) throws(ImageError) {
        guard source.decoder.format.traits.input?.pages == .frames else { return nil }
        let lacksFrames = Self.lacksFrames(source, limits)
        if lacksFrames { try missing?.noteFrame() }
        guard source.pages > 1 || lacksFrames else { return nil }
        try limits.check(composed: source.pages, of: source.storedSize)
        let stated = FrameReduction(
            of: source, frames: source.pages, for: need, bytes: limits.unreducedBytes)
        try limits.check(frames: source.pages, of: stated.size)
        let found = try FrameReader(
            of: source, by: source.decoder, limits, framesMax: source.pages)
        guard let found else { return nil }
        guard missing != nil || !lacksFrames else {
            throw ImageError(
                .badImageData,
                "\(found.map.frames.count) frames are there, and others are missing: "
                    + "ask for one of these by its number")
        }
        guard found.map.frames.count > 1 else { return nil }
        try limits.check(composedPixels: found.map.pixelCount)
        reduction = FrameReduction(
            of: source, frames: found.map.frames.count, for: need, bytes: limits.unreducedBytes)
        try limits.check(frames: found.map.frames.count, of: reduction.size)
        // A PNG has it packed.
        let profile = try source.openHeader().withProfile { $0.count } ?? 0
        try limits.check(
            shared: max(found.map.sharedBytes, profile), frames: found.map.frames.count)
        (self.source, self.limits, reader) = (source, limits, found)
    }

    /// Whether the file has more frames than are there as a whole. libvips does not count a frame
    /// of a GIF that is cut off.
    private static func lacksFrames(_ source: SourceImage, _ limits: ImageLimits) -> Bool {
        let bytes = source.bytes.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(bytes, framesMax: limits.pagesMax), map.end != .whole else {
            return false
        }
        let file = HeaderBytes(bytes)
        var end = map.frames.last?.parts.last?.upperBound ?? 0
        switch map.format {
        case .gif:
            while file.byte(end) == 0 { end += 1 }
            // What stands in front of a frame, or a frame.
            return source.pages > max(1, map.frames.count) || file.byte(end) == 0x2C
                || file.byte(end) == 0x21 && file.byte(end + 1) ?? 0xF9 == 0xF9
        case .webp:
            end += end % 2
            return map.frames.count < source.pages || file.byte(end + 3) == nil
                || file.has("ANMF", at: end)
        default: return map.frames.count < source.pages
        }
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
                reduction.write(
                    pixels,
                    to: UnsafeMutableRawBufferPointer(rebasing: block.bytes[(index * one)...]))
            }
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: count, with: kept)
    }

    private var layout: PixelLayout {
        let size = reduction.size
        var layout = PixelLayout(bands: .rgba, size: size, stride: 4 * size.width)
        layout.orientation = source.orientation
        layout.animation = AnimationFacts(
            durations: reader.map.frames.map { UInt32(clamping: $0.duration) },
            loops: reader.map.loops, plays: reader.map.plays)
        return layout
    }
}

import Animation
import ImageModel
import Messages
import StageContract
import Synchronization

/// The animation of which a frame was decoded last, with its canvas: the next frame of the same
/// picture costs one frame. It is known again by its bytes, of which a copy is kept.
final class KeptAnimation: Sendable {
    /// Bytes of the file and of the canvas that are kept at most, each.
    private static let bytesMax = 64 << 20

    private struct Kept {
        let bytes: [UInt8]
        var reader: FrameReader
    }

    private let kept = Mutex<Kept?>(nil)

    /// The pixels of a frame as it is shown, in a block of `output`.
    ///
    /// - Throws: `badImageData`; `stepFailed` for a frame that is not there; `notSupported` for a
    ///   frame behind the first one of a format whose frames are not decoded; what `output` throws.
    func frame(
        _ index: Int, of source: SourceImage, _ limits: ImageLimits, _ parts: KeptBytes,
        to output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        guard var found = try take(source, limits) else {
            guard index == 0 else { throw .noFrame(index, of: source) }
            try limits.check(source, at: .whole)
            try limits.checkPixelBytes(source, at: .whole)
            return try source.pixels(at: .whole, cancellation: cancellation)
                .write(to: output, with: parts)
        }
        guard index < found.reader.map.frames.count else { throw .noFrame(index, of: source) }
        let pixels = try found.reader.pixels(
            of: index, in: source.bytes, limits: limits, cancellation: cancellation)
        let canvas = found.reader.map.canvas
        put(found, bytes: pixels.count)
        return try output.frame(pixels, of: canvas, with: parts)
    }

    /// What was kept of the same bytes, or a beginning; nil for what has no frames.
    private func take(
        _ source: SourceImage, _ limits: ImageLimits
    ) throws(ImageError) -> Kept? {
        let last = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        if let last, last.bytes.count == source.bytes.count,
            last.bytes.elementsEqual(source.bytes)
        {
            try limits.check(source, at: .whole)
            try limits.check(frames: 1, of: source.storedSize)
            return last
        }
        let reader = try FrameReader(
            of: source, by: source.decoder, limits, framesMax: limits.pagesMax)
        return reader.map { Kept(bytes: Array(source.bytes), reader: $0) }
    }

    private func put(_ found: Kept, bytes: Int) {
        guard found.bytes.count <= Self.bytesMax, bytes <= Self.bytesMax else { return }
        kept.withLock { $0 = found }
    }
}

extension ImageError {
    /// A frame that cannot be decoded of a source.
    fileprivate static func noFrame(_ index: Int, of source: SourceImage) -> ImageError {
        let name = source.decoder.format.name
        guard source.decoder.format.traits.input?.pages == .frames || source.pages == 1 else {
            return ImageError(
                .notSupported,
                "of a file in \(name) this version decodes the first image alone: ask for frame 0, "
                    + "or send the frames as GIF, APNG, WebP or AVIF")
        }
        return ImageError(
            .stepFailed,
            "there is no frame \(index): the image has \(source.pages), counted from 0")
    }
}

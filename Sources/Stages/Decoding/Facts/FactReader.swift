import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// Finds the facts of a source that are wanted, which needs a few pixels at most.
struct FactReader {
    let wanted: WantedFacts
    let limits: ImageLimits
    let cancellation: CancellationFlag

    /// Throws as a decode does, of pixels only where they are needed.
    func facts(of source: SourceImage) throws(ImageError) -> ImageFacts {
        var facts = ImageFacts()
        // Of some formats to open an image is to make its pixels.
        let image = try ImageError.mapping { () throws(VipsError) in
            try source.decoder.header(source.bytes)
        }
        if wanted.kinds.contains(.header) { addHeader(of: source, image, to: &facts) }
        facts.exif = ExifFacts(image).fields(wanted.kinds)
        if wanted.kinds.contains(.animation) { facts.animation = animation(of: source) }
        guard wanted.needPixels else { return facts }
        let scale = source.scale(for: MiniaturePixels.need.decode)
        try limits.check(source, at: scale)
        try limits.checkPixelBytes(source, at: scale)
        guard !cancellation.isCancelled else { throw .cancelled }
        do throws(ImageError) {
            add(try MiniaturePixels(source, at: scale, cancellation: cancellation), to: &facts)
        } catch {
            throw error.ofPixels
        }
        return facts
    }

    private func animation(of source: SourceImage) -> AnimationFacts? {
        let file = source.bytes.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(file, framesMax: limits.pagesMax), map.frames.count > 1 else {
            return nil
        }
        return AnimationFacts(
            durations: map.frames.prefix(AnimationFacts.framesMax).map {
                UInt32(clamping: $0.duration)
            }, loops: map.loops, plays: map.plays)
    }

    private func addHeader(
        of source: SourceImage, _ image: VipsImage, to facts: inout ImageFacts
    ) {
        facts.orientation = source.statedOrientation
        facts.bitsPerSample = source.bits
        let name = image.withProfile { ProfileName.read($0) } ?? nil
        facts.profile = name.flatMap { FactText.text($0, bytesMax: ImageFacts.nameBytesMax) }
    }

    private func add(_ pixels: MiniaturePixels, to facts: inout ImageFacts) {
        if wanted.kinds.contains(.colours) {
            facts.average = AverageColour.of(pixels)
            facts.dominant = DominantColour.of(pixels)
        }
        if wanted.kinds.contains(.blurHash) {
            facts.blurHash = BlurHash(pixels, components: wanted.blurHash).text
        }
        if wanted.kinds.contains(.thumbHash) {
            facts.thumbHash = Base64Text.text(ThumbHash(pixels).bytes)
        }
    }
}

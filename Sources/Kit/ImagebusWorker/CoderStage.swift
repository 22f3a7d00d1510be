import ImageModel
import Messages
import Observability
import StageContract

/// Does the jobs of a coder. One thread.
struct CoderStage<Author: Coder> {
    let coder: Author
    let log: Log

    /// The pixels that a job asks for, in a block of `output`.
    func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> DecodedImage {
        let data = input.bindMemory(to: UInt8.self).span
        guard coder.recognises(data) else {
            throw ImageError(.unsupportedFormat, "this coder does not know the image")
        }
        guard !work.isPartial else {
            throw ImageError(.badImageData, "the file is not there as a whole")
        }
        guard work.frame ?? 0 == 0 else {
            throw ImageError(.stepFailed, "the image has no such frame")
        }
        do {
            return try decode(work, data, output, cancellation)
        } catch {
            throw AuthorError(error).imageError(log) { sentence in
                ImageError(
                    .badImageData,
                    "the \(coder.format.name) image cannot be decoded: \(sentence)")
            }
        }
    }

    private func decode(
        _ work: DecodeWork, _ data: Span<UInt8>, _ output: some OutputSpace,
        _ cancellation: Cancellation
    ) throws -> DecodedImage {
        let header = try coder.header(of: data)
        let count = try header.check(against: work.limits)
        var image = DecodedImage(
            info: ImageInfo(
                format: coder.format, size: header.size, hasAlpha: header.bands.hasAlpha),
            frames: [])
        // Nothing is known of what was asked for.
        if !work.facts.kinds.isEmpty { image.facts = ImageFacts() }
        guard work.need != .header else { return image }
        let block = try output.reserve(count)
        do {
            let place = block.blank(count)
            var pixels = place.mutableSpan
            try coder.pixels(of: data, header, into: &pixels, cancellation)
            try cancellation.check()
        } catch {
            output.discard(block)
            throw error
        }
        image.frames = [
            DecodedImage.Frame(reference: block.reference(length: count), layout: header.layout())
        ]
        return image
    }
}

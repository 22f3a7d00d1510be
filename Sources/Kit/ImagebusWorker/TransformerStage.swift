import ImageModel
import Messages
import Observability
import StageContract

/// Does the jobs of a transformer. One thread.
struct TransformerStage<Author: Transformer> {
    let transformer: Author
    let log: Log

    /// The pixels that a step makes of those that lie in `input`, as a PAM in a block of `output`.
    func perform(
        _ work: TransformWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> EncodedImage {
        guard work.steps.count == 1, case .custom(let step) = work.steps[0] else {
            throw .does("does one step of its own")
        }
        guard let image = PixelForm(work.layout),
            let end = work.layout.pixelByteCount, end <= input.count
        else {
            throw ImageError(
                .invalidRequest, "a step of its own is given pixels as they are shown")
        }
        let samples = UnsafeRawBufferPointer(
            rebasing: input[work.layout.planes[0].offset..<end]
        ).bindMemory(to: UInt8.self)
        do {
            return try transform(samples.span, of: image, by: step, output, cancellation)
        } catch {
            throw AuthorError(error).imageError(log) { sentence in
                ImageError(
                    .stepFailed, "the step \(step.name) cannot be done: \(sentence)",
                    details: ["step": step.name])
            }
        }
    }

    private func transform(
        _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
        _ output: some OutputSpace, _ cancellation: Cancellation
    ) throws -> EncodedImage {
        var made = image
        made.bands = try transformer.bands(after: step, of: image)
        let header = PixelMapHeader(size: made.size, bands: made.bands.rawValue)
        guard let count = header.sampleCount else { throw InvalidInput("there are too many") }
        let length = PixelMapHeader.byteCount + count
        let block = try output.reserve(length)
        do {
            block.bytes.copyBytes(from: header.bytes)
            let place = block.blank(count, at: PixelMapHeader.byteCount)
            var pixels = place.mutableSpan
            try transformer.transform(samples, of: image, by: step, into: &pixels, cancellation)
            try cancellation.check()
        } catch {
            output.discard(block)
            throw error
        }
        return EncodedImage(
            reference: block.reference(length: length),
            info: ImageInfo(format: .pam, size: made.size, hasAlpha: made.bands.hasAlpha))
    }
}

extension PixelForm {
    /// `nil` for pixels that do not lie as a step of its own is given them: interleaved, as they
    /// are shown, 8 bits a sample, without gaps.
    fileprivate init?(_ layout: PixelLayout) {
        guard layout.planes.count == 1, layout.orientation == .upright, layout.samples == .usual,
            layout.animation == nil, let plane = layout.planes.first,
            let bands = Bands(rawValue: Int(plane.bands.rawValue))
        else { return nil }
        self.init(width: plane.size.width, height: plane.size.height, bands: bands)
        guard byteCount != nil, plane.stride == stride, plane.offset >= 0 else { return nil }
    }
}

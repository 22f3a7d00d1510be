public import ImageModel
import Messages
import Observability
import StageContract

/// Does steps that are named `VENDOR.STEP`, on pixels. SDWebImage's transformer.
///
/// Steps of Imagebus may come before and behind them in one request. Name and parameters of a step
/// are in the cache key, so what it makes of the same ones has to stay the same: a version belongs
/// into the name. One image at a time, on a thread of its own; a function that heeds no cancel ends
/// the process.
public protocol Transformer: Sendable {
    /// Their names; `steps` of the pool names them as well.
    var steps: [String] { get }

    /// The samples of the pixels that the step makes of such; as many as before, where an author
    /// says nothing else. Throws as `transform` does.
    func bands(after step: CustomStep, of image: PixelForm) throws -> PixelForm.Bands

    /// Writes the pixels that the step makes of `samples`, which are those of `image`: as many
    /// columns and rows, each with the samples of `bands(after:of:)`. `output` has room for them
    /// and nothing else, and is 0 where it is not written.
    ///
    /// Throws ``InvalidInput`` for parameters that say nothing, ``Failure`` or `ImageError`;
    /// whatever else is `internalError` for the caller, who learns its type.
    func transform(
        _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
        into output: inout MutableSpan<UInt8>, _ cancellation: Cancellation) throws
}

extension Transformer {
    /// As many as before.
    public func bands(after step: CustomStep, of image: PixelForm) -> PixelForm.Bands {
        image.bands
    }
}

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
        let pixels = try ShownPixels(work.layout, in: input)
        do {
            return try transform(
                pixels.samples.span, of: pixels.form, by: step, output, cancellation)
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

public import Model
import ProcessRuntime

/// Performs custom steps, named `VENDOR.STEP`, on pixels. Corresponds to SDWebImage's transformer.
///
/// A request may contain built-in steps before and after them. The name and parameters of a step
/// are part of the cache key, so the same ones must always produce the same result: include a
/// version in the name. One image is processed at a time, on a dedicated thread. If a function
/// ignores cancellation, the process exits.
public protocol Transformer: Sendable {
    /// The names of the steps, which the pool's `steps` must also list.
    var steps: [String] { get }

    /// Returns the samples of the step's output for an input of this form. The default returns
    /// those of the input. Throws like `transform`.
    func bands(after step: CustomStep, of image: PixelForm) throws -> PixelForm.Bands

    /// Performs a step on `samples`, which have the form `image`. The output has the same width and
    /// height, with the samples of `bands(after:of:)`. `output` has exactly the required size and
    /// is initialized to 0.
    ///
    /// Throws ``InvalidInput`` for invalid parameters, ``Failure`` or `ImageError`. Any other error
    /// is reported to the caller as `internalError` with the name of its type.
    func transform(
        _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
        into output: inout MutableSpan<UInt8>, _ cancellation: Cancellation) throws
}

extension Transformer {
    /// Returns the samples of the input.
    public func bands(after step: CustomStep, of image: PixelForm) -> PixelForm.Bands {
        image.bands
    }
}

/// Executes the jobs of a transformer. Single-threaded.
struct TransformerStage<Author: Transformer> {
    let transformer: Author
    let log: Log

    /// Performs a step on the pixels in `input` and writes the result as PAM into a block of
    /// `output`.
    func perform(
        _ work: TransformWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> EncodedImage {
        guard work.steps.count == 1, case .custom(let step) = work.steps[0] else {
            throw .does("performs a single custom step")
        }
        let pixels = try ShownPixels(work.layout, in: input)
        do {
            return try transform(
                pixels.samples.span, of: pixels.form, by: step, output, cancellation)
        } catch {
            throw ImageError(of: error, log) { sentence in
                ImageError(.stepFailed, "the step \(step.name) failed: \(sentence)") {
                    $0.step = step.name
                }
            }
        }
    }

    private func transform(
        _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
        _ output: some OutputSpace, _ cancellation: Cancellation
    ) throws -> EncodedImage {
        var transformed = image
        transformed.bands = try transformer.bands(after: step, of: image)
        let header = PixelMapHeader(size: transformed.size, bands: transformed.bands.rawValue)
        guard let count = header.sampleCount else { throw InvalidInput("too many pixels") }
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
            info: ImageInfo(
                format: .pam, size: transformed.size, hasAlpha: transformed.bands.hasAlpha))
    }
}

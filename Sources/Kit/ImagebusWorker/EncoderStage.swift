import ImageModel
import Messages
import Observability
import StageContract

/// Does the jobs of an encoder. One thread.
struct EncoderStage<Author: Encoder> {
    let encoder: Author
    let log: Log

    /// The file of the pixels that lie in `input`, in a block of `output`.
    func perform(
        _ work: TransformWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> EncodedImage {
        guard work.steps.isEmpty, work.output.format == encoder.format else {
            throw .does("encodes \(encoder.format.name)")
        }
        let pixels = try ShownPixels(work.layout, in: input)
        let file: [UInt8]
        do {
            file = try encoder.encode(
                pixels.samples.span, of: pixels.form, quality: work.output.quality, cancellation)
            try cancellation.check()
        } catch {
            throw AuthorError(error).imageError(log) { sentence in
                ImageError(
                    .unsupportedFormat,
                    "the image cannot be encoded as \(encoder.format.name): \(sentence)",
                    details: ["format": encoder.format.name])
            }
        }
        guard !file.isEmpty else {
            throw ImageError(.internalError, "the encoder made no bytes")
        }
        guard file.count <= work.limits.pixelBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the image has \(file.count) bytes as \(encoder.format.name), at most "
                    + "\(work.limits.pixelBytesMax) are taken",
                details: ["limit": "bytes"])
        }
        let block = try output.reserve(file.count)
        block.bytes.copyBytes(from: file)
        return EncodedImage(
            reference: block.reference(length: file.count),
            info: ImageInfo(
                format: encoder.format, size: pixels.form.size,
                hasAlpha: pixels.form.bands.hasAlpha))
    }
}

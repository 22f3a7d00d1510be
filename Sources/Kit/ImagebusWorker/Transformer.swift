public import ImageModel

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

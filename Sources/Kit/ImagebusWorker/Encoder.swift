public import ImageModel

/// Encodes pixels in one format: the other half of SDWebImage's coder.
///
/// It is asked for a format that Imagebus does not encode itself, and for one that it does where a
/// request names it and says nothing but a quality (PROTOCOL §8.9). One image at a time, on a
/// thread of its own; a function that heeds no cancel ends the process.
public protocol Encoder: Sendable {
    /// What it makes; `formats-out` of the pool names it as well.
    var format: ImageFormat { get }

    /// The whole file, of at least one byte, with as many columns and rows. `samples` are those of
    /// `image`; `quality` is 0 to 100, or `nil` where the request does not say it.
    ///
    /// Throws ``InvalidInput`` for what the format cannot hold, ``Failure`` or `ImageError`;
    /// whatever else is `internalError` for the caller, who learns its type.
    func encode(
        _ samples: Span<UInt8>, of image: PixelForm, quality: Int?, _ cancellation: Cancellation
    ) throws -> [UInt8]
}

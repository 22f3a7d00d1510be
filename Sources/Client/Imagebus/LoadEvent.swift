public import ImageModel
public import Messages

/// What happens to a load, in the order in which it happens.
public enum LoadEvent: Sendable {
    /// How far the transfer is.
    case progress(RequestProgress)
    /// What the header says, before all bytes have come; again where it says more, such as more
    /// frames of an animation.
    case info(ImageInfo)
    /// An image of the bytes that have come so far (`RequestOptions.progressiveLoad`).
    case partial(ImageResponse)
    /// The cached image of a load that asks its origin as well (`RequestOptions.refreshCached`).
    case cached(ImageResponse)
    /// How it ended; nothing comes after.
    case end(Result<ImageResponse, ImageError>)
}

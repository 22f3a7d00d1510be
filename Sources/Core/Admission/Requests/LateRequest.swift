public import ImageModel

/// A request that begins some time after the message that asked for it. It is resolved when it
/// begins, by the configuration of that moment. Until then it costs no more than its text.
public enum LateRequest: Hashable, Sendable {
    /// A URL of a prefetch.
    case prefetched
    /// What takes the place of an image that cannot be had.
    case fallback
}

/// What such a request becomes, and on what terms, identity included. Where it may not be made, the
/// terms say why.
public typealias LateResolution = @Sendable (ImageRequest, LateRequest) -> Resolution

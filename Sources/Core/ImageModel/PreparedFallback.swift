/// What is delivered where a load fails: a load of its own, under the same profile. It is resolved
/// only then, since hardly ever a load fails.
public indirect enum PreparedFallback: Hashable, Sendable {
    /// The error.
    case none
    /// An image of one colour.
    case colour(Colour)
    /// Another load, which is resolved like any when it is begun.
    case load(ImageRequest)

    /// Of a request without a configuration.
    public init(_ fallback: Fallback?, of request: ImageRequest) {
        switch fallback {
        case nil, .some(.none): self = .none
        case .colour(let colour): self = .colour(colour)
        case .url(let url): self = .load(request.loading(fallback: url))
        }
    }
}

extension ImageRequest {
    /// The same with another URL: its steps, output, tiers and class, and nothing that was said to
    /// one origin only, nor what was laid over the image, which may be what failed. What is wished
    /// of the image (to be loaded anew, to be refreshed, to be tried although it failed before) is
    /// not wished of its fallback; and that has none of its own.
    public func loading(fallback url: String) -> ImageRequest {
        var image = self
        image.url = url
        image.headers = []
        image.context.key = nil
        image.context.fallback = nil
        image.steps.removeAll { $0.overlay != nil }
        image.options.subtract(.ofImageOnly)
        return image
    }
}

extension RequestOptions {
    /// What is wished of an image, and not of the fallback in its place.
    public static let ofImageOnly: RequestOptions = [
        .refreshCached, .fromLoaderOnly, .retryFailed, .respectCacheControl,
    ]
}

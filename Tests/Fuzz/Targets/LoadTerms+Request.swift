import ImageModel

extension LoadTerms {
    /// What a coordinator without a configuration makes of a request.
    init(of request: ImageRequest, identity: String? = nil) {
        self.init(identity: identity)
        serializer = request.context.serializer ?? .asIs
        overlays = request.preparedOverlays
        fallback = PreparedFallback(request.context.fallback, of: request)
    }
}

import Model

extension LoadTerms {
    /// The terms that a coordinator without a configuration derives from a request.
    init(of request: ImageRequest, identity: String? = nil) {
        self.init(identity: identity)
        serializer = request.context.serializer ?? .asIs
        overlays = request.preparedOverlays
        fallback = PreparedFallback(request.context.fallback, of: request)
    }
}

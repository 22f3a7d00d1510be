/// What a request became under the configuration (SEMANTICS §2.1): keys and work are both
/// derived from this one.
public struct Resolution: Hashable, Sendable {
    /// The request as it is made: with headers, steps, output and options of its profile. Of its
    /// context only what the reply needs is left.
    public var request: ImageRequest
    /// On what terms it is made; `identity` is for those who can make digests.
    public var terms: LoadTerms
    /// What names the identity in place of the secret headers.
    public var identityName: String?
    /// Names of headers, in lower case, whose values the configuration holds in secret files: they
    /// are credentials, whatever their names are.
    public var secretHeaders: Set<String>

    /// A request to which nothing was added, with what it lays over its image.
    public init(_ request: ImageRequest) {
        self.request = request
        terms = LoadTerms()
        terms.overlays = request.preparedOverlays
        terms.assumedLifetime = request.countedLifetime
        terms.showsDamaged = request.context.damaged == .show
        identityName = nil
        secretHeaders = []
    }
}

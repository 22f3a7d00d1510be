/// The settings for loading a request that are not part of it: what the configuration and the
/// request's context determine about keys, caches, failures and identity.
public struct LoadTerms: Hashable, Sendable {
    /// The digest of the identity; `nil` if the request has no credentials.
    public var identity: String?
    /// The base of the cache keys.
    public var base = KeyBase.url
    /// The named cache of the result; empty for the default one.
    public var cache = ""
    /// The named cache of the original; empty for the default one.
    public var originalCache = ""
    /// The loader of the bytes.
    public var loader = FetchLoader.http
    /// The decoder pools, in order of preference; no others are used. Empty for all.
    public var coders: [String] = []
    /// Whether the loader may be used (SEMANTICS §13.2, shouldDownload).
    public var mayDownload = true
    /// Whether the caching directives of origins are ignored.
    public var ignoresCacheControl = false
    /// URL patterns, one of which every redirect must match as well; empty for no restriction.
    public var sources: [String] = []
    /// The URL to fetch if a rule substitutes one for that of the request; the key remains that of
    /// the request.
    public var urlToFetch: String?
    /// The transfer settings from rules.
    public var transfer = TransferTerms()
    /// Tags of the stored entries: those of the request, the profile and the rules.
    public var tags: [String] = []
    /// Whether tags sent by the origin are added.
    public var takesOriginTags = false
    /// The configured limits for serving stale responses.
    public var staleLimits = StaleLimits()
    /// The lifetime that the request assumes for responses without a stated one.
    public var assumedLifetime = AssumedLifetime.none
    /// The configured limits, at most those of the process.
    public var limits = LimitSettings()
    /// Overrides of the loader's rule for which failures enter the failure cache (SEMANTICS §7.2).
    public var blocks: [BlockCause: Bool] = [:]
    /// The serializer of stored bytes; never `.named`.
    public var serializer = Serializer.asIs
    /// The substitute to deliver if the load fails.
    public var fallback = PreparedFallback.none
    /// The loads of the overlays, in step order; the terms of each contain a refusal if it is not
    /// permitted.
    public var overlays: [Resolution] = []
    /// Whether a damaged image is shown as far as it can be decoded.
    public var showsDamaged = false
    /// Why the configuration forbids the load; of the other fields only the fallback is then
    /// meaningful.
    public var refusal: ImageError?
    /// The profile whose failure cache applies, since each profile has its own; empty for the
    /// default profile.
    public var scope = ""

    /// The terms of a default request without a configuration.
    public init(identity: String? = nil) { self.identity = identity }

    /// The kind of cache that entries are stored in.
    public var cacheRole: CacheRole {
        if ignoresCacheControl { return .heedless }
        return identity == nil ? .shared : .personal
    }

    /// Returns the expiry of a response for this request; `nil` if its caching information is
    /// unknown.
    package func expiry(_ caching: OriginCaching?) -> HTTPExpiry? {
        caching?.expiry(
            cacheRole, HTTPExpiry.Limits().replaced(by: staleLimits).assuming(assumedLifetime))
    }

    /// Returns the substitute for an image that failed with this error; `nil` to deliver the error.
    /// A color has no properties.
    public func fallback(after error: ImageError, infoOnly: Bool) -> PreparedFallback? {
        guard error.code.admitsFallback else { return nil }
        switch fallback {
        case .none: return nil
        case .color: return infoOnly ? nil : fallback
        case .load: return fallback
        }
    }

    /// Returns the configuration's choice for this failure; `nil` for the loader's rule. An HTTP
    /// status takes precedence over the error code.
    public func blocks(_ error: ImageError) -> Bool? {
        if blocks.isEmpty { return nil }
        if let status = error.typedDetails.httpStatus, let says = blocks[.httpStatus(status)] {
            return says
        }
        return blocks[.error(error.code)]
    }
}

/// The replacement of the URL in cache keys.
public enum KeyBase: Hashable, Sendable {
    /// The URL without user info.
    case url
    /// The URL transformed by a configured filter; the entry belongs to whatever URL has this text.
    case filtered(String)
    /// A text chosen by the client, in a separate namespace so that it is never mistaken for a URL.
    case own(String)
    /// The key of an entry as shown in replies, used by an operator to read that entry.
    case entry(String)
}

/// A failure that may or may not enter the failure cache.
public enum BlockCause: Hashable, Sendable {
    /// An error code.
    case error(ErrorCode)
    /// A response status of the origin.
    case httpStatus(Int)
}

/// A request resolved under the configuration (SEMANTICS §2.1). Keys and work are both derived from
/// it.
public struct Resolution: Hashable, Sendable {
    /// The effective request, including headers, steps, output and options of its profile. Its
    /// context is reduced to what the reply needs.
    public var request: ImageRequest
    /// The terms of the load; `identity` is set later by code that can compute digests.
    public var terms: LoadTerms
    /// The name of the identity, in place of the secret headers.
    public var identityName: String?
    /// Lower-case names of headers whose values come from the configuration's secret files: these
    /// are credentials, whatever their names.
    public var secretHeaders: Set<String> = []

    /// A request without a configuration, including its overlays.
    public init(_ request: ImageRequest) {
        self.request = request
        terms = LoadTerms()
        terms.overlays = request.preparedOverlays
        terms.assumedLifetime = request.countedLifetime
        terms.showsDamaged = request.context.damaged == .show
    }
}

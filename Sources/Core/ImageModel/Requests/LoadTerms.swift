/// On what terms a request is loaded, besides the request itself: what the configuration and the
/// request's context say of names, caches, failures and who asks.
public struct LoadTerms: Hashable, Sendable {
    /// Who asks, as a digest; `nil` where the request has no credentials.
    public var identity: String?
    /// What cache keys begin with.
    public var base: KeyBase
    /// The named cache of the result; empty: the default one.
    public var cache: String
    /// The named cache of the original; empty: the default one.
    public var originalCache: String
    /// Who obtains the bytes.
    public var loader: FetchLoader
    /// Pools of decoders, which are asked in this order and no others; empty: all that there are.
    public var coders: [String]
    /// Whether the loader may be asked (SEMANTICS §13.2, shouldDownload).
    public var mayDownload: Bool
    /// Whether what origins say of keeping their answers is not looked at.
    public var ignoresCacheControl: Bool
    /// Patterns of URLs, one of which every redirect has to match as well; empty: it need not.
    public var sources: [String]
    /// What a rule has asked instead of the URL of the request; the key stays that of the request.
    public var askedURL: String?
    /// What rules say of its transfer.
    public var transfer: TransferTerms
    /// Tags of what is stored for it: those of the request, of the profile and of the rules.
    public var tags: [String]
    /// Whether what the origin says of tags counts as well.
    public var takesOriginTags: Bool
    /// How long what is stale may be served at most, where the configuration says so.
    public var staleLimits: StaleLimits
    /// What who asks assumes of answers that say nothing of their lifetimes.
    public var assumedLifetime: AssumedLifetime
    /// Limits that the configuration sets for it, narrower than those of the process.
    public var limits: LimitSettings
    /// Which failures put the URL on the blacklist, and which do not, against the loader's own
    /// rule (SEMANTICS §7.2).
    public var blocks: [BlockCause: Bool]
    /// What is written under the keys; never a name.
    public var serializer: Serializer
    /// What is delivered where the load fails.
    public var fallback: PreparedFallback
    /// The loads of what is laid over the image, in the order of its steps; the terms of each say
    /// where it may not be made.
    public var overlays: [Resolution]
    /// Whether a damaged image is shown as far as its pixels are there.
    public var showsDamaged: Bool
    /// Why it may not be made, where the configuration says so; of what else is here only the
    /// fallback means something then.
    public var refusal: ImageError?
    /// Whose blacklist counts: each profile has its own; empty: that of the default profile.
    public var scope: String

    /// The terms of a request that says nothing, without a configuration.
    public init(identity: String? = nil) {
        self.identity = identity
        base = .url
        cache = ""
        originalCache = ""
        loader = .http
        coders = []
        mayDownload = true
        ignoresCacheControl = false
        sources = []
        transfer = TransferTerms()
        tags = []
        staleLimits = StaleLimits()
        assumedLifetime = .none
        takesOriginTags = false
        limits = LimitSettings()
        blocks = [:]
        serializer = .asIs
        fallback = .none
        overlays = []
        showsDamaged = false
        scope = ""
        refusal = nil
    }

    /// For whom entries are kept.
    public var cacheRole: CacheRole {
        if ignoresCacheControl { return .heedless }
        return identity == nil ? .shared : .personal
    }

    /// Until when what an origin sent may be used for it; `nil` where nothing is known of that.
    package func expiry(_ caching: OriginCaching?) -> HTTPExpiry? {
        caching?.expiry(
            cacheRole, HTTPExpiry.Limits().replaced(by: staleLimits).assuming(assumedLifetime))
    }

    /// What is to be delivered where the image fails so; `nil`: the error. A colour has no facts
    /// of its own.
    public func fallback(after error: ImageError, infoOnly: Bool) -> PreparedFallback? {
        guard error.code.admitsFallback else { return nil }
        switch fallback {
        case .none: return nil
        case .colour: return infoOnly ? nil : fallback
        case .load: return fallback
        }
    }

    /// What the configuration says of this failure; `nil` where it leaves it to the loader's rule.
    /// A status counts before the name of the error.
    public func blocks(_ error: ImageError) -> Bool? {
        if blocks.isEmpty { return nil }
        if let status = error.details["httpStatus"].flatMap({ Int($0) }),
            let says = blocks[.httpStatus(status)]
        {
            return says
        }
        return blocks[.error(error.code)]
    }
}

/// What takes the place of the URL in cache keys.
public enum KeyBase: Hashable, Sendable {
    /// The URL without user info.
    case url
    /// What a filter of the configuration made of it: such an entry is that of the URL with this
    /// text.
    case filtered(String)
    /// A text of the client's own: in a name space of its own, so that it is never taken for a URL.
    case own(String)
    /// The key of an entry, as replies show it: an operator reads that entry.
    case entry(String)
}

/// A failure that may or may not put its URL on the blacklist.
public enum BlockCause: Hashable, Sendable {
    /// An error.
    case error(ErrorCode)
    /// An answer of the origin.
    case httpStatus(Int)
}

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

/// A profile: defaults and rules for its requests (SDWebImage's manager). Each profile has its own
/// failure cache.
public struct Profile: Hashable, Sendable {
    /// The cache for results; `nil` selects the default cache.
    public var cache: String?
    /// The cache for originals; `nil` selects the cache of the result.
    public var originalCache: String?
    /// The loader; `nil` selects the last loader that accepts the URL.
    public var loader: String?
    /// Decoder pools to try, in this order and exclusively. If empty, all pools are tried in file
    /// order.
    public var coders: [String] = []
    /// The preset for requests without steps.
    public var transformer: String?
    /// The key filter that derives cache keys.
    public var keyFilter: String?
    /// The serializer that produces the stored form.
    public var serializer: Serializer?
    /// The fallback to deliver if the load fails.
    public var fallback: Fallback?
    /// How to handle damaged images.
    public var damaged: DamagedImages?
    /// Upper bounds on how long stale entries may be served.
    public var staleLimits = StaleLimits()
    /// Tags for stored entries, in addition to the tags of the request (SEMANTICS §5.20).
    public var tags: [String] = []
    /// Whether tags in origin responses are also applied.
    public var takesOriginTags: Bool?
    /// Resource limits, which can only be tighter than those of the process.
    public var limits = LimitSettings()
    /// Rules, corresponding to SDWebImage's options processor and delegate. All matching rules
    /// apply; later ones override earlier ones.
    public var rules: [Rule] = []
    /// Permissions of front ends that serve untrusted clients. Their loads use the profile `web`.
    public var front = FrontPermission()

    /// Creates a profile without any settings.
    public init() {}
}

/// Overrides for the URLs that match a pattern (SEMANTICS §13.2). They take precedence over the
/// request and its profile.
public struct Rule: Hashable, Sendable {
    /// The pattern of matching URLs.
    public var pattern: URLPattern
    /// Request options to set.
    public var sets: RequestOptions = []
    /// Request options to clear.
    public var clears: RequestOptions = []
    /// Context options to apply.
    public var context: [ContextSetting] = []
    /// The key filter that derives cache keys.
    public var keyFilter: NameOrNone?
    /// The serializer that produces the stored form.
    public var serializer: Serializer?
    /// The fallback to deliver if the load fails.
    public var fallback: Fallback?
    /// How to handle damaged images.
    public var damaged: DamagedImages?
    /// The preset that replaces the steps and output of the request.
    public var transformer: NameOrNone?
    /// Whether downloads are allowed.
    public var download: Bool?
    /// Whether the origin's storage directives (`Cache-Control`) are ignored.
    public var ignoresCacheControl: Bool?
    /// Whether the origin's freshness information is respected (SEMANTICS §6.5).
    public var respectsCacheControl: Bool?
    /// Upper bounds on how long stale entries may be served. They override those of the profile.
    public var staleLimits = StaleLimits()
    /// Tags for stored entries, in addition to the tags of the request and of other rules.
    public var tags: [String] = []
    /// Whether tags in origin responses are also applied.
    public var takesOriginTags: Bool?
    /// Resource limits, tighter than those of the process. They override those of the profile.
    public var limits = LimitSettings()
    /// Which failures are recorded in the failure cache.
    public var blocks: [BlockCause: Bool] = [:]
    /// Headers to send to the origin. They replace headers of the same name.
    public var headers: [RuleHeader] = []
    /// Transfer settings besides headers.
    public var transfer = TransferRule()
    /// Stands for the rules' secrets in cache keys. Client credentials are added to the keys
    /// separately.
    public var identity: String?

    /// Creates a rule without any overrides.
    public init(_ pattern: URLPattern) { self.pattern = pattern }
}

/// A name, or an explicit "none".
public enum NameOrNone: Hashable, Sendable {
    /// Explicitly none.
    case none
    /// The given name.
    case name(String)
}

/// A header that a rule adds.
public struct RuleHeader: Hashable, Sendable {
    /// The source of a header value.
    public enum Value: Hashable, Sendable {
        /// A literal value.
        case text(String)
        /// The path of a secret file. The secret never appears in logs, errors or statuses, and
        /// cache keys contain only a digest of it.
        case file(String)
    }

    /// The header name.
    public var name: String
    /// The header value.
    public var value: Value

    /// Creates a header.
    public init(name: String, value: Value) {
        self.name = name
        self.value = value
    }
}

/// A named combination of steps and output options.
public struct Preset: Hashable, Sendable {
    /// Size to reduce the image to while decoding.
    public var thumbnail: Thumbnail?
    /// The steps, in order.
    public var steps: [TransformStep] = []
    /// Output encoding options.
    public var output = OutputOptions()

    /// Creates an empty preset.
    public init() {}

    /// Fills in values that a request doesn't set.
    func complete(_ request: inout ImageRequest) {
        if request.thumbnail == nil { request.thumbnail = thumbnail }
        if request.steps.isEmpty { request.steps = steps }
        if request.output.isDefault { request.output = output }
    }

    /// Replaces the corresponding values of a request.
    func replace(_ request: inout ImageRequest) {
        (request.thumbnail, request.steps, request.output) = (thumbnail, steps, output)
    }
}

/// Derives the text of a cache key from a URL by applying these changes in order (SEMANTICS §4.2,
/// cacheKeyFilter).
public struct KeyFilter: Hashable, Sendable {
    /// Query parameters to remove; `*` in a name matches any text.
    public var dropQuery: [String] = [] { didSet { dropped = dropQuery.map { Glob($0) } } }
    /// Replacement for host and port.
    public var replaceHost: String?
    /// Text to prepend.
    public var prefix = ""
    /// Text to append.
    public var suffix = ""

    /// The patterns of `dropQuery`, compiled once for matching against every URL.
    private var dropped: [Glob] = []

    /// Creates a filter that leaves URLs unchanged.
    public init() {}

    /// Returns the key text for a URL, without its user info.
    func apply(to url: SourceURL) -> String {
        let text = url.withoutUserInfo
        guard let mark = text.firstRange(of: "://") else { return prefix + text + suffix }
        let behind = text[mark.upperBound...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        let authority = replaceHost ?? String(behind[..<end])
        return prefix + text[..<mark.upperBound] + authority + withoutDropped(behind[end...])
            + suffix
    }

    private func withoutDropped(_ rest: Substring) -> String {
        let fragmentStart = rest.firstIndex(of: "#") ?? rest.endIndex
        guard !dropQuery.isEmpty, let mark = rest[..<fragmentStart].firstIndex(of: "?") else {
            return String(rest)
        }
        let query = rest[rest.index(after: mark)..<fragmentStart]
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { part in
            let name = part.prefix { $0 != "=" }
            return !dropped.contains { $0.matches(name.utf8) }
        }
        let text = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return rest[..<mark] + text + rest[fragmentStart...]
    }
}

/// Permissions of front ends that serve untrusted clients, beyond loading images by URL
/// (SEMANTICS §14.11).
public struct FrontPermission: Hashable, Sendable {
    /// Lowercase names of header fields that loads may send to the origin.
    public var headers: [String] = []
    /// The largest upload in bytes that may accompany a load, such as a fallback image.
    public var uploadBytesMax = 1 << 20
    /// The prefix that tags of stored entries must have; `nil` forbids tags.
    public var tagPrefix: String?
    /// Whether loads may force revalidation of fresh images.
    public var refreshes = false
    /// Whether cache entries may be removed by URL, key prefix or tag.
    public var removes = false

    /// Creates the default permissions.
    public init() {}

    /// Returns these permissions extended by those that a gateway of this stack needs.
    public func adding(_ grant: GatewayGrant) -> FrontPermission {
        var permission = self
        permission.refreshes = refreshes || grant.refreshes
        permission.removes = removes || grant.removes
        permission.headers += grant.headers
        return permission
    }
}

/// Permissions that follow from the settings of the stack's own gateways. They apply to all front
/// ends for untrusted clients (SEMANTICS §14.11), so that operators don't have to configure them
/// twice.
public struct GatewayGrant: Hashable, Sendable {
    /// With operator tokens: loads may force revalidation of fresh images.
    public var refreshes: Bool
    /// With a listener for removals: cache entries may be removed.
    public var removes: Bool
    /// Lowercase names of header fields that loads may send to the origin.
    public var headers: [String]

    /// Creates a grant; `headers` is a comma-separated list of names. The default grants nothing.
    public init(refreshes: Bool = false, removes: Bool = false, headers: String = "") {
        (self.refreshes, self.removes) = (refreshes, removes)
        self.headers = headers.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// Derives the permissions that a gateway with these settings needs.
    public init(of settings: [GatewaySetting: String]) {
        let refreshes = settings[.operatorTokens] != nil
        self.init(
            refreshes: refreshes, removes: refreshes && settings[.operatorListen] != nil,
            headers: settings[.passHeaders] ?? "")
    }
}

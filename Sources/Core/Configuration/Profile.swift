public import ImageModel

/// What holds for requests of one profile: SDWebImage's manager. Each has a blacklist of its own.
public struct Profile: Hashable, Sendable {
    /// The cache of results; `nil`: the default one.
    public var cache: String?
    /// The cache of originals; `nil`: that of the result.
    public var originalCache: String?
    /// Who obtains the bytes; `nil`: the last loader that takes the URL.
    public var loader: String?
    /// Pools of decoders, which are asked in this order and no others; empty: all that there are,
    /// in the order of the file.
    public var coders: [String] = []
    /// The preset of requests without steps.
    public var transformer: String?
    /// The filter that makes the key.
    public var keyFilter: String?
    /// What is written under the keys.
    public var serializer: Serializer?
    /// What is delivered where the load fails.
    public var fallback: Fallback?
    /// What becomes of damaged images.
    public var damaged: DamagedImages?
    /// How long what is stale may be served at most.
    public var staleLimits = StaleLimits()
    /// Tags of what is stored, besides those of the request (SEMANTICS §5.20).
    public var tags: [String] = []
    /// Whether what origins say of tags counts as well.
    public var takesOriginTags: Bool?
    /// Limits narrower than those of the process.
    public var limits = LimitSettings()
    /// What the options processor and the delegate say; all that match hold, later ones win.
    public var rules: [Rule] = []
    /// What front ends for strangers may ask for, whose loads have the profile `web`.
    public var front = FrontPermission()

    /// Says nothing.
    public init() {}
}

/// What holds for the URLs of one pattern (SEMANTICS §13.2); it replaces what the request
/// and its profile say.
public struct Rule: Hashable, Sendable {
    /// Of which URLs.
    public var pattern: URLPattern
    /// Option bits that are set.
    public var sets: RequestOptions = []
    /// Option bits that are cleared.
    public var clears: RequestOptions = []
    /// Context options.
    public var context: [ContextSetting] = []
    /// The filter that makes the key.
    public var keyFilter: NameOrNone?
    /// What is written under the keys.
    public var serializer: Serializer?
    /// What is delivered where the load fails.
    public var fallback: Fallback?
    /// What becomes of damaged images.
    public var damaged: DamagedImages?
    /// The preset in place of the request's steps and output.
    public var transformer: NameOrNone?
    /// Whether the loader may be asked.
    public var download: Bool?
    /// Whether what the origin says of keeping its answer (`Cache-Control`) is not looked at.
    public var ignoresCacheControl: Bool?
    /// Whether what the origin says of freshness counts (SEMANTICS §6.5).
    public var respectsCacheControl: Bool?
    /// How long what is stale may be served at most, in place of what the profile says.
    public var staleLimits = StaleLimits()
    /// Tags of what is stored, besides those of the request and of other rules.
    public var tags: [String] = []
    /// Whether what the origin says of tags counts as well.
    public var takesOriginTags: Bool?
    /// Limits narrower than those of the process, in place of the profile's.
    public var limits = LimitSettings()
    /// Which failures blacklist.
    public var blocks: [BlockCause: Bool] = [:]
    /// Headers for the origin; those of the same name are replaced.
    public var headers: [RuleHeader] = []
    /// What is said of the transfer besides its headers.
    public var transfer = TransferRule()
    /// Stands in keys for the secrets of the rules; credentials of clients count beside it.
    public var identity: String?

    /// Says nothing about those URLs.
    public init(_ pattern: URLPattern) { self.pattern = pattern }
}

/// A name, or the word that there is to be none.
public enum NameOrNone: Hashable, Sendable {
    /// None.
    case none
    /// This one.
    case name(String)
}

/// A header that a rule adds.
public struct RuleHeader: Hashable, Sendable {
    /// Where the value is.
    public enum Value: Hashable, Sendable {
        /// Here.
        case text(String)
        /// In a file: a secret, in no log, no error and no status, and in keys as a digest.
        case file(String)
    }

    /// The name.
    public var name: String
    /// The value.
    public var value: Value

    /// A header.
    public init(name: String, value: Value) {
        self.name = name
        self.value = value
    }
}

public import ImageModel
public import Messages

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

/// Steps and output under one name.
public struct Preset: Hashable, Sendable {
    /// Reduce while decoding.
    public var thumbnail: Thumbnail?
    /// Steps in order.
    public var steps: [TransformStep] = []
    /// How the result is encoded.
    public var output = OutputOptions()

    /// Does nothing.
    public init() {}

    /// Gives a request what it does not say itself.
    func complete(_ request: inout ImageRequest) {
        if request.thumbnail == nil { request.thumbnail = thumbnail }
        if request.steps.isEmpty { request.steps = steps }
        if request.output.isDefault { request.output = output }
    }

    /// Takes the place of what a request says.
    func replace(_ request: inout ImageRequest) {
        (request.thumbnail, request.steps, request.output) = (thumbnail, steps, output)
    }
}

/// Makes the text of a key of a URL, in this order (SEMANTICS §4.2, cacheKeyFilter).
public struct KeyFilter: Hashable, Sendable {
    /// Parameters of the query that are left out; `*` in a name stands for any text.
    public var dropQuery: [String] = [] { didSet { dropped = dropQuery.map { Glob($0) } } }
    /// What stands in place of host and port.
    public var replaceHost: String?
    /// What comes before the text.
    public var prefix = ""
    /// What comes behind it.
    public var suffix = ""

    /// The names of `dropQuery`, ready to be compared with those of every URL.
    private var dropped: [Glob] = []

    /// Leaves URLs as they are.
    public init() {}

    /// The text for a URL without user info.
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

/// What front ends that speak for strangers may ask for besides images by URL (SEMANTICS §14.11).
public struct FrontPermission: Hashable, Sendable {
    /// Names of header fields, in lower case, that loads may bring for the origin.
    public var headers: [String] = []
    /// Bytes that a load may bring along, such as those of a fallback.
    public var uploadBytesMax = 1 << 20
    /// What tags have to begin with that loads give to what is stored; `nil`: they give none.
    public var tagPrefix: String?
    /// Whether loads may have the origin asked about an image that is fresh.
    public var refreshes = false
    /// Whether entries may be removed from the caches by URL, by the beginning of their keys or by
    /// tag.
    public var removes = false

    /// What the file does not say.
    public init() {}

    /// The same with what a gateway of this stack needs.
    public func adding(_ grant: GatewayGrant) -> FrontPermission {
        var permission = self
        permission.refreshes = refreshes || grant.refreshes
        permission.removes = removes || grant.removes
        permission.headers += grant.headers
        return permission
    }
}

/// What the settings of a gateway of the stack let all front ends for strangers ask for
/// (SEMANTICS §14.11): the operator who sets them need not say it twice.
public struct GatewayGrant: Hashable, Sendable {
    /// With tokens of operators: loads may have the origin asked about what is fresh.
    public var refreshes: Bool
    /// With a listener for removals: entries may be removed.
    public var removes: Bool
    /// Names of header fields, in lower case, that loads may bring for the origin.
    public var headers: [String]

    /// As said, names with commas between; nothing unless told otherwise.
    public init(refreshes: Bool = false, removes: Bool = false, headers: String = "") {
        (self.refreshes, self.removes) = (refreshes, removes)
        self.headers = headers.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// What one gateway needs.
    public init(of settings: [GatewaySetting: String]) {
        let refreshes = settings[.operatorTokens] != nil
        self.init(
            refreshes: refreshes, removes: refreshes && settings[.operatorListen] != nil,
            headers: settings[.passHeaders] ?? "")
    }
}

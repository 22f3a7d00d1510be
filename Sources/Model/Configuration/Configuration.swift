/// The operator's configuration file: allowed sources, named definitions, and per profile the
/// values that apply to requests that don't set them (SEMANTICS §13.1). Pure values; `resolve`
/// applies them to a request.
public struct Configuration: Hashable, Sendable {
    /// URLs that may be requested; `nil` allows every URL that the address policy permits.
    public var sources: [URLPattern]? {
        didSet { sourceTexts = sources?.map(\.text) ?? [] }
    }
    /// The text of each pattern in `sources`, for the terms of every request; empty if `sources` is
    /// `nil`.
    public private(set) var sourceTexts: [String] = []
    /// Named caches besides the default cache, including composite caches.
    public var caches: Set<String> = []
    /// Composite caches by name.
    public var composites: [String: CompositeCache] = [:]
    /// External caches, which plug-in workers implement, by name.
    public var externalCaches: [String: ExternalCache] = [:]
    /// Settings by cache name; the settings under `defaultName` apply to every cache without its
    /// own.
    public var cacheSettings: [String: CacheSettings] = [:]
    /// Read-only directories that a cache searches after a miss in its own storage, by cache name.
    /// Here `defaultName` means the default cache only.
    public var readOnly: [String: [String]] = [:]
    /// Download settings, which override the options of `serve`.
    public var downloads = DownloadSettings()
    /// Named presets: steps and output options.
    public var presets: [String: Preset] = [:]
    /// Named filters that derive cache keys from URLs.
    public var keyFilters: [String: KeyFilter] = [:]
    /// Named serializers, which produce the stored form of an image. No value is itself a name.
    public var serializers: [String: Serializer] = [:]
    /// Worker pools besides the built-in ones, and settings for the built-in ones, in file order.
    /// Fixed when the stack starts.
    public var pools: [WorkerPool] = []
    /// Loaders besides the built-in one for http and https, in file order. The last loader that
    /// accepts a URL loads it.
    public var loaders: [NamedLoader] = []
    /// Listeners of the HTTP gateway besides the one of `serve --gateway`.
    public var gateways: [GatewayListenerSettings] = []
    /// How to handle damaged images if neither the request, its profile nor a rule specifies it;
    /// `nil` rejects them.
    public var damaged: DamagedImages?
    /// Profiles (SDWebImage: managers) by name; requests that name no profile use `defaultName`.
    public var profiles: [String: Profile] = [:]
    /// Contents of the secret files that rules reference, by path. Filled in by the code that reads
    /// the files.
    public var secrets: [String: String] = [:]
    /// Why a secret file without contents could not be read, by path.
    public var secretErrors: [String: String] = [:]

    /// The name of the default profile and of the default cache.
    public static let defaultName = "default"

    /// Creates an empty configuration.
    public init() {}

    /// Sorted paths of all secret files.
    public var secretFiles: [String] {
        let rules = profiles.values.flatMap(\.rules)
        let headers = rules.flatMap(\.headers).compactMap { header in
            if case .file(let path) = header.value { path } else { nil }
        }
        return Set(headers + rules.flatMap(\.transfer.secretFiles))
            .union(credentialsFiles).sorted()
    }

    /// Paths of the secret files that hold S3 credentials instead of a single line.
    public var credentialsFiles: Set<String> { Set(loaders.compactMap(\.credentialsFile)) }

    /// The rule of `isName`, for error messages.
    public static let nameRule =
        "1 to \(RequestLimits.nameBytesMax) letters, digits and characters of '._-'"

    /// Whether `text` is a valid name in a configuration: letters, digits, `.`, `_` and `-`, at
    /// most `RequestLimits.nameBytesMax` bytes.
    public static func isName(_ text: String) -> Bool {
        RequestContext.isName(text)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
    }
}

extension Configuration {
    /// Hosts for which rules disable certificate verification, sorted.
    public var unverifiedHosts: [String] {
        let rules = profiles.values.flatMap(\.rules).filter { $0.transfer.verifiesTLS == false }
        return Set(rules.compactMap(\.pattern.secureHost)).sorted()
    }

    /// A summary such as "2 profiles, 1 rule": counts only, without names or values.
    public var summary: String {
        let counts = [
            (sources?.count ?? 0, "source"), (caches.count, "cache"), (presets.count, "preset"),
            (keyFilters.count, "key filter"), (serializers.count, "serializer"),
            (profiles.count, "profile"), (ruleCount, "rule"), (loaders.count, "loader"),
            (pools.count, "pool"),
        ]
        // Omitted when zero because most stacks have no additional pools or loaders.
        return counts.filter { !["pool", "loader"].contains($0.1) || $0.0 > 0 }.map {
            "\($0) \($1)\($0 == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}

extension Configuration {
    /// The number of rules in all profiles.
    public var ruleCount: Int { profiles.values.reduce(0) { $0 + $1.rules.count } }

    /// A description of the changes since an earlier configuration, in the terms of the file. It
    /// contains names but never values.
    public func differences(from old: Configuration) -> String {
        var parts: [String] = []
        if sources != old.sources { parts.append("sources") }
        if caches != old.caches || cacheSettings != old.cacheSettings
            || composites != old.composites || readOnly != old.readOnly
            || externalCaches != old.externalCaches
        {
            parts.append("caches")
        }
        if downloads != old.downloads { parts.append("downloads") }
        if damaged != old.damaged { parts.append("damaged") }
        parts += Self.changed("preset", presets, old.presets)
        parts += Self.changed("key-filter", keyFilters, old.keyFilters)
        parts += Self.changed("serializer", serializers, old.serializers)
        parts += Self.changed("loader", loadersByName, old.loadersByName)
        parts += Self.changed("profile", profiles, old.profiles)
        if gateways != old.gateways { parts.append("gateway") }
        if parts.isEmpty, loaders != old.loaders { parts.append("loader order") }
        if secrets != old.secrets { parts.append("secret files") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private var loadersByName: [String: NamedLoader] {
        Dictionary(loaders.map { ($0.name, $0) }) { _, later in later }
    }

    private static func changed<Value: Equatable>(
        _ kind: String, _ new: [String: Value], _ old: [String: Value]
    ) -> [String] {
        Set(new.keys).union(old.keys).sorted().filter { new[$0] != old[$0] }.map { "\(kind) \($0)" }
    }
}

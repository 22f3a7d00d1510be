public import ImageModel
public import Messages

/// What the operator says about requests: sources, names, and for each profile what holds for
/// requests that do not say it themselves (SEMANTICS §13.1). Values only; `resolve` says what
/// they make of one request.
public struct Configuration: Hashable, Sendable {
    /// URLs that may be asked; `nil`: every one that the address policy permits.
    public var sources: [URLPattern]? {
        didSet { sourceTexts = sources?.map(\.text) ?? [] }
    }
    /// The patterns of `sources` as they were written, for the terms of every request; none where
    /// there are no sources.
    public private(set) var sourceTexts: [String] = []
    /// Named caches besides the default one, those that stand for several included.
    public var caches: Set<String> = []
    /// What those stand for, by name.
    public var composites: [String: CompositeCache] = [:]
    /// Those that workers of somebody else's hold, by name.
    public var foreignCaches: [String: ForeignCache] = [:]
    /// What is set of caches, by name; that of `defaultName` is of all that say nothing themselves.
    public var cacheSettings: [String: CacheSettings] = [:]
    /// Directories in which caches look for what they do not have themselves, by the name of the
    /// cache; `defaultName` is here the default one alone.
    public var readOnly: [String: [String]] = [:]
    /// What is set of downloads, in the place of options of `serve`.
    public var downloads = DownloadSettings()
    /// Steps and output by name.
    public var presets: [String: Preset] = [:]
    /// What makes keys of URLs, by name.
    public var keyFilters: [String: KeyFilter] = [:]
    /// What is written under keys, by name; none of them is a name itself.
    public var serializers: [String: Serializer] = [:]
    /// Pools of workers besides those that every stack has, and what is said of these; in the order
    /// of the file. They are as they were when the stack was started.
    public var pools: [WorkerPool] = []
    /// Who obtains bytes, besides the built-in loader of http and https; in the order of the file.
    /// The last one that takes a URL is asked.
    public var loaders: [Loader] = []
    /// Listeners of the HTTP gateway besides that of `serve --gateway`.
    public var gateways: [GatewayListenerSettings] = []
    /// What becomes of damaged images where neither request nor profile nor rule says it; `nil`:
    /// they are refused.
    public var damaged: DamagedImages?
    /// Managers by name; `defaultProfile` is for requests that name none.
    public var profiles: [String: Profile] = [:]
    /// Contents of the secret files that the rules name, by path: for those who read files to fill
    /// in.
    public var secrets: [String: String] = [:]
    /// Why those that have no content cannot be read, by path.
    public var secretFaults: [String: String] = [:]

    /// The profile of requests that name none; the cache of those that name none.
    public static let defaultName = "default"

    /// Says nothing.
    public init() {}

    /// Paths of all secret files, in order.
    public var secretFiles: [String] {
        let rules = profiles.values.flatMap(\.rules)
        let headers = rules.flatMap(\.headers).compactMap { header in
            if case .file(let path) = header.value { path } else { nil }
        }
        return Set(headers + rules.flatMap(\.transfer.secretFiles))
            .union(credentialsFiles).sorted()
    }

    /// Paths of those that have credentials of S3, and no line.
    public var credentialsFiles: Set<String> { Set(loaders.compactMap(\.credentialsFile)) }

    /// Whether something may be called so in a configuration: letters, digits, `.`, `_`, `-`, at
    /// most `RequestLimits.nameBytesMax`.
    public static func isName(_ text: String) -> Bool {
        RequestContext.isName(text)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}

extension Configuration {
    /// Hosts whose certificates rules leave unverified, sorted.
    public var unverifiedHosts: [String] {
        let rules = profiles.values.flatMap(\.rules).filter { $0.transfer.verifiesTLS == false }
        return Set(rules.compactMap(\.pattern.secureHost)).sorted()
    }

    /// How many there are of each, in words; no names and no values.
    public var summary: String {
        let counts = [
            (sources?.count ?? 0, "source"), (caches.count, "cache"), (presets.count, "preset"),
            (keyFilters.count, "key filter"), (serializers.count, "serializer"),
            (profiles.count, "profile"), (ruleCount, "rule"), (loaders.count, "loader"),
            (pools.count, "pool"),
        ]
        // Most stacks have no further pool and no further loader.
        return counts.filter { !["pool", "loader"].contains($0.1) || $0.0 > 0 }.map {
            "\($0) \($1)\($0 == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}

extension Configuration {
    /// Rules of all profiles.
    public var ruleCount: Int { profiles.values.reduce(0) { $0 + $1.rules.count } }

    /// What differs from an earlier configuration, in words of the file; names, never values.
    public func differences(from old: Configuration) -> String {
        var parts: [String] = []
        if sources != old.sources { parts.append("sources") }
        if caches != old.caches || cacheSettings != old.cacheSettings
            || composites != old.composites || readOnly != old.readOnly
            || foreignCaches != old.foreignCaches
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
        if parts.isEmpty, loaders != old.loaders { parts.append("the order of loaders") }
        if secrets != old.secrets { parts.append("secret files") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private var loadersByName: [String: Loader] {
        Dictionary(loaders.map { ($0.name, $0) }) { _, later in later }
    }

    private static func changed<Value: Equatable>(
        _ kind: String, _ new: [String: Value], _ old: [String: Value]
    ) -> [String] {
        Set(new.keys).union(old.keys).sorted().filter { new[$0] != old[$0] }.map { "\(kind) \($0)" }
    }
}

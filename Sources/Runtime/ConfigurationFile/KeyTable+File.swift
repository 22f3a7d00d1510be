import Configuration
import ImageModel
import Messages
import YAML

/// Words that mean something where a name could stand.
private let reserved: Set<String> = ["none"]

extension KeyTable where Target == Configuration {
    /// The whole file.
    static let file = KeyTable([
        Row("sources", .sources) { $0.sources = $1 },
        Row("caches", .caches) {
            ($0.caches, $0.cacheSettings, $0.composites) = ($1.names, $1.settings, $1.composites)
            ($0.readOnly, $0.foreignCaches) = ($1.readOnly, $1.foreign)
        },
        Row("downloads", .map(.downloads, DownloadSettings.init), \.downloads),
        Row("damaged", .damaged, \.damaged),
        Row("presets", .named(.preset, except: reserved), \.presets),
        Row(
            "key-filters", .named(.map(.keyFilter, KeyFilter.init), except: reserved),
            \.keyFilters),
        Row("serializers", .named(.serializer, except: reserved.union(["as-is"])), \.serializers),
        Row("loaders", .loaders, \.loaders),
        Row("pools", .pools, \.pools),
        Row("gateway", .gateways, \.gateways),
        Row("profiles", .named(.map(.profile, Profile.init), except: reserved), \.profiles),
    ])
}

extension KeyTable where Target == KeyFilter {
    static let keyFilter = KeyTable([
        Row("drop-query", .list(of: .keyPart), \.dropQuery),
        Row("replace-host", .host, \.replaceHost),
        Row("prefix", .keyPart, \.prefix),
        Row("suffix", .keyPart, \.suffix),
    ])
}

extension KeyTable where Target == Profile {
    static let profile = KeyTable([
        Row("cache", .reference(.cache), \.cache),
        Row("original-cache", .reference(.cache), \.originalCache),
        Row("loader", .reference(.loader), \.loader),
        Row("coders", .list(of: .reference(.coder)), \.coders),
        Row("transformer", .referenceOrNone(.preset)) { $0.transformer = $1.name },
        Row("key-filter", .referenceOrNone(.keyFilter)) { $0.keyFilter = $1.name },
        Row("serializer", .serializerName, \.serializer),
        Row("fallback", .fallback, \.fallback),
        Row("damaged", .damaged, \.damaged),
        Row("tags", .tags, \.tags),
        Row("origin-tags", .bool, \.takesOriginTags),
        Row("rules", .rules, \.rules),
        Row("front", .map(.front, FrontPermission.init), \.front),
    ]).adding(limits(\.limits)).adding(staleLimits(\.staleLimits))
}

extension KeyTable where Target == FrontPermission {
    static let front = KeyTable([
        Row("headers", .headerNames) { $0.headers = $1.map { $0.lowercased() } },
        Row("upload-bytes", .uploadBytes, \.uploadBytesMax),
        Row("tag-prefix", .tagPrefix, \.tagPrefix),
        Row("refresh", .bool, \.refreshes),
        Row("removals", .bool, \.removes),
    ])
}

extension KeyTable where Target == Rule {
    static let rule = KeyTable([
        Row("match", .pattern, \.pattern),
        Row("options", .options) { ($0.sets, $0.clears) = ($1.sets, $1.clears) },
        Row("context", .context, \.context),
        Row("key-filter", .referenceOrNone(.keyFilter), \.keyFilter),
        Row("serializer", .serializerName, \.serializer),
        Row("fallback", .fallback, \.fallback),
        Row("damaged", .damaged, \.damaged),
        Row("transformer", .referenceOrNone(.preset), \.transformer),
        Row("download", .bool, \.download),
        Row("ignore-cache-control", .bool, \.ignoresCacheControl),
        Row("respect-cache-control", .bool, \.respectsCacheControl),
        Row("tags", .tags, \.tags),
        Row("origin-tags", .bool, \.takesOriginTags),
        Row("block", .blocks, \.blocks),
        Row("headers", .headers, \.headers),
        Row("identity", .name, \.identity),
        Row("request", .map(.request, TransferRule.init)) { $0.transfer.merge($1) },
        Row("response", .map(.response, ResponseChange.init), \.transfer.response),
        Row("decrypt", .decryptors, \.transfer.decryptors),
        Row("credentials", .credential, \.transfer.credential),
        Row("client-certificate", .certificate, \.transfer.certificate),
        Row("cookies", .name, \.transfer.cookieJar),
        Row("tls-verify", .bool, \.transfer.verifiesTLS),
    ]).adding(limits(\.limits)).adding(staleLimits(\.staleLimits))
}

extension KeyTable {
    fileprivate func adding(_ others: [Row]) -> KeyTable { KeyTable(rows + others) }

    /// The limits that a profile and a rule may set.
    fileprivate static func limits(
        _ place: any WritableKeyPath<Target, LimitSettings> & Sendable
    ) -> [Row] {
        LimitSetting.allCases.map { setting in
            Row(setting.rawValue, ValueReader<Int>.limit(setting)) {
                $0[keyPath: place][setting] = $1
            }
        }
    }
}

extension KeyTable {
    /// How long what is stale may be served at most.
    fileprivate static func staleLimits(
        _ place: any WritableKeyPath<Target, StaleLimits> & Sendable
    ) -> [Row] {
        [
            Row("stale-while-revalidate-max", ValueReader<Int64>.staleTime) {
                $0[keyPath: place].whileRevalidate = $1
            },
            Row("stale-if-error-max", ValueReader<Int64>.staleTime) {
                $0[keyPath: place].ifError = $1
            },
        ]
    }
}

extension ValueReader where Value == Int64 {
    /// Seconds, as people write times.
    fileprivate static let staleTime = scalar(
        "\(DurationText.expected), \(StaleLimits.range.upperBound) seconds at most"
    ) { text in
        DurationText.seconds(of: text).flatMap { StaleLimits.range.contains($0) ? $0 : nil }
    }
}

extension ValueReader where Value == String {
    fileprivate static let tagPrefix = scalar(CacheTag.expected) {
        CacheTag.isTag($0) ? $0 : nil
    }
}

extension ValueReader where Value == Int {
    fileprivate static let uploadBytes = scalar(
        "a number of bytes, such as 65536 or 64K, at most 64M"
    ) { text in
        PlainNumber.scaled(text, by: 1_024).flatMap { (0...64 << 20).contains($0) ? Int($0) : nil }
    }

    fileprivate static func limit(_ setting: LimitSetting) -> ValueReader {
        scalar(setting.expected) { setting.value(of: $0) }
    }
}

extension NameOrNone {
    fileprivate var name: String? {
        if case .name(let name) = self { name } else { nil }
    }
}

extension ValueReader where Value == URLPattern {
    static let pattern = scalar(
        "a pattern such as https://*.example.com/*", isShown: false
    ) { URLPattern($0) }
}

extension ValueReader where Value == String {
    static let cacheName = scalar(
        "a name of letters, digits, '.', '_' and '-', besides default"
    ) { Configuration.isName($0) && $0 != Configuration.defaultName ? $0 : nil }
}

extension ValueReader where Value == Fallback {
    static let fallback = scalar(
        "none, a URL or a colour, \"#RRGGBB\" or \"#AARRGGBB\"", isShown: false
    ) { Fallback($0) }
}

extension ValueReader where Value == DamagedImages {
    fileprivate static let damaged = word(DamagedImages.allCases.map { ($0.name, $0) })
}

extension ValueReader where Value == Serializer {
    /// `as-is`, or a name that is given in another place.
    static let serializerName = ValueReader { node, name, reading in
        if case .scalar("as-is") = node.content { return .asIs }
        let read = ValueReader<String>.reference(.serializer).read(node, name, &reading)
        return read.map { .named($0) }
    }
}

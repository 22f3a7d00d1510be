package import Model
import YAML

/// Reads a configuration from a YAML file. A file with any error is rejected as a whole.
package enum ConfigurationFile {
    /// Reads `path`, which must be a regular file, without blocking. Secrets are read separately by
    /// `SecretFiles`.
    package static func read(_ path: String) throws(ConfigurationFileError) -> Configuration {
        try check(path).configuration
    }

    /// Reads `path` like `read`, and also returns the former names that the file uses.
    package static func check(
        _ path: String
    ) throws(ConfigurationFileError) -> (configuration: Configuration, formerNames: [FormerName]) {
        let bytes: [UInt8]
        do throws(RegularFileError) {
            let file = try RegularFile(path)
            // Reading one extra byte detects a file that is too long.
            bytes = try file.bytes(max: YAMLLimits.bytesMax + 1)
        } catch {
            throw ConfigurationFileError(path: path, [.init(line: nil, "\(error)")])
        }
        return try check(bytes, path: path)
    }

    /// Parses a configuration from the text of a file, and also returns the former names in it;
    /// `path` is used in errors.
    package static func check(
        _ bytes: [UInt8], path: String
    ) throws(ConfigurationFileError) -> (configuration: Configuration, formerNames: [FormerName]) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLParser.parse(bytes)
        } catch {
            throw ConfigurationFileError(path: path, [.init(line: error.line, error.reason)])
        }
        var configuration = Configuration()
        var reading = Reading()
        if let root, !root.isEmpty {
            KeyTable.file.read(root, "the file", into: &configuration, &reading)
        }
        configuration.grantSchemes()
        reading.checkReferences(to: configuration)
        reading.checkSecretFiles(of: configuration)
        guard reading.problems.isEmpty else {
            throw ConfigurationFileError(
                path: path, reading.problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
        return (configuration, reading.formerNames.sorted { $0.line < $1.line })
    }
}

/// A key or value of a configuration under a former name, which is still accepted.
package struct FormerName: Hashable, Sendable, CustomStringConvertible {
    /// The line number, starting at 1.
    package let line: Int
    package let name: String
    /// The name that replaced it.
    package let current: String

    /// Creates a note.
    package init(line: Int, _ name: String, current: String) {
        (self.line, self.name, self.current) = (line, name, current)
    }

    /// `3: note: NAME was renamed to CURRENT`
    package var description: String { "\(line): note: \(name) was renamed to \(current)" }
}

extension YAMLNode {
    /// Whether the value is empty or `~`.
    var isEmpty: Bool {
        switch content {
        case .scalar(let text): text.isEmpty || text == "~" || text == "null"
        case .list, .map: false
        }
    }

    /// Whether the value is a map with a key.
    func has(_ key: String) -> Bool {
        if case .map(let entries) = content { entries.contains { $0.key == key } } else { false }
    }
}

/// The errors in a configuration, as many as can be found in one pass.
package struct ConfigurationFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The line number, starting at 1; `nil` if the error concerns the whole file.
        package let line: Int?
        /// The description of the error.
        package let reason: String

        /// Creates an error for a line.
        package init(line: Int?, _ reason: String) {
            self.line = line
            self.reason = reason
        }

        /// `3: reason`
        package var description: String { line.map { "\($0): \(reason)" } ?? reason }
    }

    /// The path of the file, as the caller gave it.
    package let path: String
    /// The errors, sorted by line; never empty.
    package let problems: [Problem]

    package init(path: String, _ problems: [Problem]) {
        self.path = path
        self.problems = problems
    }

    /// `file:line: reason` for each error.
    package var lines: [String] { problems.map { "\(path):\($0.line == nil ? " " : "")\($0)" } }

    /// All errors in one line.
    package var description: String { lines.joined(separator: "; ") }
}

/// The state of parsing one file.
struct Reading {
    /// The kinds of names that one part of the file can define and another part can refer to.
    enum Kind: String {
        case cache, preset, serializer, profile, loader
        case keyFilter = "key filter"
        case coder = "decode pool"
        case downloadPool = "external download pool ('trust: external')"
        case cachePool = "external cache pool ('trust: external')"

        /// Returns the names of this kind that the configuration defines.
        func names(in configuration: Configuration) -> Set<String> {
            switch self {
            case .cache: configuration.caches.union([Configuration.defaultName])
            case .preset: Set(configuration.presets.keys)
            case .keyFilter: Set(configuration.keyFilters.keys)
            case .serializer: Set(configuration.serializers.keys)
            case .profile:
                Set(configuration.profiles.keys).union([Configuration.defaultName])
            case .loader: configuration.loaderNames
            case .coder: configuration.coderNames
            case .downloadPool: Set(configuration.loaderPools.map(\.name.text))
            case .cachePool: Set(configuration.cachePools.map(\.name.text))
            }
        }
    }

    private(set) var problems: [ConfigurationFileError.Problem] = []
    private(set) var formerNames: [FormerName] = []
    private var references: [(kind: Kind, name: String, line: Int)] = []

    /// Records an error in a line.
    mutating func report(_ line: Int, _ reason: String) {
        problems.append(.init(line: line, reason))
    }

    /// Records an error in a line; returns `nil`.
    mutating func refuse<Value>(_ line: Int, _ reason: String) -> Value? {
        report(line, reason)
        return nil
    }

    /// Returns the entries of a map. Reports an error with what was expected if it isn't one.
    mutating func entries(_ node: YAMLNode, _ name: String, _ expected: String) -> [YAMLEntry]? {
        if case .map(let entries) = node.content { return entries }
        return refuse(node.line, "\(name): expected \(expected)")
    }

    /// Returns the entries of a map of operator-defined names in the same way.
    mutating func named(_ node: YAMLNode, _ name: String) -> [YAMLEntry]? {
        entries(node, name, "a map of names, such as '\(name): {NAME: {KEY: VALUE}}'")
    }

    /// Records a former name; it isn't an error.
    mutating func note(_ name: String, isNow current: String, line: Int) {
        formerNames.append(FormerName(line: line, name, current: current))
    }

    /// Returns whether a name that the operator chose in `list` is valid and not reserved; if not,
    /// reports an error.
    mutating func accepts(
        _ name: String, in list: String, line: Int, except reserved: Set<String> = []
    ) -> Bool {
        if reserved.contains(name) {
            report(line, "\(list): '\(name)' is a reserved name: choose another one")
        } else if Configuration.isName(name) {
            return true
        } else {
            report(
                line,
                "\(list): '\(name.prefix(64))' is not a valid name: use \(Configuration.nameRule)")
        }
        return false
    }

    /// Records a reference to a name that must be defined somewhere in the file.
    mutating func refer(to name: String, _ kind: Kind, line: Int) {
        references.append((kind, name, line))
    }

    /// Reports references to undefined names.
    mutating func checkReferences(to configuration: Configuration) {
        for reference in references {
            let names = reference.kind.names(in: configuration)
            guard !names.contains(reference.name) else { continue }
            report(
                reference.line,
                "no \(reference.kind.rawValue) is named '\(reference.name)'"
                    + SpellingSuggestion.hint(reference.name, names.sorted()))
        }
    }

    /// Reports an error if there are more secret files than can be polled every second.
    mutating func checkSecretFiles(of configuration: Configuration) {
        let count = configuration.secretFiles.count
        guard count > SecretFiles.filesMax else { return }
        problems.append(
            .init(line: nil, "\(count) secret files exceed the limit of \(SecretFiles.filesMax)"))
    }
}

/// Reserved words, which can't be used as names.
private let reserved: Set<String> = ["none"]

extension KeyTable where Target == Configuration {
    /// The top-level keys of the file.
    static let file = KeyTable([
        Row("sources", .sources) { $0.sources = $1 },
        Row(name: "caches") { node, configuration, reading in
            configuration.readCaches(node, &reading)
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
        Row("tag-prefix", .tag, \.tagPrefix),
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

    /// The limits that profiles and rules can set.
    fileprivate static func limits(
        _ place: any WritableKeyPath<Target, LimitSettings> & Sendable
    ) -> [Row] {
        LimitSetting.allCases.map { setting in
            Row(setting.rawValue, ValueReader<Int>.limit(setting)) {
                $0[keyPath: place][setting] = $1
            }
        }
    }

    /// The maximum time that stale entries may be served, per case.
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
    /// A duration in seconds, in the notation for times.
    fileprivate static let staleTime = scalar(
        "\(DurationText.expected), at most \(StaleLimits.range.upperBound) seconds"
    ) { text in
        DurationText.seconds(of: text).flatMap { StaleLimits.range.contains($0) ? $0 : nil }
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
        "a name of letters, digits, '.', '_' and '-', other than default"
    ) { Configuration.isName($0) && $0 != Configuration.defaultName ? $0 : nil }
}

extension ValueReader where Value == Fallback {
    static let fallback = scalar(
        "none, a URL or a color, \"#RRGGBB\" or \"#AARRGGBB\"", isShown: false
    ) { Fallback($0) }
}

extension ValueReader where Value == DamagedImages {
    fileprivate static let damaged = word(DamagedImages.allCases.map { ($0.name, $0) })
}

extension ValueReader where Value == Serializer {
    /// `as-is`, or a name defined elsewhere in the file.
    static let serializerName = ValueReader { node, name, reading in
        if case .scalar("as-is") = node.content { return .asIs }
        let read = ValueReader<String>.reference(.serializer).read(node, name, &reading)
        return read.map { .named($0) }
    }
}
